//! Loads sources side by side and publishes what they have as one immutable snapshot.
//!
//! While the sources start, every one that arrives makes a new snapshot, and names go by the order
//! of the sources. Once each has had its first chance, names stay with who has them: a tool that
//! comes late and finds its name taken is quarantined.

mod state;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::task::AbortHandle;
use toolcrib_core::{Assembly, Catalog, Fingerprint, Quarantine, Source, SourceId, ToolSpec};

use state::Kept;
pub use state::SourceState;

/// Decides whether a tool of a new list may be used at all: pins.
pub type Judge = Box<dyn Fn(&ToolSpec, Fingerprint) -> Option<Quarantine> + Send + Sync>;

/// How long a source may take to load unless it was added with a time of its own.
pub const LOAD_DEADLINE: Duration = Duration::from_secs(30);

/// Keeps the published catalog up to date.
pub struct Publisher {
    catalog: ArcSwap<Catalog>,
    sources: Vec<Kept>,
    judge: Judge,
    /// Held while a snapshot is put together; true once every source had its first chance.
    settled: Mutex<bool>,
    watchers: Mutex<Vec<AbortHandle>>,
}

impl Publisher {
    /// Sources in the order that decides between equal names at the start.
    pub fn new(
        sources: impl IntoIterator<Item = (SourceId, Arc<dyn Source>, Duration)>,
        judge: Judge,
    ) -> Arc<Self> {
        let kept = |(id, source, deadline)| Kept::new(id, source, deadline);
        Arc::new(Self {
            catalog: ArcSwap::default(),
            sources: sources.into_iter().map(kept).collect(),
            judge,
            settled: Mutex::new(false),
            watchers: Mutex::default(),
        })
    }

    /// Loads every source at once, each with its own deadline, and publishes after each of them.
    pub async fn start(&self) {
        join_all(self.sources.iter().map(async |source| {
            source.load().await;
            self.publish(false);
        }))
        .await;
        self.publish(true);
    }

    /// Loads one source again. `None`: there is no such source; `Some(false)`: it failed, and its
    /// last good list stays, marked stale.
    pub async fn reload(&self, id: &SourceId) -> Option<bool> {
        self.reload_at(self.sources.iter().position(|source| &source.id == id)?).await
    }

    /// The same for the source at a place: nothing keeps two of them from having one name.
    async fn reload_at(&self, place: usize) -> Option<bool> {
        let loaded = self.sources.get(place)?.load().await;
        self.publish(false);
        Some(loaded)
    }

    /// Follows the sources that say when they change, until the publisher is dropped.
    pub fn watch(self: &Arc<Self>) {
        let watching = (0..self.sources.len())
            .map(|place| tokio::spawn(watch::follow(Arc::downgrade(self), place)).abort_handle());
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).extend(watching);
    }

    /// The snapshot of now.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    pub fn sources(&self) -> Vec<SourceState> {
        self.sources.iter().map(Kept::state).collect()
    }

    /// Puts the lists of now together; `settle` ends the start.
    fn publish(&self, settle: bool) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let previous = &self.catalog.load_full();
        let assembly = Assembly { previous, settled: *settled, judge: &*self.judge };
        let catalog = assembly.assemble(self.sources.iter().filter_map(Kept::shelf));
        self.catalog.store(Arc::new(catalog));
        *settled |= settle;
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let watchers = self.watchers.get_mut().unwrap_or_else(PoisonError::into_inner);
        watchers.iter().for_each(AbortHandle::abort);
    }
}
