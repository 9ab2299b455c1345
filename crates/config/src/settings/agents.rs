//! Agents and their models, as the file says them.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolcrib_agent::model::ModelSettings;
use toolcrib_agent::{AgentMode, Budget, Price, TeamLimits};
use toolcrib_core::ToolName;
use toolcrib_engine::Crib;
use toolcrib_engine::policy::AssignedTools;
use toolcrib_engine::rules::ToolPatterns;
use toolcrib_engine::selection::AgentRules;

use crate::secrets::template::{SecretLookup, Template, TemplateResolution};

/// The id of a model that has none.
pub(crate) const DEFAULT_MODEL: &str = "default";
/// The agent that there is where the file names none.
const ASSISTANT: &str = "assistant";

/// A model whose key stands beside it.
#[derive(Debug, Clone)]
pub(crate) struct ModelTemplate {
    pub(crate) id: String,
    /// All that is no secret.
    pub(crate) plain: ModelSettings,
    pub(crate) key: Option<Template>,
}

impl ModelTemplate {
    /// Whether it is known what it costs.
    pub(crate) fn is_priced(&self) -> bool {
        let ModelSettings { price, base, name, .. } = &self.plain;
        price.is_some() || Price::listed(base, name).is_some()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct AgentTemplate {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) instructions: String,
    pub(crate) profile: Option<String>,
    /// The id of its model, which there is.
    pub(crate) model: String,
    /// The ids of those that are asked in its place, which there are.
    pub(crate) fallback: Vec<String>,
    /// The tools that the first turn must call.
    pub(crate) force: Vec<String>,
    pub(crate) checks: Vec<String>,
    pub(crate) gate: bool,
    /// The id of the model that makes the checks, which there is.
    pub(crate) judge: Option<String>,
    pub(crate) budget: Budget,
    pub(crate) tools: Option<ToolPatterns>,
    pub(crate) team: Option<TeamSettings>,
}

/// The specialists of an agent, and how it uses them.
#[derive(Debug, Clone, PartialEq)]
pub struct TeamSettings {
    pub mode: AgentMode,
    pub limits: TeamLimits,
    pub members: Vec<TeamMember>,
}

/// A specialist.
#[derive(Debug, Clone, PartialEq)]
pub enum TeamMember {
    /// Another agent, by its name, which there is.
    Agent(String),
    /// An agent with a toolset; `summary` is empty where only its source knows.
    Toolset { id: String, summary: String, tools: ToolPatterns },
    /// Each toolset that there is whose id is so, with `*` for any letters.
    Toolsets { ids: String },
}

/// An agent with its model.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    pub name: String,
    pub description: String,
    pub instructions: String,
    /// `None`: all tools of the file.
    pub profile: Option<String>,
    /// The tools of `[assign]`, these alone; `None`: all tools of its profile.
    pub assigned: Option<BTreeSet<ToolName>>,
    pub model: ModelSettings,
    /// The tools that the first turn of a run must call.
    pub force: Vec<String>,
    /// The checks of every answer.
    pub checks: Vec<String>,
    /// Whether an answer is shown only once all its checks have passed.
    pub gate: bool,
    /// The model that makes the checks; `None`: its own.
    pub judge: Option<ModelSettings>,
    pub budget: Budget,
    /// What it has of the tools of its profile; `None`: all.
    pub tools: Option<ToolPatterns>,
    pub team: Option<TeamSettings>,
}

impl AgentSettings {
    /// The crib of its profile within what `[assign]` gives it.
    pub fn within(&self, crib: Crib) -> Crib {
        match &self.assigned {
            Some(tools) => crib.narrowed(Arc::new(AssignedTools::new(tools.clone()))),
            None => crib,
        }
    }
}

pub(crate) fn agents(
    models: &[ModelTemplate],
    agents: &[AgentTemplate],
    assign: &AgentRules,
    lookup: &dyn SecretLookup,
    found: &mut TemplateResolution,
) -> Vec<AgentSettings> {
    let models: Vec<(&str, ModelSettings)> = models
        .iter()
        .map(|ModelTemplate { id, plain, key }| {
            let key = key.as_ref().map(|key| key.secret(lookup, found));
            let price = plain.price.or_else(|| Price::listed(&plain.base, &plain.name));
            (id.as_str(), ModelSettings { key, price, ..plain.clone() })
        })
        .collect();
    let of = |id: &str| models.iter().find(|(own, _)| *own == id).map(|(_, model)| model.clone());
    let named = agents.iter().filter_map(|agent| {
        Some(AgentSettings {
            name: agent.name.clone(),
            description: agent.description.clone(),
            instructions: agent.instructions.clone(),
            profile: agent.profile.clone(),
            assigned: assign.tools(&agent.name),
            model: ModelSettings {
                fallback: agent.fallback.iter().filter_map(|id| of(id)).collect(),
                ..of(&agent.model)?
            },
            force: agent.force.clone(),
            checks: agent.checks.clone(),
            gate: agent.gate,
            judge: agent.judge.as_ref().and_then(|id| of(id)),
            budget: agent.budget,
            tools: agent.tools.clone(),
            team: agent.team.clone(),
        })
    });
    let mut all: Vec<_> = named.collect();
    if all.is_empty()
        && let Some((_, model)) = models.first()
    {
        all.push(AgentSettings {
            name: ASSISTANT.to_owned(),
            description: String::new(),
            instructions: String::new(),
            profile: None,
            // Who is in no file is no agent of it; what is said of the name holds.
            assigned: assign.listed.get(ASSISTANT).cloned(),
            model: model.clone(),
            force: Vec::new(),
            checks: Vec::new(),
            gate: false,
            judge: None,
            budget: Budget::default(),
            tools: None,
            team: None,
        });
    }
    all
}
