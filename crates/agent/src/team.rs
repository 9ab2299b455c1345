//! Agents that work for another one: which there are, how they are offered to its model, and how
//! far they may go.
//!
//! Read in this order: [`Team`] with [`Specialist`], `tools` (what the model is shown), `wish` (what
//! its call wants), `lineage` (who asked whom for what), `answer` (what came of it).

pub(crate) mod answer;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
pub(crate) mod gate;
pub(crate) mod lineage;
pub(crate) mod mode;
pub(crate) mod names;
mod only_tools;
pub(crate) mod tools;
pub(crate) mod wish;

use std::sync::Arc;

use toolcrib_core::{PlanRequest, Policy};
use toolcrib_engine::Crib;

use crate::agent::check::CheckPolicy;
use crate::budget::Budget;
use crate::model::ModelClient;
use mode::{AgentMode, TeamLimits};
pub use only_tools::AgentTools;
use only_tools::{NoTools, OthersTools};

/// A model with instructions, over a crib.
#[derive(Clone)]
pub struct Agent {
    pub name: String,
    pub description: String,
    pub instructions: String,
    pub model: Arc<ModelClient>,
    pub crib: Crib,
    /// What is wished of every plan.
    pub wishes: PlanRequest,
    pub budget: Budget,
    pub checks: CheckPolicy,
    /// Those that work for it.
    pub team: Option<Arc<Team>>,
}

impl Agent {
    /// The same with less: neither it nor those that work for it have what `by` leaves out.
    pub fn narrow(&mut self, by: &Arc<dyn Policy>) {
        self.crib = self.crib.narrowed(Arc::clone(by));
        self.team = self.team.as_ref().map(|team| Arc::new(team.narrowed(by)));
    }

    /// The same for one sample of many: what servers keep for it they keep for it and for those
    /// that work for it together, and engines that draw do so from this seed.
    pub fn for_sample(&mut self, session: &str, seed: u32) {
        self.wishes = std::mem::take(&mut self.wishes).in_session(session);
        if self.model.settings().engine.is_some() {
            self.model = Arc::new(self.model.seeded(seed));
        }
        self.team = self.team.as_ref().map(|team| Arc::new(team.for_sample(session, seed)));
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
        Self { rest: self.rest.narrowed(Arc::clone(by)), ..self.changed(|agent| agent.narrow(by)) }
    }

    fn for_sample(&self, session: &str, seed: u32) -> Self {
        self.changed(|agent| agent.for_sample(session, seed))
    }

    fn changed(&self, change: impl Fn(&mut Agent)) -> Self {
        let specialists = self.specialists.iter().map(|Specialist { agent }| {
            let mut agent = Agent::clone(agent);
            change(&mut agent);
            Specialist { agent: Arc::new(agent) }
        });
        Self {
            mode: self.mode,
            limits: self.limits,
            specialists: specialists.collect(),
            rest: self.rest.clone(),
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
