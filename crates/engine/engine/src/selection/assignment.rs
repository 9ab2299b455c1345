//! Tools shared out over agents.

use serde::Serialize;
use toolcrib_core::{Effect, ErrorKind, Plan, ToolError, ToolName};
use toolcrib_search::{
    Overlap, PartitionAgent, PartitionError, PartitionSettings, PlacementReason,
};

use super::chosen::{SelectionRequest, place, select};
use crate::discovery::tool_document;

/// How tools are to be shared out.
#[derive(Debug, Clone, PartialEq)]
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
}

/// Tools, shared out.
#[derive(Debug, Clone, Serialize)]
pub struct ToolPartition {
    pub agents: Vec<AgentTools>,
    /// How much of what tools have in common lies within agents, from 0 to 1.
    pub cohesion: f32,
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
pub fn partition(plan: &Plan, request: &PartitionRequest) -> Result<ToolPartition, ToolError> {
    let wrong = |message: String| ToolError::new(ErrorKind::InvalidArguments, message);
    for (at, agent) in request.agents.iter().enumerate() {
        if request.agents.iter().take(at).any(|other| other.name == agent.name) {
            return Err(wrong(format!("two agents are called `{}`", agent.name)));
        }
    }
    let loaded = plan.catalog().loaded();
    let mut places: Vec<usize> = match &request.task {
        Some(task) => {
            let selected = select(plan, task)?;
            let names = selected.tools.iter().map(|tool| place(plan, tool.name.as_str()));
            names.collect::<Result<_, _>>()?
        }
        None => (0..loaded.len()).filter(|place| plan.shows_place(*place)).collect(),
    };
    let mut wished: Vec<Vec<usize>> = Vec::new();
    for agent in &request.agents {
        let own = agent.tools.iter().map(|name| place(plan, name));
        wished.push(own.collect::<Result<_, _>>()?);
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
    };
    let settings = PartitionSettings {
        agents: request.agents.iter().zip(&wished).map(agent).collect(),
        capacity: request.capacity,
        overlap: request.overlap,
        shares_writers: request.shares_writers,
    };
    let found = toolcrib_search::partition(&documents, &settings)
        .map_err(|error| wrong(told(&error, &request.agents)))?;
    let agents = request.agents.iter().zip(&found.groups).map(|(agent, group)| {
        let tools = group.iter().filter_map(|placed| {
            let spec = &tools.get(placed.document)?.spec;
            let (name, effect) = (spec.name.clone(), spec.effect);
            Some(AssignedTool { name, effect, because: placed.why, affinity: placed.affinity })
        });
        AgentTools { name: agent.name.clone(), tools: tools.collect() }
    });
    Ok(ToolPartition { agents: agents.collect(), cohesion: found.cohesion })
}

fn told(error: &PartitionError, agents: &[AgentWish]) -> String {
    match error {
        PartitionError::FixedOverCapacity { agent, fixed, capacity } => {
            let name = agents.get(*agent).map_or("", |agent| agent.name.as_str());
            format!("`{name}` has {fixed} tools in any case, and an agent may have {capacity}")
        }
        PartitionError::NoAgent | PartitionError::OverCapacity { .. } => error.to_string(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn word<S: serde::Serializer>(because: &PlacementReason, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(because.as_str())
}
