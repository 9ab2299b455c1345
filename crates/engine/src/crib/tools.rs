//! Where the catalog of a crib comes from.

use std::sync::Arc;

use toolcrib_core::{Caller, Catalog};

use crate::catalog::{Absent, Publisher};
use crate::reading::Reading;

#[derive(Clone)]
pub(super) enum Tools {
    /// A set that never changes: nothing runs beside it.
    Fixed(Arc<Catalog>),
    Published(Arc<Publisher>),
}

impl Tools {
    /// The snapshot of now.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        match self {
            Self::Fixed(catalog) => Arc::clone(catalog),
            Self::Published(publisher) => publisher.catalog(),
        }
    }

    /// The same with what this caller has besides.
    pub(super) fn shown(&self, reading: Option<&Arc<Reading>>, caller: &Caller) -> Arc<Catalog> {
        let snapshot = self.catalog();
        match reading {
            Some(reading) => reading.catalog(caller, snapshot),
            None => snapshot,
        }
    }

    /// The sources that have no list now.
    pub(super) fn absent(&self) -> Vec<Absent> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Published(publisher) => publisher.absent(),
        }
    }
}
