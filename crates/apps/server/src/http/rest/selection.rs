//! `POST /v1/select` and `POST /v1/partition`: the tools for a task, and for each of several agents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use toolcrib_core::{Discovery, Plan, PlanRequest};
use toolcrib_engine::selection::{
    AgentRules, AgentWish, Overlap, PartitionRequest, SelectionError, SelectionFallback,
    SelectionRequest, partition, select as select_tools,
};

use super::plan::whole;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Tools that are selected at the most, and that one list of a request names.
const MOST: u16 = 1_000;

/// Agents of one request at the most: the work grows with tools times agents.
const MOST_AGENTS: usize = 100;

/// What is to be selected.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SelectBody {
    /// The task in plain words.
    task: String,
    /// The profile to look through.
    #[serde(default)]
    profile: Option<String>,
    /// Tools at the most.
    #[serde(default = "five", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = MOST))]
    limit: u16,
    /// Tokens of their definitions in a prompt at the most.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(max = u32::MAX))]
    tokens: Option<u32>,
    /// Tools that are among them in any case, beyond `limit` and `tokens` too.
    #[serde(default)]
    #[schemars(length(max = MOST))]
    always: Vec<String>,
    /// How sure it must be that the best tool serves the task, from 0 to 1; below, none does.
    #[serde(default)]
    #[schemars(with = "f32", range(min = 0.0, max = 1.0))]
    min_confidence: f64,
    /// What is to be done where no tool serves the task.
    #[serde(default)]
    fallback: BodyFallback,
}

/// How tools are to be shared out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartitionBody {
    /// What the configuration assigns to an agent, it has alone.
    agents: PartitionAgents,
    /// What they are to do together: only tools for it are shared out.
    #[serde(default)]
    task: Option<String>,
    /// The profile to look through.
    #[serde(default)]
    profile: Option<String>,
    /// Tools of the task for each agent.
    #[serde(default = "five", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = MOST))]
    limit: u16,
    /// Tools of one agent at the most.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(range(min = 1, max = u32::MAX))]
    capacity: Option<u32>,
    /// Whether tools that only read may be with several agents that have a use for them.
    #[serde(default)]
    overlap: bool,
    /// Whether that holds for tools that may change something too.
    #[serde(default)]
    shares_writers: bool,
    /// How sure it must be that the best tool serves the task, from 0 to 1; below, none does.
    #[serde(default)]
    #[schemars(with = "f32", range(min = 0.0, max = 1.0))]
    min_confidence: f64,
    /// What is to be done where no tool serves the task.
    #[serde(default)]
    fallback: BodyFallback,
}

/// Who is to have tools.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
enum PartitionAgents {
    /// The agents by name.
    #[schemars(extend("minProperties" = 1, "maxProperties" = MOST_AGENTS))]
    Named(BTreeMap<String, PartitionMember>),
    /// So many: those that the configuration assigns tools to, then `agent_1` and so on.
    Count(#[schemars(range(min = 1, max = MOST_AGENTS))] u16),
}

impl<'de> Deserialize<'de> for PartitionAgents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            named @ Value::Object(_) => {
                serde_json::from_value(named).map(Self::Named).map_err(D::Error::custom)
            }
            count @ Value::Number(_) => whole(count).map(Self::Count).map_err(D::Error::custom),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => {
                Err(D::Error::custom("`agents` must be agents by name, or a number of them"))
            }
        }
    }
}

impl PartitionAgents {
    /// By name, whom the configuration knows or not.
    fn named(self, rules: &AgentRules) -> Result<BTreeMap<String, PartitionMember>, HttpProblem> {
        let count = match &self {
            Self::Named(agents) => agents.len(),
            Self::Count(count) => usize::from(*count),
        };
        if count == 0 || count > MOST_AGENTS {
            let detail = format!("`agents` must name 1 to {MOST_AGENTS} agents, and names {count}");
            return Err(invalid(detail));
        }
        Ok(match self {
            Self::Named(agents) => agents,
            Self::Count(_) => {
                let names = rules.names(count).into_iter();
                names.map(|name| (name, PartitionMember::default())).collect()
            }
        })
    }
}

/// An agent that is to have tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct PartitionMember {
    /// What it is for, in words; empty: that shows by its tools.
    role: String,
    /// Tools that it has in any case.
    #[schemars(length(max = MOST))]
    tools: Vec<String>,
}

/// What is selected for a task that no tool serves: nothing, or all if there is room for them.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BodyFallback {
    #[default]
    Nothing,
    All,
}

impl From<BodyFallback> for SelectionFallback {
    fn from(asked: BodyFallback) -> Self {
        match asked {
            BodyFallback::Nothing => Self::Nothing,
            BodyFallback::All => Self::All,
        }
    }
}

fn five() -> u16 {
    5
}

