//! What the added tools work with: the executor, the catalog and the settings of now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::{ArcSwap, ArcSwapOption};
use toolcrib_core::{Caller, Catalog, Executor, MissingToolExplainer};

use crate::catalog::AbsentSource;
use crate::discovery::semantic::SemanticSearch;
use crate::discovery::settings::{Approver, DiscoverySettings};
use crate::discovery::unavailable::{self, UnavailableSource};

/// Where tickets are looked up and redeemed. What was made for plans outlives no desk: it holds
/// none, since a desk holds the snapshots that hold what was made.
pub(crate) struct MetaToolFactory {
    /// No other of this process has it.
    pub(super) id: u64,
    executor: Arc<ArcSwap<Executor>>,
    /// How tools are shown now.
    discovery: Arc<ArcSwap<DiscoverySettings>>,
    /// The snapshot of now, as a caller is shown it.
    catalog: Box<CatalogLookup>,
    /// How tools are found beside their words now.
    pub(super) meaning: Arc<ArcSwapOption<SemanticSearch>>,
    /// The sources that have no list now.
    absent: Box<dyn Fn() -> Vec<AbsentSource> + Send + Sync>,
    missing: MissingToolExplainer,
}

type CatalogLookup = dyn Fn(&Caller) -> Arc<Catalog> + Send + Sync;

impl MetaToolFactory {
    pub(crate) fn new(
        executor: Arc<ArcSwap<Executor>>,
        discovery: Arc<ArcSwap<DiscoverySettings>>,
        meaning: Arc<ArcSwapOption<SemanticSearch>>,
        (catalog, absent, missing): (
            impl Fn(&Caller) -> Arc<Catalog> + Send + Sync + 'static,
            impl Fn() -> Vec<AbsentSource> + Send + Sync + 'static,
            MissingToolExplainer,
        ),
    ) -> Arc<Self> {
        static FACTORIES: AtomicU64 = AtomicU64::new(0);
        let id = FACTORIES.fetch_add(1, Ordering::Relaxed);
        let (catalog, absent) = (Box::new(catalog), Box::new(absent));
        Arc::new(Self { id, executor, discovery, catalog, meaning, absent, missing })
    }

    /// Why a tool may be missing.
    pub(crate) fn missing(&self) -> MissingToolExplainer {
        Arc::clone(&self.missing)
    }

    /// Who says yes now, whatever was so when a plan was made.
    pub(crate) fn confirm(&self) -> Approver {
        self.discovery.load().confirm
    }

    /// The sources that give no tools now and that this caller may know of.
    pub(crate) fn away(&self, caller: &Caller) -> Vec<UnavailableSource> {
        let absent = (self.absent)();
        if absent.is_empty() {
            return Vec::new();
        }
        unavailable::known_to(caller, self.executor.load().policy(), absent)
    }

    pub(crate) fn executor(&self) -> Arc<Executor> {
        self.executor.load_full()
    }

    pub(crate) fn catalog(&self, caller: &Caller) -> Arc<Catalog> {
        (self.catalog)(caller)
    }
}
