//! Agents that are given their tools: each a view of a crib that holds for it alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolcrib_core::{Call, Caller, Discovery, Plan, PlanError, PlanRequest, Report, ToolName};

use super::agent_rules::AgentRules;
use super::assignment::{AgentTools, AssignedTool, PartitionRequest, ToolPartition, partition};
use super::chosen::{SelectionFallback, SelectionRequest};
use super::error::SelectionError;
use crate::crib::Crib;
use crate::discovery::DiscoverySettings;
use crate::policy::AssignedTools;
use toolcrib_search::Overlap;

/// Agents that work together, or one alone.
pub trait AgentSystem {
    /// The agents that are to have tools, in their order. One of them is ordinary selection.
    fn workers(&self) -> Vec<WorkerRole>;

    /// Takes the view of an agent: called once for each, in the order of [`Self::workers`], for those
    /// without tools too.
    fn equip(&mut self, view: WorkerView);
}

/// An agent of a system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerRole {
    /// By what rules know it; empty: `worker_0`, `worker_1` and so on, by its place.
    pub name: String,
    /// What it is for, in words; empty: that shows by its tools.
    pub role: String,
}

/// What an agent may use: plans of it show its tools alone, and its gate refuses all others,
/// whatever plan a call comes under.
#[derive(Clone)]
pub struct WorkerView {
    pub name: String,
    /// Whose permissions hold beside that.
    pub caller: Caller,
    /// The tools of the agent alone; no other way leads from here to more.
    pub crib: Crib,
    /// What it was given, by name, and why.
    pub tools: Vec<AssignedTool>,
}

/// How tools are bound to the agents of a system.
#[derive(Debug, Clone)]
pub struct BindSettings {
    /// On whose behalf the agents work.
    pub caller: Caller,
    /// What is laid down for agents by name: it comes first.
    pub rules: AgentRules,
    /// With a task: tools for each agent at the most.
    pub limit: usize,
    /// Tools of one agent at the most; `None`: half more than an equal share.
    pub capacity: Option<usize>,
    pub overlap: Overlap,
    /// Whether more than one agent may have a tool that may change something.
    pub shares_writers: bool,
    /// What is done where no tool serves the task. With a search, all tools are shared out and shown
    /// lazily.
    pub fallback: SelectionFallback,
}

impl Default for BindSettings {
    fn default() -> Self {
        Self {
            caller: Caller::local(),
            rules: AgentRules::default(),
            limit: 5,
            capacity: None,
            overlap: Overlap::None,
            shares_writers: false,
            fallback: SelectionFallback::Nothing,
        }
    }
}

/// Gives each agent of a system its view of a crib, as [`BindSettings`] have it by default.
///
/// # Errors
/// See [`BindSettings::bind`].
pub fn bind(
    system: &mut dyn AgentSystem,
    crib: &Crib,
    task: Option<&str>,
) -> Result<ToolPartition, SelectionError> {
    BindSettings::default().bind(system, crib, task)
}

impl BindSettings {
    /// Shares the tools of a crib out over the agents of a system, and gives each its view. `task`:
    /// what they are to do together, so that only tools for it are shared out.
    ///
    /// Tells who has what; agents without tools are among its warnings. On an error no agent is
    /// given anything.
    ///
    /// # Errors
    /// The system has no agent, two of the same name, or there is no room for all tools; or nothing
    /// can be planned for the caller.
    pub fn bind(
        &self,
        system: &mut dyn AgentSystem,
        crib: &Crib,
        task: Option<&str>,
    ) -> Result<ToolPartition, SelectionError> {
        let plan = crib.plan(&self.caller, PlanRequest::default().show(Discovery::Direct))?;
        let workers = system.workers();
        let wish = |(at, worker): (usize, &WorkerRole)| {
            let numbered = format!("worker_{at}");
            let name = if worker.name.is_empty() { &numbered } else { &worker.name };
            self.rules.wish(&plan, name, &worker.role)
        };
        let mut request = PartitionRequest {
            task: task.map(|task| SelectionRequest {
                task: task.to_owned(),
                limit: self.limit.saturating_mul(workers.len()),
                fallback: self.fallback,
                ..SelectionRequest::default()
            }),
            agents: workers.iter().enumerate().map(wish).collect(),
            capacity: self.capacity,
            overlap: self.overlap,
            shares_writers: self.shares_writers,
        };
        let mut found = partition(&plan, &request)?;
        let searches = found.fallback == Some(SelectionFallback::Search);
        if searches {
            request.task = None;
            found = partition(&plan, &request)?;
            found.fallback = Some(SelectionFallback::Search);
        }
        for (agent, wish) in found.agents.iter().zip(&request.agents) {
            system.equip(self.view(crib, agent, searches && !wish.only));
        }
        Ok(found)
    }

    fn view(&self, crib: &Crib, agent: &AgentTools, is_lazy: bool) -> WorkerView {
        let tools: BTreeSet<ToolName> = agent.tools.iter().map(|tool| tool.name.clone()).collect();
        let crib = crib.narrowed(Arc::new(AssignedTools::new(tools)));
        if is_lazy {
            let own = DiscoverySettings::clone(&crib.discovery());
            crib.set_discovery(DiscoverySettings { mode: Discovery::Lazy, ..own });
        }
        let (name, tools) = (agent.name.clone(), agent.tools.clone());
        WorkerView { name, caller: self.caller.clone(), crib, tools }
    }
}

impl WorkerView {
    /// What one request of the agent may use.
    ///
    /// # Errors
    /// As [`Crib::plan`].
    pub fn plan(&self, request: PlanRequest) -> Result<Plan, PlanError> {
        self.crib.plan(&self.caller, request)
    }

    /// Runs calls of the agent.
    pub async fn run(&self, plan: &Plan, calls: Vec<Call>) -> Report {
        self.crib.run(plan, calls).await
    }
}
