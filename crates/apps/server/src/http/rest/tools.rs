//! `/v1/tools`, `/v1/tools/{name}`, `/v1/toolsets` and `/v1/why/{tool}`: what this caller may see.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolcrib_auth::is_operator;
use toolcrib_core::{
    Caller, CatalogTool, Discovery, ErrorKind, Plan, PlanRequest, ToolExplanation, ToolName,
    ToolSpec,
};
use toolcrib_engine::discovery::{DiscoveredTool, DiscoveryQuery, UnavailableSource};
use toolcrib_engine::{Crib, toolsets};

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::{GatewayRequest, QueryValues};
use crate::http::routes::route::ReplyFuture;

const DEFAULT_PAGE: usize = 100;
pub(crate) const LARGEST_PAGE: usize = 1000;

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let (crib, plan) = plan(&asked)?;
        let query = &asked.query;
        let limit = query.number("limit", DEFAULT_PAGE);
        let text = query.get("q").unwrap_or_default().trim();
        let mut meaning = None;
        let fitting: Vec<_> = if text.is_empty() {
            let tools = plan.known().map(|tool| tool.listed);
            tools.filter(|tool| fits(&tool.spec, query)).map(|tool| (tool, None)).collect()
        } else {
            let found = crib.find(&plan, search(text, query)).await;
            let found =
                found.map_err(|error| HttpProblem::new(ProblemKind::Unavailable, error.message))?;
            meaning = found.meaning;
            let tools = found.tools.into_iter().filter_map(|found| {
                let listed = plan.get(found.name.as_str())?.listed;
                fits(&listed.spec, query).then_some((listed, Some(found)))
            });
            tools.collect()
        };
        let start = match query.get("cursor").filter(|cursor| !cursor.is_empty()) {
            None => 0,
            Some(cursor) => fitting
                .iter()
                .position(|(tool, _)| tool.spec.name.as_str() == cursor)
                .map(|last| last + 1)
                .ok_or_else(|| {
                    let detail = "the cursor is none of this list: begin without one";
                    HttpProblem::new(ProblemKind::UnknownCursor, detail)
                })?,
        };
        let page: Vec<_> = fitting.iter().skip(start).take(limit).collect();
        let mut answer = json!({
            "tools": page.iter().map(|(tool, found)| brief(tool, found.as_ref())).collect::<Vec<_>>(),
            "total": fitting.len(),
        });
        let more = start + page.len() < fitting.len();
        if let (true, Some((last, _)), Value::Object(fields)) = (more, page.last(), &mut answer) {
            fields.insert("cursor".to_owned(), last.spec.name.as_str().into());
        }
        let away = away(&crib, &asked);
        if let (false, Value::Object(fields)) = (away.is_empty(), &mut answer) {
            fields.insert("away".to_owned(), json!(away));
        }
        if let (Some(meaning), Value::Object(fields)) = (meaning, &mut answer) {
            fields.insert("meaning".to_owned(), json!(meaning));
        }
        Ok(reply(&answer))
    })
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let (crib, plan) = plan(&asked)?;
        let name = asked.segment();
        let listed = plan.get(name).ok_or_else(|| unknown(&crib, &plan, name))?.listed;
        let mut value = listed.spec.to_json();
        if let Value::Object(fields) = &mut value {
            fields.insert("signature".to_owned(), signature(listed).into());
            fields.insert("fingerprint".to_owned(), json!(listed.fingerprint));
            fields.insert("stale".to_owned(), listed.stale.into());
        }
        Ok(reply(&value))
    })
}

pub(crate) fn list_toolsets(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let (_, plan) = plan(&asked)?;
        let mut listing = toolsets::toolsets(&plan);
        if let Some(source) = asked.query.get("source") {
            listing.toolsets.retain(|set| set.sources.iter().any(|own| own.as_str() == source));
            listing.in_none.retain(|name| {
                plan.get(name.as_str())
                    .is_some_and(|tool| tool.listed.spec.origin.source.as_str() == source)
            });
        }
        Ok(reply(&json!(listing)))
    })
}

pub(crate) fn why(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let list = |name: &str| -> Vec<String> {
            let names = asked.query.get(name).unwrap_or_default().split(',');
            names.filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect()
        };
        let (choices, disabled) = (list("choices"), list("disabled"));
        let discovery = asked.query.get("discovery").and_then(Discovery::read);
        let request = PlanRequest { choices, disabled, discovery, ..PlanRequest::default() };
        let crib = asked.crib(asked.query.get("profile"))?;
        let is_starting = crib.is_starting();
        let plan = crib.plan(&asked.caller, request);
        let name = asked.segment();
        let plan = plan.map_err(|error| {
            let told = || HttpProblem::new(ProblemKind::NothingLeft, error.to_string());
            if is_starting { HttpProblem::starting(name) } else { told() }
        })?;
        let known = VisibleTools::of(&crib, &asked.caller)?;
        let why = plan.why(name).filter(|why| why.rule == "discovery" || known.has(&why.tool));
        Ok(reply(&json!(why.ok_or_else(|| unknown(&crib, &plan, name))?)))
    })
}

