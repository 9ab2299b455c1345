//! Tools shared out over agents.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolcrib_core::{Effect, Plan, ToolName};
use toolcrib_search::{
    Overlap, PartitionAgent, PartitionError, PartitionSettings, PlacementReason,
};

use super::chosen::{LONGEST_TOLD, SelectionFallback, SelectionRequest, VisibleNames, select};
use super::error::SelectionError;
use crate::discovery::tool_document;

/// How tools are to be shared out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartitionRequest {
    /// What the agents are to do together: only tools for it are shared out, so many for each at
    /// the most; `None`: all that the caller sees.
    pub task: Option<SelectionRequest>,
    pub agents: Vec<AgentWish>,
    /// Tools of one agent at the most; `None`: half more than an equal share.
    pub capacity: Option<usize>,
    pub overlap: Overlap,
    /// Whether more than one agent may have a tool that may change something.
    pub shares_writers: bool,
}

/// An agent that is to have tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentWish {
    pub name: String,
    /// What it is for, in words; empty: that shows by its tools.
    pub role: String,
    /// Tools that it has in any case.
    pub tools: Vec<String>,
    /// Whether it has these alone, and no share in the rest.
    pub only: bool,
}

/// Tools, shared out.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ToolPartition {
    pub agents: Vec<AgentTools>,
    /// How much of what tools have in common lies within agents, from 0 to 1.
    pub cohesion: f32,
    /// Tools that no agent has, by name: each agent has its own alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unplaced: Vec<ToolName>,
    /// What was done because no tool serves the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<SelectionFallback>,
    /// What whoever asked should know: agents without tools, and tools that may change something
    /// and that several agents have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The tools of an agent.
#[derive(Debug, Clone, Serialize)]
pub struct AgentTools {
    pub name: String,
    /// By name.
    pub tools: Vec<AssignedTool>,
}

/// A tool of an agent.
#[derive(Debug, Clone, Serialize)]
pub struct AssignedTool {
    pub name: ToolName,
    pub effect: Effect,
    #[serde(serialize_with = "word")]
    pub because: PlacementReason,
    /// How much it has in common with the others of the agent, from 0 to 1.
    pub affinity: f32,
}

/// Shares tools out over agents: what belongs together stays together, every tool is with somebody,
/// and an agent that nothing fits has none.
///
/// # Errors
/// There is no agent, two have the same name, one names a tool that is not there, or there is no
/// room for all tools.
pub fn partition(plan: &Plan, request: &PartitionRequest) -> Result<ToolPartition, SelectionError> {
    let mut names = BTreeSet::new();
    if let Some(twice) = request.agents.iter().find(|agent| !names.insert(&agent.name)) {
        return Err(SelectionError::Request(format!(
            "two agents are called `{}`",
            cut(&twice.name)
        )));
    }
    let loaded = plan.catalog().loaded();
    let (mut places, fallback) = wanted(plan, request)?;
    let visible = VisibleNames::of(plan);
    let mut wished: Vec<Vec<usize>> = Vec::new();
    for agent in &request.agents {
        let own = agent.tools.iter().map(|name| visible.place(name));
        wished.push(own.collect::<Result<_, _>>()?);
    }
    let mut unplaced = Vec::new();
    if !request.agents.is_empty() && request.agents.iter().all(|agent| agent.only) {
        unplaced = std::mem::take(&mut places);
        let own: BTreeSet<_> = wished.iter().flatten().collect();
        unplaced.retain(|place| !own.contains(place));
    }
    places.extend(wished.iter().flatten());
    places.sort_unstable();
    places.dedup();
    let tools: Vec<_> = places.iter().filter_map(|place| loaded.get(*place)).collect();
    let documents: Vec<_> = tools.iter().map(|tool| tool_document(&tool.spec)).collect();
    let number = |place: &usize| places.binary_search(place).unwrap_or_default();
    let agent = |(agent, own): (&'_ AgentWish, &Vec<usize>)| PartitionAgent {
        role: agent.role.clone().into(),
        fixed: own.iter().map(number).collect(),
        closed: agent.only,
    };
    let settings = PartitionSettings {
        agents: request.agents.iter().zip(&wished).map(agent).collect(),
        capacity: request.capacity,
        overlap: request.overlap,
        shares_writers: request.shares_writers,
    };
    let found = toolcrib_search::partition(&documents, &settings)
        .map_err(|error| SelectionError::Request(told(&error, &request.agents)))?;
    let agents = request.agents.iter().zip(&found.groups).map(|(agent, group)| {
        let tools = group.iter().filter_map(|placed| {
            let spec = &tools.get(placed.document)?.spec;
            let (name, effect) = (spec.name.clone(), spec.effect);
            Some(AssignedTool { name, effect, because: placed.why, affinity: placed.affinity })
        });
        AgentTools { name: agent.name.clone(), tools: tools.collect() }
    });
    let agents: Vec<_> = agents.collect();
    let warnings = warnings(request, &agents);
    let name = |place: &usize| Some(loaded.get(*place)?.spec.name.clone());
    let unplaced: BTreeSet<ToolName> = unplaced.iter().filter_map(name).collect();
    let unplaced = unplaced.into_iter().collect();
    Ok(ToolPartition { agents, cohesion: found.cohesion, unplaced, fallback, warnings })
}

