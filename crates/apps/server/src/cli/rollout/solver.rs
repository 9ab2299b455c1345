//! Who does the tasks: the agent of the file, made ready for one sample after the other.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::sync::Semaphore;
use toolcrib_agent::model::{ModelClient, ModelSettings};
use toolcrib_agent::{Agent, AgentTools, Rollout, Trajectory, seed_of};
use toolcrib_config::{AgentSettings, Config};
use toolcrib_core::{Caller, Policy};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_mcp::McpSource;

use super::tasks::PlannedSample;
use crate::http::agents::chosen::team;

/// The agent of the file with those that work for it, and what holds for every sample.
pub(super) struct Solver {
    agent: Agent,
    caller: Caller,
    deadline: Option<Duration>,
    result_tokens: Option<usize>,
    kept: SampleState,
}

/// Where something of a sample is kept while it goes on.
pub(super) struct SampleState {
    /// Its calls, if not on a disk.
    pub(super) memory: Option<Arc<MemoryLedger>>,
    /// What it has of these servers for itself.
    pub(super) servers: Vec<Arc<McpSource>>,
}

/// What the command line says of every sample.
#[derive(Clone, Copy)]
pub(super) struct SampleWishes {
    /// Requests to the model at a time.
    pub(super) requests: usize,
    pub(super) deadline: Option<Duration>,
    pub(super) patience: Duration,
    pub(super) result_tokens: Option<usize>,
}

impl Solver {
    pub(super) fn new(
        settings: AgentSettings,
        file: &Config,
        (crib, caller): (Crib, Caller),
        wishes: SampleWishes,
        kept: SampleState,
    ) -> Result<Self> {
        let SampleWishes { requests, deadline, patience, result_tokens } = wishes;
        let places = Arc::new(Semaphore::new(requests));
        let client = |model: ModelSettings| {
            let client = ModelClient::new(ModelSettings { patience, ..model })?;
            Ok(client.in_places(&places))
        };
        let agent = team::of_file(settings, file, crib, &client)?;
        Ok(Self { agent, caller, deadline, result_tokens, kept })
    }

    /// One sample, ready to begin.
    pub(super) fn rollout(&self, one: PlannedSample) -> Rollout {
        let PlannedSample { id, task, sample } = one;
        let mut agent = self.agent.clone();
        if let Some(tools) = &task.tools {
            let tools: Arc<dyn Policy> = Arc::new(AgentTools::new(tools.clone()));
            agent.narrow(&tools);
        }
        if !task.force.is_empty() {
            agent.wishes.choices.clone_from(&task.force);
        }
        if let Some(instructions) = &task.instructions {
            agent.instructions.clone_from(instructions);
        }
        agent.for_sample(&id, seed_of(&id));
        // A caller of its own: what one sample leaves behind is nothing to another.
        let subject = format!("{}/{id}", self.caller.subject);
        let caller = Caller { subject, ..self.caller.clone() };
        Rollout {
            id,
            task,
            sample,
            agent: Arc::new(agent),
            caller: Arc::new(caller),
            deadline: self.deadline,
            result_tokens: self.result_tokens,
        }
    }

    /// The sample of this id is over, whatever came of it.
    pub(super) async fn release(&self, id: &str, came_of_it: Option<&Trajectory>) {
        if let Some(memory) = &self.kept.memory {
            memory.forget_run(id);
            let children = came_of_it.into_iter().flat_map(|one| &one.children);
            children.for_each(|child| memory.forget_run(&child.run));
        }
        for server in &self.kept.servers {
            server.end_session(id).await;
        }
    }
}