/// The tools that a caller may hear of, whatever a request says of them.
pub(crate) enum VisibleTools {
    /// To the operator nothing is hidden.
    All,
    These(HashSet<ToolName>),
}

impl VisibleTools {
    pub(crate) fn of(crib: &Crib, caller: &Caller) -> Result<Self, HttpProblem> {
        if is_operator(caller) {
            return Ok(Self::All);
        }
        let plan = crib.plan(caller, PlanRequest::default());
        let plan =
            plan.map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
        // To a caller whom policy keeps from it, and where it is kept out, it does not exist.
        let hidden =
            |why: &ToolExplanation| matches!(why.rule, "denied" | "quarantined" | "disabled");
        let heard_of = plan.reasons().into_iter().filter(|why| !hidden(why));
        Ok(Self::These(heard_of.map(|why| why.tool).collect()))
    }

    pub(crate) fn has(&self, tool: &ToolName) -> bool {
        match self {
            Self::All => true,
            Self::These(tools) => tools.contains(tool),
        }
    }
}

/// One text for what is not there and for what is denied; another one while it may yet come.
pub(crate) fn unknown(crib: &Crib, plan: &Plan, name: &str) -> HttpProblem {
    let missing = plan.missing(name, &crib.missing());
    if missing.is_some_and(|error| error.kind == ErrorKind::SourceStarting) {
        return HttpProblem::starting(name);
    }
    let shown: String = name.chars().take(80).collect();
    let detail = format!("`/v1/tools` lists what is there, and `{shown}` is not among it");
    HttpProblem::new(ProblemKind::UnknownTool, detail)
}

/// All that this caller may call, however a model is shown it.
fn plan(asked: &GatewayRequest) -> Result<(Crib, Plan), HttpProblem> {
    let crib = asked.crib(asked.query.get("profile"))?;
    let plan = crib.plan(&asked.caller, PlanRequest::default().show(Discovery::Direct));
    let plan =
        plan.map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
    Ok((crib, plan))
}

/// The sources that may have had more, and give no tools now.
fn away(crib: &Crib, asked: &GatewayRequest) -> Vec<UnavailableSource> {
    let mut away = crib.unavailable_sources(&asked.caller);
    let wanted = asked.query.get("source");
    away.retain(|away| {
        wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(away.source.as_str()))
    });
    away
}

/// What is looked for: the same search that models have.
fn search(text: &str, query: &QueryValues) -> DiscoveryQuery {
    let list = |name: &str| query.get(name).map(ToOwned::to_owned).into_iter().collect();
    DiscoveryQuery {
        text: text.to_owned(),
        categories: list("category"),
        actions: list("action"),
        sources: list("source"),
        writes: None,
        limit: LARGEST_PAGE,
    }
}

fn fits(spec: &ToolSpec, query: &QueryValues) -> bool {
    let is = |name: &str, value: &str| {
        query.get(name).is_none_or(|wish| wish.eq_ignore_ascii_case(value))
    };
    let action = query.get("action");
    let does = |wish: &str| spec.actions.iter().any(|action| action.eq_ignore_ascii_case(wish));
    is("category", spec.category.as_deref().unwrap_or_default())
        && is("source", spec.origin.source.as_str())
        && is("effect", spec.effect.as_str())
        && action.is_none_or(does)
}

fn signature(tool: &CatalogTool) -> String {
    toolcrib_json::schema::signature(tool.spec.name.as_str(), &tool.spec.input.value())
}

/// `found`: where a search found it.
fn brief(tool: &CatalogTool, found: Option<&DiscoveredTool>) -> Value {
    let spec = &tool.spec;
    let mut brief = json!({
        "name": spec.name,
        "title": spec.title,
        "summary": spec.summary,
        "category": spec.category,
        "actions": spec.actions,
        "effect": spec.effect,
        "source": spec.origin.source,
        "signature": signature(tool),
        "fingerprint": tool.fingerprint,
        "stale": tool.stale,
    });
    if let (Value::Object(fields), Some(found)) = (&mut brief, found) {
        fields.insert("score".to_owned(), json!(found.score));
        fields.insert("why".to_owned(), json!(found.why));
    }
    brief
}