pub(crate) fn select(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: SelectBody = asked.json()?;
        within("limit", body.limit)?;
        let min_confidence = confident(body.min_confidence)?;
        no_more_than_most("`always`", &body.always)?;
        let (plan, is_starting) = plan(&asked, body.profile.as_deref())?;
        let request = SelectionRequest {
            task: body.task,
            limit: body.limit.into(),
            tokens: body.tokens.and_then(|most| usize::try_from(most).ok()),
            always: body.always,
            min_confidence,
            fallback: body.fallback.into(),
        };
        let found =
            aside(is_starting, ProblemKind::InvalidBody, move || select_tools(&plan, &request))
                .await?;
        Ok(reply(&json!(found)))
    })
}

pub(crate) fn share(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: PartitionBody = asked.json()?;
        within("limit", body.limit)?;
        let min_confidence = confident(body.min_confidence)?;
        let rules = asked.gateway.live.agent_rules();
        let agents = body.agents.named(&rules)?;
        let count = agents.len();
        if body.capacity == Some(0) {
            return Err(invalid("`capacity` must be 1 or more, and is 0".to_owned()));
        }
        let (plan, is_starting) = plan(&asked, body.profile.as_deref())?;
        let wish = |(name, agent): (&String, &PartitionMember)| wish(&rules, &plan, name, agent);
        let request = PartitionRequest {
            agents: agents.iter().map(wish).collect::<Result<_, _>>()?,
            capacity: body.capacity.and_then(|most| usize::try_from(most).ok()),
            overlap: if body.overlap { Overlap::Bridges } else { Overlap::None },
            shares_writers: body.shares_writers,
            task: body.task.filter(|task| !task.trim().is_empty()).map(|task| SelectionRequest {
                task,
                limit: usize::from(body.limit) * count,
                min_confidence,
                fallback: body.fallback.into(),
                ..SelectionRequest::default()
            }),
        };
        let found =
            aside(is_starting, ProblemKind::NoRoom, move || partition(&plan, &request)).await?;
        Ok(reply(&json!(found)))
    })
}

fn no_more_than_most(what: &str, names: &[String]) -> Result<(), HttpProblem> {
    let count = names.len();
    if count <= usize::from(MOST) {
        return Ok(());
    }
    Err(invalid(format!("{what} are {MOST} at the most, and are {count}")))
}

/// What is wished for an agent: more than the file assigns to it, nobody can ask for.
fn wish(
    rules: &AgentRules,
    plan: &Plan,
    name: &str,
    agent: &PartitionMember,
) -> Result<AgentWish, HttpProblem> {
    no_more_than_most("`tools` of an agent", &agent.tools)?;
    let by_rules = rules.wish(plan, name, &agent.role);
    if !by_rules.only {
        return Ok(AgentWish { tools: agent.tools.clone(), ..by_rules });
    }
    match agent.tools.iter().find(|tool| !by_rules.tools.contains(tool)) {
        None => Ok(by_rules),
        Some(other) => {
            let [name, other] = [name, other].map(|text| text.chars().take(80).collect::<String>());
            Err(invalid(format!(
                "the configuration assigns no `{other}` to `{name}`: leave it out of `tools`"
            )))
        }
    }
}

/// All that the caller sees, and whether some sources have not had their first chance.
fn plan(asked: &GatewayRequest, profile: Option<&str>) -> Result<(Plan, bool), HttpProblem> {
    let crib = asked.crib(profile)?;
    // Before the plan: what comes meanwhile is not in it.
    let is_starting = crib.is_starting();
    let plan = crib.plan(&asked.caller, PlanRequest::default().show(Discovery::Direct));
    let plan = plan.map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()));
    Ok((plan?, is_starting))
}

/// Off the threads that serve: an index may have to be made first. `refused`: what it is that the
/// request cannot be met.
async fn aside<T: Send + 'static>(
    is_starting: bool,
    refused: ProblemKind,
    work: impl FnOnce() -> Result<T, SelectionError> + Send + 'static,
) -> Result<T, HttpProblem> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| HttpProblem::new(ProblemKind::Broken, error.to_string()))?;
    done.map_err(|error| match error {
        SelectionError::UnknownTool(_) if is_starting => {
            HttpProblem::starting("a tool of the request")
        }
        SelectionError::UnknownTool(told) => HttpProblem::new(ProblemKind::UnknownTool, told),
        SelectionError::Request(told) => HttpProblem::new(refused, told),
        SelectionError::Plan(error) => {
            HttpProblem::new(ProblemKind::NothingLeft, error.to_string())
        }
    })
}

fn within(name: &str, number: u16) -> Result<(), HttpProblem> {
    if (1..=MOST).contains(&number) {
        return Ok(());
    }
    Err(invalid(format!("`{name}` must be 1 to {MOST}, and is {number}")))
}

/// Judged as it was written: the smallest numbers below 0 are 0 in what is reckoned with.
fn confident(least: f64) -> Result<f32, HttpProblem> {
    if (0.0..=1.0).contains(&least) {
        #[expect(clippy::cast_possible_truncation, reason = "it is between 0 and 1")]
        return Ok(least as f32);
    }
    Err(invalid(format!("`min_confidence` must be 0 to 1, and is {least}")))
}

fn invalid(detail: String) -> HttpProblem {
    HttpProblem::new(ProblemKind::InvalidBody, detail)
}
