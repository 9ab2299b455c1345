//! A source as an operator wants to have it: some of its tools, under a prefix, with changes.
//!
//! The owner of the tools stands within, so that other wishes do not start it anew: they make a
//! new wrapper, which takes the list that is there already.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolcrib_core::{BoxFuture, Resources, Source, SourceError, Tool, Toolset};

use super::resource_view::ResourceView;
use super::view_settings::SourceViewSettings;

/// The owner of the tools, shared by all wrappers that there were.
pub struct SharedSource {
    source: Arc<dyn Source>,
    /// The last list, unless a load is under way or failed.
    last: Mutex<Option<Toolset>>,
    /// The owner said that it has another list, and nobody has asked for it yet.
    is_changed: AtomicBool,
}

pub struct SourceView {
    owner: Arc<SharedSource>,
    fit: SourceViewSettings,
    /// How the names of its tools begin.
    stem: String,
    /// Whether the list that the owner has already will do: once.
    is_new: AtomicBool,
    /// What was known of its toolsets when they were made.
    known: AtomicU64,
}

impl SharedSource {
    pub fn new(source: Arc<dyn Source>) -> Arc<Self> {
        Arc::new(Self { source, last: Mutex::default(), is_changed: AtomicBool::new(false) })
    }

    fn last(&self) -> Option<Toolset> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.filter(|_| !self.is_changed.load(Ordering::Acquire))
    }

    fn keep(&self, tools: Option<Toolset>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    async fn load(&self) -> Result<Toolset, SourceError> {
        self.is_changed.store(false, Ordering::Release);
        // A load that fails, or that is dropped halfway, leaves no list for others to take.
        self.keep(None);
        let tools = self.source.load().await?;
        self.keep(Some(tools.clone()));
        Ok(tools)
    }
}

impl SourceView {
    pub fn new(owner: Arc<SharedSource>, fit: SourceViewSettings) -> Arc<Self> {
        let stem = fit.stem();
        Arc::new(Self { owner, fit, stem, is_new: AtomicBool::new(true), known: AtomicU64::new(0) })
    }
}

impl Source for SourceView {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async {
            let is_new = self.is_new.swap(false, Ordering::AcqRel);
            let tools = match self.owner.last().filter(|_| is_new) {
                Some(tools) => tools,
                None => self.owner.load().await?,
            };
            if let Some(splits) = self.fit.asks() {
                self.known.store(splits.version(), Ordering::Release);
            }
            self.fit.apply(&tools)
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let owner = async {
                // What a wrapper before this one heard is not said again.
                if !self.owner.is_changed.load(Ordering::Acquire) {
                    self.owner.source.changed().await;
                    self.owner.is_changed.store(true, Ordering::Release);
                }
            };
            let Some(splits) = self.fit.asks() else { return owner.await };
            tokio::select! {
                () = owner => {}
                () = splits.changed_since(self.known.load(Ordering::Acquire)) => {
                    // The tools are the same, in other groups.
                    self.is_new.store(true, Ordering::Release);
                }
            }
        })
    }

    fn name_prefix(&self) -> Option<&str> {
        Some(&self.stem)
    }

    fn change_announced(&self) -> BoxFuture<'static, ()> {
        self.owner.source.change_announced()
    }

    fn unlisted_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let may_be_had = self.fit.is_of_all() && self.fit.owner(name).is_none();
        may_be_had.then(|| self.owner.source.unlisted_tool(name)).flatten()
    }

    fn library(&self) -> Option<Arc<dyn Resources>> {
        let library = self.owner.source.library()?;
        Some(Arc::new(ResourceView { library, fit: self.fit.clone() }))
    }
}
