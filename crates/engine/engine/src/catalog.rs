//! Loads sources side by side and publishes what they have as one immutable snapshot.
//!
//! While the sources start, every one that arrives makes a new snapshot, and names go by the order
//! of the sources. Once each has had its first chance, names stay with who has them: a tool that
//! comes late and finds its name taken is quarantined.

mod follow;
mod resource_loader;
mod state;
mod view;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::sync::watch;
use toolcrib_core::{
    BoxFuture, Catalog, CatalogAssembly, CatalogBounds, Effect, Fingerprint, QuarantineReason,
    ResourceKind, Source, SourceId, SourceTools, ToolSpec, Toolset,
};

use state::TrackedSource;
pub use state::{Absence, AbsentSource, ListNews, SourceState, SourceTrouble};
pub use view::CatalogView;
use view::{CatalogChanges, SnapshotInputs};

/// Decides whether a tool of a new list may be used at all: pins.
pub type Judge = Box<dyn Fn(&ToolSpec, Fingerprint) -> Option<QuarantineReason> + Send + Sync>;

/// How long a source may take to load unless it was added with a time of its own.
pub const LOAD_DEADLINE: Duration = Duration::from_secs(30);

/// Keeps the published catalog up to date.
pub struct Publisher {
    whole: Arc<CatalogView>,
    sources: ArcSwap<Vec<Arc<TrackedSource>>>,
    judge: Judge,
    bounds: CatalogBounds,
    /// Held while snapshots are put together.
    making: Mutex<PublishState>,
    /// Told when a snapshot says something else than the one before.
    changes: watch::Sender<()>,
    prompts: watch::Sender<()>,
    resources: watch::Sender<()>,
}

#[derive(Default)]
struct PublishState {
    /// Whether every source had its first chance.
    settled: bool,
    /// Of some of the sources, for as long as somebody looks through them.
    windows: Vec<Weak<CatalogView>>,
}

/// A source with its name and the time that its list may take.
pub type NamedSource = (SourceId, Arc<dyn Source>, Duration);

impl Publisher {
    /// Sources in the order that decides between equal names at the start.
    pub fn new(
        sources: impl IntoIterator<Item = NamedSource>,
        judge: Judge,
        bounds: CatalogBounds,
    ) -> Arc<Self> {
        let kept = |(id, source, deadline)| Arc::new(TrackedSource::new(id, source, deadline));
        let sources: Vec<_> = sources.into_iter().map(kept).collect();
        let publisher = Arc::new(Self {
            whole: Arc::default(),
            sources: ArcSwap::from_pointee(sources),
            judge,
            bounds,
            making: Mutex::default(),
            changes: watch::Sender::new(()),
            prompts: watch::Sender::new(()),
            resources: watch::Sender::new(()),
        });
        // So that whoever comes before the start is told that it is to come.
        publisher.publish(false);
        publisher
    }

