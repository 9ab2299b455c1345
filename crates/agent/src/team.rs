//! Agents that work for another one: which there are, how they are offered to its model, and how
//! far they may go.
//!
//! Read in this order: [`Team`] with [`Specialist`], `tools` (what the model is shown), `wish` (what
//! its call wants), `lineage` (who asked whom for what), `answer` (what came of it).

pub(crate) mod answer;
pub(crate) mod gate;
pub(crate) mod lineage;
mod only_tools;
pub(crate) mod tools;
pub(crate) mod wish;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcrib_core::Policy;
use toolcrib_engine::Crib;

use crate::agent::Agent;
pub use only_tools::AgentTools;
use only_tools::{NoTools, OthersTools};

/// The source of the tools that serve all others.
pub(crate) const OURS: &str = "toolcrib";

/// The source of calls that an agent answers.
pub const AGENTS: &str = "agents";

/// How an agent uses its specialists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// Not at all: it calls all tools itself.
    Direct,
    /// Its model has one tool, which runs one tool of one specialist.
    Router,
    /// Its model gives parts of the task to them, and has the tools that none of them has.
    #[default]
    Planner,
    /// Whichever of these the task asks for.
    Auto,
}

impl AgentMode {
    pub const WORDS: [(&str, Self); 4] = [
        ("direct", Self::Direct),
        ("router", Self::Router),
        ("planner", Self::Planner),
        ("auto", Self::Auto),
    ];
}

/// How far a tree of runs may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamLimits {
    /// Runs below each other, without the first.
    pub depth: usize,
    /// Runs of the whole tree that work at the same time, without the first.
    pub active: usize,
}

impl Default for TeamLimits {
    fn default() -> Self {
        Self { depth: 2, active: 8 }
    }
}

/// An agent that works for another one. It has no tool that the other one may not use: there is no
/// other way to make one than out of the other one's crib.
pub struct Specialist {
    pub(crate) agent: Arc<Agent>,
}

/// A specialist that is about to be made.
pub struct NewSpecialist<'a> {
    /// What it is left of the crib that it is made in.
    pub tools: Arc<dyn Policy>,
    /// Makes the agent over what is left; it gets no other crib.
    pub agent: Box<dyn FnOnce(Crib) -> Agent + 'a>,
}

/// The specialists of an agent.
pub struct Team {
    pub(crate) mode: AgentMode,
    pub(crate) limits: TeamLimits,
    pub(crate) specialists: Vec<Specialist>,
    /// The crib without the tools of all specialists.
    rest: Crib,
    /// The crib with nothing in it.
    nothing: Crib,
}

impl Team {
    /// `crib`: of the agent whose team it is.
    pub fn new(
        crib: &Crib,
        mode: AgentMode,
        limits: TeamLimits,
        specialists: Vec<NewSpecialist<'_>>,
    ) -> Self {
        let policies = specialists.iter().map(|new| Arc::clone(&new.tools)).collect();
        let specialists = specialists.into_iter().map(|NewSpecialist { tools, agent }| {
            let crib = crib.narrowed(tools);
            let agent = Arc::new(Agent { crib: crib.clone(), ..agent(crib) });
            Specialist { agent }
        });
        Self {
            mode,
            limits,
            specialists: specialists.collect(),
            rest: crib.narrowed(Arc::new(OthersTools(policies))),
            nothing: crib.narrowed(Arc::new(NoTools)),
        }
    }

    /// The same with less.
    pub(crate) fn narrowed(&self, by: &Arc<dyn Policy>) -> Self {
        let specialists = self.specialists.iter().map(|Specialist { agent }| {
            let mut agent = Agent::clone(agent);
            agent.narrow(by);
            Specialist { agent: Arc::new(agent) }
        });
        Self {
            mode: self.mode,
            limits: self.limits,
            specialists: specialists.collect(),
            rest: self.rest.narrowed(Arc::clone(by)),
            nothing: self.nothing.clone(),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Specialist> {
        self.specialists.iter().find(|specialist| specialist.agent.name == name)
    }

    /// What the model is shown itself in this mode; `None`: all that its agent has.
    pub(crate) fn shown(&self, mode: AgentMode) -> Option<&Crib> {
        match mode {
            AgentMode::Direct | AgentMode::Auto => None,
            AgentMode::Router => Some(&self.nothing),
            AgentMode::Planner => Some(&self.rest),
        }
    }
}
