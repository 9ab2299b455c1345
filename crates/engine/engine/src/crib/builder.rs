//! A crib in the making.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    AskBeforeDestroying, Catalog, CatalogAssembly, CribLimits, DoorHints, Executor, Ledger,
    NameConflict, Observer, Policy, Source, SourceId, SourceTools, Tool, Toolset,
};

use super::catalog_source::CatalogSource;
use super::{Crib, shared};
use crate::builtin::BuiltinTools;
use crate::catalog::{Judge, LOAD_DEADLINE, NamedSource, Publisher};
use crate::discovery::DiscoverySettings;
use crate::ledger::MemoryLedger;

/// A crib in the making: `build` starts the sources.
pub struct CribBuilder {
    sources: Vec<NamedSource>,
    policy: Arc<dyn Policy>,
    /// `None`: one in memory.
    ledger: Option<Arc<dyn Ledger>>,
    limits: CribLimits,
    judge: Judge,
    observer: Option<Arc<dyn Observer>>,
    discovery: DiscoverySettings,
    hints: DoorHints,
}

impl Crib {
    /// A crib of the host's own functions, with the default policy (what may destroy is asked
    /// about first), limits and a ledger in memory.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, NameConflict> {
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
}

impl Default for CribBuilder {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            policy: Arc::new(AskBeforeDestroying),
            ledger: None,
            limits: CribLimits::default(),
            judge: Box::new(|_, _| None),
            observer: None,
            discovery: DiscoverySettings::default(),
            hints: DoorHints::default(),
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
        self,
        id: &str,
        source: impl Source + 'static,
        deadline: Duration,
    ) -> Self {
        self.placed((SourceId::new(id), Arc::new(source), deadline))
    }

    /// Adds a source that others hold too.
    #[must_use]
    pub fn placed(mut self, source: NamedSource) -> Self {
        self.sources.push(source);
        self
    }

    #[must_use]
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    #[must_use]
    pub fn limits(mut self, limits: CribLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Has somebody see what is decided and how calls end.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The commands and addresses of which its words should tell, where there are some.
    #[must_use]
    pub fn hints(mut self, hints: DoorHints) -> Self {
        self.hints = hints;
        self
    }

    /// How the tools are shown to whoever does not say it.
    #[must_use]
    pub fn discovery(mut self, discovery: DiscoverySettings) -> Self {
        self.discovery = discovery;
        self
    }

    /// Has every tool of every list judged before it is used: `PinFile::judge` for a pin file.
    #[must_use]
    pub fn judge(mut self, judge: Judge) -> Self {
        self.judge = judge;
        self
    }

    /// Loads all sources, each within its deadline, and follows their changes. Must be called
    /// within a tokio runtime.
    pub async fn build(self) -> Crib {
        let crib = self.open();
        crib.start().await;
        crib
    }

    /// A crib whose sources have not begun: `Crib::start` loads them, and meanwhile whatever is
    /// there can be used.
    pub fn open(self) -> Crib {
        let catalog = self.limits.catalog.clone();
        let (executor, own) = gate(self.policy, self.ledger, self.limits, self.observer);
        let executor = executor.with_hints(self.hints);
        let publisher = Publisher::new(self.sources, self.judge, catalog);
        let crib =
            Crib::put_together(CatalogSource::of(publisher), shared(executor), own, Arc::default());
        crib.set_discovery(self.discovery);
        crib
    }

    /// A crib of one set that never changes: no source is started, and no runtime is needed.
    pub fn build_fixed(self, tools: Toolset) -> Crib {
        let bounds = &self.limits.catalog.clone();
        let (executor, own) = gate(self.policy, self.ledger, self.limits, self.observer);
        let executor = executor.with_hints(self.hints);
        let previous = &Catalog::default();
        let assembly =
            CatalogAssembly { judge: &*self.judge, ..CatalogAssembly::alone(previous, bounds) };
        let catalog =
            assembly.assemble([SourceTools { source: SourceId::code(), tools, stale: false }]);
        let tools = CatalogSource::Fixed(Arc::new(catalog));
        let crib = Crib::put_together(tools, shared(executor), own, Arc::default());
        crib.set_discovery(self.discovery);
        crib
    }
}

fn gate(
    policy: Arc<dyn Policy>,
    ledger: Option<Arc<dyn Ledger>>,
    limits: CribLimits,
    observer: Option<Arc<dyn Observer>>,
) -> (Executor, Option<Arc<BuiltinTools>>) {
    let ledger = ledger.unwrap_or_else(|| Arc::new(MemoryLedger::within(limits.tickets)));
    let own = BuiltinTools::of(&ledger);
    let executor = Executor::new(policy, ledger, limits).with_observer(observer);
    let executor = match &own {
        Some(own) => executor.with_result_reader(own.reader()),
        None => executor,
    };
    let executor = match own.as_ref().and_then(|own| own.looker()) {
        Some(looker) => executor.with_call_lookup(looker),
        None => executor,
    };
    (executor, own)
}
