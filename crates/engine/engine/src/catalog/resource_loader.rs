//! The library of one source: its last good lists, and whether the last load gave any.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::timeout;
use toolcrib_core::{ResourceList, Resources, SourceId, SourceResources};

pub(super) struct ResourceLoader {
    library: Arc<dyn Resources>,
    deadline: Duration,
    last: Mutex<Option<Arc<ResourceList>>>,
    failed: AtomicBool,
    /// Whether a load has ended, and what it gave can be seen.
    is_tried: AtomicBool,
}

impl ResourceLoader {
    pub(super) fn new(library: Arc<dyn Resources>, deadline: Duration) -> Self {
        let (failed, is_tried) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { library, deadline, last: Mutex::default(), failed, is_tried }
    }

    pub(super) fn library(&self) -> &Arc<dyn Resources> {
        &self.library
    }

    pub(super) fn failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// On a task of its own, so that one that blocks its thread delays no other.
    pub(super) async fn load(&self) {
        let library = Arc::clone(&self.library);
        let mut task = tokio::spawn(async move { library.load().await });
        let loaded = timeout(self.deadline, &mut task).await;
        task.abort();
        let holdings = loaded.ok().and_then(Result::ok).and_then(Result::ok);
        self.failed.store(holdings.is_none(), Ordering::Release);
        if let Some(mut holdings) = holdings {
            holdings.unhide();
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(holdings));
        }
    }

    pub(super) fn had_its_chance(&self) {
        self.is_tried.store(true, Ordering::Release);
    }

    /// Whether it has not had its first chance.
    pub(super) fn is_starting(&self) -> bool {
        !self.is_tried.load(Ordering::Acquire)
    }

    pub(super) fn held(&self, source: &SourceId) -> Option<SourceResources> {
        let holdings = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let (source, library) = (source.clone(), Arc::clone(&self.library));
        Some(SourceResources { source, library, holdings, stale: self.failed() })
    }
}
