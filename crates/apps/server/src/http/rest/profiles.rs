//! `/v1/profiles`: the views of the file, their rules with their places, and who has which; for the
//! operator.

pub(crate) mod policy_test;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_config::{AgentSettings, Config, Profile, TeamMember};
use toolcrib_core::{Caller, Catalog, Discovery, Plan, PlanRequest, SourceId, ToolSpec, Verdict};
use toolcrib_engine::discovery::definition_tokens;
use toolcrib_engine::rules::{Rules, WrittenPattern};

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Patterns, names and agents that are told, of each.
const MOST: usize = 1_000;

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let file = file(&asked)?;
        let rows: Vec<_> = file.profiles.iter().map(|(name, own)| row(name, own)).collect();
        let agents = asked.gateway.agents.all();
        let agents = agents.iter().take(MOST).map(|agent| of_agent(&agent.settings));
        let assigned = asked.gateway.live.agent_rules().listed;
        let assigned = assigned.iter().take(MOST).map(|(agent, tools)| {
            json!({ "agent": agent, "tools": tools.iter().take(MOST).collect::<Vec<_>>() })
        });
        Ok(reply(&json!({
            "profiles": rows,
            "whole": {
                "mode": file.discovery.mode,
                "rules": patterns(file.rules.as_ref(), &HashMap::new()),
                "is_default": file.rules.is_none(),
            },
            "agents": agents.collect::<Vec<_>>(),
            "assigned": assigned.collect::<Vec<_>>(),
        })))
    })
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let file = file(&asked)?;
        let name = asked.segment().to_owned();
        let Some(own) = file.profiles.get(&name).cloned() else {
            let shown: String = name.chars().take(80).collect();
            let detail = format!("the configuration does not name `{shown}`");
            return Err(HttpProblem::new(ProblemKind::UnknownProfile, detail));
        };
        let crib = asked.gateway.live.view(&name);
        let catalog = crib.as_ref().map(toolcrib_engine::Crib::catalog).unwrap_or_default();
        let caller = Arc::clone(&asked.caller);
        // Without the right to its tools nothing is planned, and the rules are told all the same.
        let plan = crib.and_then(|crib| {
            crib.plan(&caller, PlanRequest::default().show(Discovery::Direct)).ok()
        });
        let told = tokio::task::spawn_blocking(move || {
            let rules: Vec<_> = file.rules.iter().chain(&own.rules).collect();
            let judged = judged(&rules, &caller, (&catalog, own.sources.as_deref()));
            let mut told = row(&name, &own);
            if let Value::Object(fields) = &mut told {
                let more = json!({
                    "own": patterns(own.rules.as_ref(), &judged.matched),
                    "whole": patterns(file.rules.as_ref(), &judged.matched),
                    "tools": { "allow": judged.allow, "ask": judged.ask, "deny": judged.deny },
                    "visible": plan.as_ref().map(|plan| plan.tools().count()),
                    "tokens": plan.as_ref().map(tokens),
                });
                if let Value::Object(more) = more {
                    fields.extend(more);
                }
            }
            told
        });
        let told = told.await;
        told.map(|told| reply(&told))
            .map_err(|error| HttpProblem::new(ProblemKind::Broken, error.to_string()))
    })
}

/// The file that is in force.
pub(super) fn file(asked: &GatewayRequest) -> Result<Arc<Config>, HttpProblem> {
    asked.gateway.file().ok_or_else(|| {
        let detail = "no file is in force yet: ask again later";
        HttpProblem::new(ProblemKind::Unavailable, detail)
    })
}

fn row(name: &str, own: &Profile) -> Value {
    json!({
        "name": name,
        "sources": own.sources,
        "mode": own.discovery.mode,
        "max_calls": own.max_calls,
        "rules": own.rules.as_ref().map_or(0, |rules| rules.patterns().len()),
    })
}

fn of_agent(agent: &AgentSettings) -> Value {
    let member = |member: &TeamMember| match member {
        TeamMember::Agent(name) => json!({ "kind": "agent", "name": name }),
        TeamMember::Toolset { id, .. } => json!({ "kind": "toolset", "name": id }),
        TeamMember::Toolsets { ids } => json!({ "kind": "toolsets", "name": ids }),
    };
    let team = agent.team.as_ref();
    json!({
        "name": agent.name,
        "description": agent.description,
        "profile": agent.profile,
        "model": agent.model.name,
        "assigned": agent.assigned.as_ref().map(std::collections::BTreeSet::len),
        "specialists": team.map_or_else(Vec::new, |team| {
            team.members.iter().take(MOST).map(member).collect()
        }),
    })
}

/// What rules say of the tools of a catalog.
#[derive(Default)]
struct JudgedTools {
    allow: usize,
    ask: usize,
    deny: usize,
    /// By rule and pattern, how many tools it matches.
    matched: HashMap<(String, String), usize>,
}

fn judged(
    rules: &[&Rules],
    caller: &Caller,
    (catalog, sources): (&Catalog, Option<&[SourceId]>),
) -> JudgedTools {
    let mut judged = JudgedTools::default();
    let is_shown =
        |spec: &ToolSpec| sources.is_none_or(|sources| sources.contains(&spec.origin.source));
    for tool in catalog.tools().iter().filter(|tool| is_shown(&tool.spec)) {
        let mut strictest = 0;
        for rules in rules {
            let explained = rules.explain(caller, &tool.spec);
            strictest = strictest.max(match explained.verdict {
                Verdict::Allow => 1,
                Verdict::Ask(_) => 2,
                Verdict::Deny(_) => 3,
            });
            for matched in explained.matched {
                *judged.matched.entry((matched.rule, matched.pattern)).or_default() += 1;
            }
        }
        match strictest {
            0 | 1 => judged.allow += 1,
            2 => judged.ask += 1,
            _ => judged.deny += 1,
        }
    }
    judged
}

fn patterns(rules: Option<&Rules>, matched: &HashMap<(String, String), usize>) -> Vec<Value> {
    let all = rules.map(Rules::patterns).unwrap_or_default();
    let told = |written: WrittenPattern| {
        let tools = matched.get(&(written.rule.clone(), written.pattern.clone()));
        let mut row = json!(written);
        if let Value::Object(fields) = &mut row {
            fields.insert("tools".to_owned(), json!(tools.copied().unwrap_or_default()));
        }
        row
    };
    all.into_iter().take(MOST).map(told).collect()
}

/// What the definitions of the visible tools take in a prompt.
fn tokens(plan: &Plan) -> usize {
    let catalog = plan.catalog();
    let weighed = definition_tokens(catalog);
    let tools = catalog.loaded().iter().zip(weighed.tokens);
    let visible = tools.filter(|(tool, _)| plan.get(tool.spec.name.as_str()).is_some());
    visible.map(|(_, tokens)| tokens).sum()
}
