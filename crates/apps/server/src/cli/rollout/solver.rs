//! Who does the tasks: the agent of the file, made ready for one sample after the other.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::sync::Semaphore;
use toolcrib::agent::model::{ModelClient, ModelSettings};
use toolcrib::agent::{Agent, AgentTools, Budget, CheckPolicy, Rollout, seed_of};
use toolcrib::config::AgentSettings;
use toolcrib::ledger::MemoryLedger;
use toolcrib::mcp::McpSource;
use toolcrib::rules::Glob;
use toolcrib::{
    BoxFuture, Caller, Crib, Fingerprint, Intent, PlanRequest, Policy, ToolSpec, Verdict,
};

use super::tasks::PlannedSample;

/// The agent of the file, and what holds for every sample.
pub(super) struct Solver {
    pub(super) name: String,
    description: String,
    instructions: String,
    model: Arc<ModelClient>,
    crib: Crib,
    force: Vec<String>,
    budget: Budget,
    checks: CheckPolicy,
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
        (crib, caller): (Crib, Caller),
        wishes: SampleWishes,
        kept: SampleState,
    ) -> Result<Self> {
        let crib = match &settings.tools {
            Some(tools) => crib.narrowed(Arc::new(AgentTools::new(tools.clone()))),
            None => crib,
        };
        let crib = settings.within(crib);
        let AgentSettings { name, description, instructions, force, budget, .. } = settings;
        let places = Arc::new(Semaphore::new(wishes.requests));
        let client = |model: ModelSettings| {
            let model = ModelSettings { patience: wishes.patience, ..model };
            ModelClient::new(model).map(|model| Arc::new(model.in_places(&places)))
        };
        let model = client(settings.model)?;
        let judge = settings.judge.map(client).transpose()?;
        let judge = judge.unwrap_or_else(|| Arc::clone(&model));
        let checks = CheckPolicy::by_model(&judge, settings.checks, settings.gate);
        let SampleWishes { deadline, result_tokens, .. } = wishes;
        Ok(Self {
            name,
            description,
            instructions,
            model,
            crib,
            force,
            budget,
            checks,
            caller,
            deadline,
            result_tokens,
            kept,
        })
    }

    /// One sample, ready to begin.
    pub(super) fn rollout(&self, one: PlannedSample) -> Rollout {
        let PlannedSample { id, task, sample } = one;
        let is_drawn = self.model.settings().engine.is_some();
        let model = if is_drawn {
            Arc::new(self.model.seeded(seed_of(&id)))
        } else {
            Arc::clone(&self.model)
        };
        let crib = match &task.tools {
            None => self.crib.clone(),
            Some(patterns) => self.crib.narrowed(Arc::new(TaskTools::new(patterns))),
        };
        let force = if task.force.is_empty() { &self.force } else { &task.force };
        let wishes = PlanRequest { choices: force.clone(), ..PlanRequest::default() };
        // A caller of its own: what one sample leaves behind is nothing to another.
        let subject = format!("{}/{id}", self.caller.subject);
        let caller = Caller { subject, ..self.caller.clone() };
        let agent = Agent {
            name: self.name.clone(),
            description: self.description.clone(),
            instructions: task.instructions.clone().unwrap_or_else(|| self.instructions.clone()),
            model,
            crib,
            wishes: wishes.in_session(id.as_str()),
            budget: self.budget,
            checks: self.checks.clone(),
            // One trajectory is of one model.
            team: None,
        };
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
    pub(super) async fn release(&self, id: &str) {
        if let Some(memory) = &self.kept.memory {
            memory.forget_run(id);
        }
        for server in &self.kept.servers {
            server.end_session(id).await;
        }
    }
}

/// The tools that a task names: there are no others for it.
struct TaskTools {
    globs: Vec<Glob>,
    version: Fingerprint,
}

impl TaskTools {
    fn new(patterns: &[String]) -> Self {
        let globs = patterns.iter().map(|pattern| Glob::new(pattern)).collect();
        Self { globs, version: Fingerprint::of(&patterns.to_vec().into()) }
    }

    fn has(&self, tool: &ToolSpec) -> bool {
        self.globs.iter().any(|glob| glob.matches(tool.name.as_str()))
    }
}

impl Policy for TaskTools {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = if self.has(intent.tool) {
            Verdict::Allow
        } else {
            Verdict::Deny("the task leaves this tool out".to_owned())
        };
        Box::pin(std::future::ready(verdict))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(self.version)
    }
}