/// The tools that are to be shared out, beside those that agents have in any case.
fn wanted(
    plan: &Plan,
    request: &PartitionRequest,
) -> Result<(Vec<usize>, Option<SelectionFallback>), SelectionError> {
    let Some(task) = &request.task else {
        let all = 0..plan.catalog().loaded().len();
        return Ok((all.filter(|place| plan.shows_place(*place)).collect(), None));
    };
    let selected = select(plan, task)?;
    let visible = VisibleNames::of(plan);
    let places = selected.tools.iter().filter_map(|tool| visible.get(tool.name.as_str()));
    Ok((places.collect(), selected.fallback))
}

/// What is not as it may be thought to be.
fn warnings(request: &PartitionRequest, agents: &[AgentTools]) -> Vec<String> {
    let placed: BTreeSet<&ToolName> =
        agents.iter().flat_map(|agent| &agent.tools).map(|tool| &tool.name).collect();
    let is_scarce = placed.len() < agents.len();
    let mut warnings = Vec::new();
    for (wish, agent) in request.agents.iter().zip(agents) {
        if agent.tools.is_empty() {
            let why = match wish {
                AgentWish { only: true, .. } => "none is assigned to it",
                _ if is_scarce => "there are fewer tools than agents",
                AgentWish { role, .. } if !role.trim().is_empty() => "none fits what it is for",
                _ => "none is left for it",
            };
            warnings.push(format!("`{}` has no tool: {why}", cut(&wish.name)));
        }
    }
    if request.shares_writers {
        return warnings;
    }
    let mut writers: BTreeMap<&ToolName, Vec<String>> = BTreeMap::new();
    for agent in agents {
        for tool in agent.tools.iter().filter(|tool| tool.effect != Effect::Read) {
            writers.entry(&tool.name).or_default().push(format!("`{}`", cut(&agent.name)));
        }
    }
    let shared = writers.iter().filter(|(_, agents)| agents.len() > 1);
    let shared = shared.map(|(tool, agents)| {
        let agents = agents.join(" and ");
        format!("`{tool}` may change something, and {agents} have it in any case")
    });
    warnings.extend(shared);
    warnings
}

fn told(error: &PartitionError, agents: &[AgentWish]) -> String {
    match error {
        PartitionError::FixedOverCapacity { agent, fixed, capacity } => {
            let name = agents.get(*agent).map_or("", |agent| agent.name.as_str());
            let name = cut(name);
            format!(
                "`{name}` has {fixed} tools in any case, and an agent may have {capacity}: raise \
                 the capacity"
            )
        }
        PartitionError::OverCapacity { .. } => {
            format!("{error}: raise the capacity, or name more agents")
        }
        PartitionError::NoAgent => error.to_string(),
    }
}

/// A name as far as it is told.
fn cut(name: &str) -> String {
    name.chars().take(LONGEST_TOLD).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn word<S: serde::Serializer>(because: &PlacementReason, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(because.as_str())
}