    /// Resolves when a snapshot after this moment says something else: another tool, another spec,
    /// another standing. A list that was loaded again and is the same wakes nobody.
    pub fn changed(&self) -> BoxFuture<'static, ()> {
        next(&self.changes)
    }

    /// The same of the prompts.
    pub fn prompts_changed(&self) -> BoxFuture<'static, ()> {
        next(&self.prompts)
    }

    /// The same of the resources and their templates.
    pub fn resources_changed(&self) -> BoxFuture<'static, ()> {
        next(&self.resources)
    }

    /// Wakes whoever waits for a change of any list: others of them may be seen now.
    pub fn tell_all(&self) {
        self.tell(&CatalogChanges { tools: true, prompts: true, resources: true });
    }

    /// Loads every source at once, each with its own deadline, and publishes after each of them.
    pub async fn start(&self) {
        self.load_all(&self.sources.load_full()).await;
        self.publish(true);
    }

    async fn load_all(&self, sources: &[Arc<TrackedSource>]) {
        join_all(sources.iter().map(async |source| {
            let tools = async {
                source.load().await;
                self.publish(false);
            };
            tokio::join!(tools, self.load_library(source));
        }))
        .await;
    }

    /// Loads one source again. `None`: there is no such source; `Some(false)`: it failed, and its
    /// last good list stays, marked stale.
    pub async fn reload(&self, id: &SourceId) -> Option<bool> {
        let sources = self.sources.load_full();
        let source = sources.iter().find(|source| &source.id == id)?;
        Some(self.load(source).await)
    }

    async fn load(&self, source: &TrackedSource) -> bool {
        let loaded = source.load().await;
        self.publish(false);
        loaded
    }

    async fn load_library(&self, source: &TrackedSource) {
        if let Some(library) = &source.library {
            library.load().await;
            self.publish(false);
            library.had_its_chance();
        }
    }

    /// Follows the sources that say when they change, until the publisher is dropped.
    pub fn watch(self: &Arc<Self>) {
        self.follow(&self.sources.load());
    }

    fn follow(self: &Arc<Self>, sources: &[Arc<TrackedSource>]) {
        for source in sources {
            source
                .follow(tokio::spawn(follow::follow(Arc::downgrade(self), Arc::downgrade(source))));
            if source.library.is_some() {
                let (publisher, source_of) = (Arc::downgrade(self), Arc::downgrade(source));
                source.follow(tokio::spawn(follow::library(publisher, source_of)));
            }
        }
    }

    /// Puts other sources in the place of those of now: what is the same object under the same
    /// name goes on with its list and is not loaded again, the others start or are let go.
    ///
    /// A plan that was made before keeps the tools it was made of.
    pub async fn replace(self: &Arc<Self>, sources: impl IntoIterator<Item = NamedSource>) {
        let before = self.sources.load_full();
        let mut fresh = Vec::new();
        let kept = |(id, source, deadline): NamedSource| {
            let same = before.iter().find(|old| old.is(&id, &source, deadline));
            same.cloned().unwrap_or_else(|| {
                let new = Arc::new(TrackedSource::new(id, source, deadline));
                fresh.push(Arc::clone(&new));
                new
            })
        };
        let now: Vec<_> = sources.into_iter().map(kept).collect();
        self.sources.store(Arc::new(now));
        self.publish(false);
        let publisher = Arc::clone(self);
        // On a task of its own: a source must not stay unloaded because nobody waits for it.
        let loading = tokio::spawn(async move {
            publisher.load_all(&fresh).await;
            publisher.follow(&fresh);
        });
        // It ends early only with the runtime.
        let _ = loading.await;
    }

    /// The snapshot of now.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.whole.catalog()
    }

    /// What there is of all sources.
    pub fn whole(&self) -> Arc<CatalogView> {
        Arc::clone(&self.whole)
    }

    /// What there is of these sources, as if there were no others.
    pub fn window(&self, of: BTreeSet<SourceId>) -> Arc<CatalogView> {
        let mut making = self.making();
        let mut known = making.windows.iter().filter_map(Weak::upgrade);
        if let Some(known) = known.find(|window| window.is_of(&of)) {
            return known;
        }
        let window = Arc::new(CatalogView::of(of, &self.whole));
        let (sources, whole) = (self.sources.load(), self.whole.catalog());
        let lists = self.lists(&sources, making.settled);
        window.publish(&lists, Some((&whole, &whole)));
        making.windows.push(Arc::downgrade(&window));
        window
    }

    /// The only source that passes the test, if it is one.
    pub fn sole(&self, is_wanted: impl Fn(&SourceId) -> bool) -> Option<SourceId> {
        let sources = self.sources.load();
        let mut wanted = sources.iter().filter(|source| is_wanted(&source.id));
        let first = wanted.next()?;
        wanted.next().is_none().then(|| first.id.clone())
    }

    /// A snapshot of one tool of a source that does not list it. `None`: there may be none of this
    /// name, or the source is known to have it.
    pub fn unlisted(&self, id: &SourceId, name: &str) -> Option<Catalog> {
        let sources = self.sources.load();
        let source = sources.iter().find(|source| &source.id == id)?;
        let tool = source.source.unlisted_tool(name).filter(|_| !self.catalog().knows(name, id))?;
        let tools = Toolset::of([tool]).ok()?;
        let previous = &Catalog::default();
        let assembly = CatalogAssembly {
            judge: &*self.judge,
            ..CatalogAssembly::alone(previous, &self.bounds)
        };
        Some(assembly.assemble([SourceTools { source: id.clone(), tools, stale: false }]))
    }

    /// Whether anything is taken that no list names: not where there are pins.
    pub fn takes_unlisted(&self) -> bool {
        let spec = ToolSpec::new("unlisted", "", Effect::Destroy);
        spec.is_ok_and(|spec| (self.judge)(&spec, spec.fingerprint()).is_none())
    }

    /// Resolves when a source says once more that a list of it changed, though it is the same;
    /// `None`: that of its tools.
    pub fn announced(&self, id: &SourceId, kind: Option<ResourceKind>) -> BoxFuture<'static, ()> {
        let sources = self.sources.load();
        let source = sources.iter().find(|source| &source.id == id);
        let announced = source.and_then(|source| match kind {
            None => Some(source.source.change_announced()),
            Some(kind) => Some(source.library.as_ref()?.library().change_announced(kind)),
        });
        announced.unwrap_or_else(|| Box::pin(std::future::pending()))
    }

    pub fn sources(&self) -> Vec<SourceState> {
        self.sources.load().iter().map(|source| source.state()).collect()
    }

    /// Those that fail.
    pub fn troubles(&self) -> Vec<SourceTrouble> {
        self.sources.load().iter().filter_map(|source| source.trouble()).collect()
    }

    /// Has every tool judged again, as the judge does now; nothing is loaded.
    pub fn judge_again(&self) {
        self.publish(false);
    }

    /// Those that have no list, and never had one.
    pub fn absent(&self) -> Vec<AbsentSource> {
        self.sources.load().iter().filter_map(|source| source.absent()).collect()
    }

    /// Whether what one of these sources has beside tools was never asked for to the end.
    pub fn is_stocking(&self, is_wanted: impl Fn(&SourceId) -> bool) -> bool {
        let sources = self.sources.load();
        let starts = |source: &Arc<TrackedSource>| {
            source.library.as_ref().is_some_and(resource_loader::ResourceLoader::is_starting)
        };
        sources.iter().any(|source| is_wanted(&source.id) && starts(source))
    }

    /// Puts the lists of now together; `settle` ends the start.
    fn publish(&self, settle: bool) {
        let mut making = self.making();
        let sources = self.sources.load();
        let lists = self.lists(&sources, making.settled);
        let loaded: Vec<_> = sources.iter().filter(|source| !source.is_starting()).collect();
        let before = self.whole.catalog();
        let mut news = self.whole.publish(&lists, None);
        let now = self.whole.catalog();
        making.windows.retain(|window| window.strong_count() > 0);
        for window in making.windows.iter().filter_map(Weak::upgrade) {
            news |= window.publish(&lists, Some((&before, &now)));
        }
        making.settled |= settle;
        for source in loaded {
            source.has_been_published();
        }
        self.tell(&news);
    }

    fn lists<'a>(&'a self, sources: &'a [Arc<TrackedSource>], settled: bool) -> SnapshotInputs<'a> {
        SnapshotInputs { sources, settled, judge: &*self.judge, bounds: &self.bounds }
    }

    fn making(&self) -> MutexGuard<'_, PublishState> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, news: &CatalogChanges) {
        for (is_other, changes) in [
            (news.tools, &self.changes),
            (news.prompts, &self.prompts),
            (news.resources, &self.resources),
        ] {
            if is_other {
                changes.send_replace(());
            }
        }
    }
}

fn next(changes: &watch::Sender<()>) -> BoxFuture<'static, ()> {
    let mut changes = changes.subscribe();
    Box::pin(async move {
        if changes.changed().await.is_err() {
            // Nothing changes any more.
            std::future::pending::<()>().await;
        }
    })
}
