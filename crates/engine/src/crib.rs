//! The whole tool layer behind one handle.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    AskBeforeDestroying, Assembly, BatchOptions, Call, Caller, Catalog, Conflict, Content,
    CribLimits, Decision, Executor, Ledger, LedgerError, Parked, Plan, PlanError, Policy, Report,
    Request, Response, ResultHandle, Run, Shelf, Source, SourceId, TicketError, TicketId, Tool,
    Toolset,
};

use crate::catalog::{Judge, LOAD_DEADLINE, Publisher, SourceState};
use crate::ledger::MemoryLedger;

/// Gathers tools, plans requests, runs calls. Cheap to clone; clones are the same crib.
#[derive(Clone)]
pub struct Crib {
    tools: Tools,
    executor: Executor,
}

/// Where the catalog comes from.
#[derive(Clone)]
enum Tools {
    /// A set that never changes: nothing runs beside it.
    Fixed(Arc<Catalog>),
    Published(Arc<Publisher>),
}

impl Crib {
    /// A crib of the host's own functions, with the default policy (what may destroy is asked
    /// about first), limits and a ledger in memory.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, Conflict> {
        Ok(Self::of(Toolset::of(tools)?))
    }

    /// The same of a toolset.
    pub fn of(tools: Toolset) -> Self {
        Self::builder().build_fixed(tools)
    }

    /// A crib with sources, a policy, limits, a ledger or pins of one's own.
    pub fn builder() -> CribBuilder {
        CribBuilder::default()
    }

    /// The snapshot of now.
    pub fn catalog(&self) -> Arc<Catalog> {
        match &self.tools {
            Tools::Fixed(catalog) => Arc::clone(catalog),
            Tools::Published(publisher) => publisher.catalog(),
        }
    }

    /// Decides what one request may use.
    pub fn plan(&self, caller: &Caller, request: Request) -> Result<Plan, PlanError> {
        Plan::make(&self.catalog(), caller, self.executor.policy(), request)
    }

    /// Answers every call of a batch exactly once, in call order.
    pub async fn run(&self, plan: &Plan, calls: Vec<Call>) -> Report {
        self.executor.run(plan, calls).await
    }

    /// The same with cancellation and progress.
    pub async fn run_with(&self, plan: &Plan, calls: Vec<Call>, options: BatchOptions) -> Report {
        self.executor.run_with(plan, calls, options).await
    }

    /// The open tickets of a caller, oldest first.
    pub async fn tickets(&self, caller: &Caller) -> Result<Vec<Parked>, LedgerError> {
        self.executor.ledger().parked(caller).await
    }

    /// Answers a parked call: runs it if it was approved, its tool is still the one that was
    /// asked about, and policy still lets it. `run` numbers the sources of the answer.
    pub async fn decide(
        &self,
        caller: &Caller,
        run: &Run,
        ticket: &TicketId,
        decision: Decision,
    ) -> Result<Response, TicketError> {
        self.executor.redeem(&self.catalog(), caller, run, (ticket, decision)).await
    }

    /// The whole of a result that was cut, for the caller whose call gave it.
    pub async fn result(&self, caller: &Caller, handle: &ResultHandle) -> Option<Arc<Content>> {
        self.executor.ledger().kept(caller, handle).await
    }

    /// How the sources are doing; empty for a crib of a fixed set.
    pub fn sources(&self) -> Vec<SourceState> {
        match &self.tools {
            Tools::Fixed(_) => Vec::new(),
            Tools::Published(publisher) => publisher.sources(),
        }
    }

    /// Loads one source again; see `Publisher::reload`.
    pub async fn reload(&self, source: &SourceId) -> Option<bool> {
        match &self.tools {
            Tools::Fixed(_) => None,
            Tools::Published(publisher) => publisher.reload(source).await,
        }
    }

    pub fn executor(&self) -> &Executor {
        &self.executor
    }
}

/// A crib in the making: `build` starts the sources.
pub struct CribBuilder {
    sources: Vec<(SourceId, Arc<dyn Source>, Duration)>,
    policy: Arc<dyn Policy>,
    ledger: Arc<dyn Ledger>,
    limits: CribLimits,
    judge: Judge,
}

impl Default for CribBuilder {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            policy: Arc::new(AskBeforeDestroying),
            ledger: Arc::new(MemoryLedger::default()),
            limits: CribLimits::default(),
            judge: Box::new(|_, _| None),
        }
    }
}

impl CribBuilder {
    /// Adds a source; the order decides between equal names when the sources start.
    #[must_use]
    pub fn source(self, id: &str, source: impl Source + 'static) -> Self {
        self.source_within(id, source, LOAD_DEADLINE)
    }

    /// Adds a source with a deadline for its lists.
    #[must_use]
    pub fn source_within(
        mut self,
        id: &str,
        source: impl Source + 'static,
        deadline: Duration,
    ) -> Self {
        self.sources.push((SourceId::new(id), Arc::new(source), deadline));
        self
    }

    #[must_use]
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = ledger;
        self
    }

    #[must_use]
    pub fn limits(mut self, limits: CribLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Has every tool of every list judged before it is used: `Lock::judge` for a pin file.
    #[must_use]
    pub fn judge(mut self, judge: Judge) -> Self {
        self.judge = judge;
        self
    }

    /// Loads all sources, each within its deadline, and follows their changes. Must be called
    /// within a tokio runtime.
    pub async fn build(self) -> Crib {
        let executor = Executor::new(self.policy, self.ledger, self.limits);
        let publisher = Publisher::new(self.sources, self.judge);
        publisher.start().await;
        publisher.watch();
        Crib { tools: Tools::Published(publisher), executor }
    }

    /// A crib of one set that never changes: no source is started, and no runtime is needed.
    pub fn build_fixed(self, tools: Toolset) -> Crib {
        let executor = Executor::new(self.policy, self.ledger, self.limits);
        let previous = &Catalog::default();
        let assembly = Assembly { previous, settled: false, judge: &*self.judge };
        let catalog = assembly.assemble([Shelf { source: SourceId::code(), tools, stale: false }]);
        Crib { tools: Tools::Fixed(Arc::new(catalog)), executor }
    }
}
