//! Where the catalog of a crib comes from.

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_swap::ArcSwap;
use toolcrib_core::{Caller, Catalog, SourceId};

use crate::builtin::BuiltinTools;
use crate::catalog::{AbsentSource, CatalogView, Publisher};

#[derive(Clone)]
pub(super) enum CatalogSource {
    /// A set that never changes: nothing runs beside it.
    Fixed(Arc<Catalog>),
    /// What the window shows of it, which all clones look through.
    Published(Arc<Publisher>, Arc<ArcSwap<CatalogView>>),
}

impl CatalogSource {
    pub(super) fn of(publisher: Arc<Publisher>) -> Self {
        let window = Arc::new(ArcSwap::new(publisher.whole()));
        Self::Published(publisher, window)
    }

    /// The same for another crib, which may look at others of the sources.
    pub(super) fn apart(&self) -> Self {
        match self {
            Self::Fixed(catalog) => Self::Fixed(Arc::clone(catalog)),
            Self::Published(publisher, window) => {
                let window = Arc::new(ArcSwap::new(window.load_full()));
                Self::Published(Arc::clone(publisher), window)
            }
        }
    }

    /// Looks at these sources alone; `None`: at all.
    pub(super) fn narrow(&self, sources: Option<BTreeSet<SourceId>>) {
        if let Self::Published(publisher, window) = self {
            let of = |sources| publisher.window(sources);
            window.store(sources.map_or_else(|| publisher.whole(), of));
        }
    }

    /// The snapshot of now.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        match self {
            Self::Fixed(catalog) => Arc::clone(catalog),
            Self::Published(_, window) => window.load().catalog(),
        }
    }

    /// The same with what this caller has besides.
    pub(super) fn shown(&self, own: Option<&Arc<BuiltinTools>>, caller: &Caller) -> Arc<Catalog> {
        let snapshot = self.catalog();
        match own {
            Some(own) => own.catalog(caller, snapshot),
            None => snapshot,
        }
    }

    /// Whether one of the sources had not had its first chance when a snapshot was put together.
    pub(super) fn were_starting(&self, catalog: &Catalog) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Published(_, window) => {
                let window = window.load();
                catalog.starting().iter().any(|source| window.has(source))
            }
        }
    }

    /// Whether what one of them has beside tools was never asked for to the end.
    pub(super) fn is_stocking(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Published(publisher, window) => {
                let window = window.load();
                publisher.is_stocking(|source| window.has(source))
            }
        }
    }

    /// The sources that have no list now.
    pub(super) fn absent(&self) -> Vec<AbsentSource> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Published(publisher, window) => {
                let (mut absent, window) = (publisher.absent(), window.load());
                absent.retain(|absent| window.has(&absent.source));
                absent
            }
        }
    }
}
