//! What is known of one source: its last good list, and how the last load went.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::task::JoinHandle;
use toolcrib_core::{
    Source, SourceError, SourceId, SourceResources as HeldLibrary, SourceTools, ToolName, Toolset,
};

use super::resource_loader;

/// A source with its list.
pub(super) struct TrackedSource {
    pub(super) id: SourceId,
    pub(super) source: Arc<dyn Source>,
    deadline: Duration,
    begun: AtomicU64,
    /// Loads that have not given their thread back.
    stuck: Arc<AtomicU64>,
    last: Mutex<LastLoad>,
    /// Snapshots know of its first load.
    is_published: AtomicBool,
    /// What it offers beside tools.
    pub(super) library: Option<resource_loader::ResourceLoader>,
    watchers: Mutex<Vec<JoinHandle<()>>>,
}

/// A load that is under way.
struct LoadGuard(Arc<AtomicU64>);

/// Loads of one source at the same time: a reload beside a slow one, and no more.
const LOADS: u64 = 2;

impl LoadGuard {
    fn take(count: &Arc<AtomicU64>) -> Option<Self> {
        let taken = count.fetch_add(1, Ordering::AcqRel) < LOADS;
        let held = Self(Arc::clone(count));
        taken.then_some(held)
    }
}

impl Drop for LoadGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Default)]
struct LastLoad {
    good: Option<(Toolset, Instant)>,
    unhidden: Vec<ToolName>,
    error: Option<String>,
    /// What it is that `error` tells of.
    absence: Absence,
    /// The number of the load that said so.
    load: u64,
    /// Since when it fails.
    failing: Option<Instant>,
    /// When it is asked again by itself.
    next_try: Option<Instant>,
    news: ListNews,
}

/// How the last list that had other tools differed from the one before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ListNews {
    /// 100 names at the most, as are those that went.
    pub added: Vec<ToolName>,
    pub removed: Vec<ToolName>,
}

/// Names of each kind that are kept of a difference.
const MOST_NAMES: usize = 100;

impl ListNews {
    /// `None`: both have tools of the same names.
    fn between(before: &Toolset, now: &Toolset) -> Option<Self> {
        let missing = |of: &Toolset, from: &Toolset| -> Vec<ToolName> {
            let names = of.iter().map(|tool| &tool.spec.name);
            names
                .filter(|name| from.get(name.as_str()).is_none())
                .take(MOST_NAMES)
                .cloned()
                .collect()
        };
        let news = Self { added: missing(now, before), removed: missing(before, now) };
        (news != Self::default()).then_some(news)
    }
}

impl Drop for TrackedSource {
    fn drop(&mut self) {
        let watchers = self.watchers.get_mut().unwrap_or_else(PoisonError::into_inner);
        watchers.iter().for_each(JoinHandle::abort);
    }
}

/// Why a source has never had a list: what callers may be told, where the operator has the error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Absence {
    /// Its first load is under way.
    #[default]
    Loading,
    Failed,
    /// It did not answer within its deadline.
    Slow,
    /// It panicked.
    Broken,
}

/// A source without a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentSource {
    pub source: SourceId,
    /// How the names of its tools would begin.
    pub stem: String,
    pub why: Absence,
}

/// How a source is doing, for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceState {
    pub id: SourceId,
    pub tools: usize,
    /// The list is an old one: the last load failed.
    pub stale: bool,
    /// Seconds since the list was loaded; `None`: never.
    pub age_seconds: Option<u64>,
    pub error: Option<String>,
    /// Tools in whose texts something was hidden; they are shown without it.
    pub unhidden: Vec<ToolName>,
    /// What came and went since it was loaded first.
    pub news: ListNews,
}

/// Since when a source fails, and when it is asked again by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTrouble {
    pub id: SourceId,
    pub since: Duration,
    /// `None`: it is asked just now.
    pub next_try: Option<Duration>,
}

impl TrackedSource {
    pub(super) fn new(id: SourceId, source: Arc<dyn Source>, deadline: Duration) -> Self {
        let library =
            source.library().map(|library| resource_loader::ResourceLoader::new(library, deadline));
        Self {
            id,
            source,
            library,
            deadline,
            begun: AtomicU64::new(0),
            stuck: Arc::default(),
            last: Mutex::default(),
            is_published: AtomicBool::new(false),
            watchers: Mutex::default(),
        }
    }

    pub(super) fn is(&self, id: &SourceId, source: &Arc<dyn Source>, deadline: Duration) -> bool {
        &self.id == id && Arc::ptr_eq(&self.source, source) && self.deadline == deadline
    }

    /// A task that follows the source; it ends with it.
    pub(super) fn follow(&self, watcher: JoinHandle<()>) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(watcher);
    }

    /// Whether the source gave a list in time. A source that panics has failed.
    pub(super) async fn load(&self) -> bool {
        let load = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let loaded = self.list().await.map(|tools| tools.unhidden());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // What began before the last answer knows less than it, however late it comes.
        if load > last.load {
            last.load = load;
            last.next_try = None;
            last.failing = match &loaded {
                Ok(_) => None,
                Err(_) => last.failing.or_else(|| Some(Instant::now())),
            };
            last.error = match loaded {
                Ok((tools, unhidden)) => {
                    let before = last.good.as_ref();
                    let news = before.and_then(|(before, _)| ListNews::between(before, &tools));
                    last.news = news.unwrap_or_else(|| std::mem::take(&mut last.news));
                    last.good = Some((tools, Instant::now()));
                    last.unhidden = unhidden;
                    None
                }
                Err((absence, error)) => {
                    last.absence = absence;
                    Some(error)
                }
            };
        }
        last.error.is_none()
    }

    /// One load on a task of its own, so that a source that blocks its thread delays no other.
    async fn list(&self) -> Result<Toolset, (Absence, String)> {
        let Some(held) = LoadGuard::take(&self.stuck) else {
            // A second load would take a second thread, and the retries all there are.
            return Err((Absence::Slow, "its last load still holds on to its thread".to_owned()));
        };
        let source = Arc::clone(&self.source);
        let mut task = tokio::spawn(async move {
            let _held = held;
            source.load().await
        });
        match tokio::time::timeout(self.deadline, &mut task).await {
            Ok(Ok(Ok(tools))) => Ok(tools),
            Ok(Ok(Err(error))) => Err((Absence::Failed, causes(&error))),
            Ok(Err(_)) => {
                Err((Absence::Broken, "it panicked while it loaded its tools".to_owned()))
            }
            Err(_) => {
                task.abort();
                // A load that waits is gone with this; one that blocks stays held.
                tokio::task::yield_now().await;
                let error = format!("it did not list its tools within {:?}", self.deadline);
                Err((Absence::Slow, error))
            }
        }
    }

    /// The list for a snapshot, if there ever was one.
    pub(super) fn shelf(&self) -> Option<SourceTools> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (tools, _) = last.good.as_ref()?;
        Some(SourceTools {
            source: self.id.clone(),
            tools: tools.clone(),
            stale: last.error.is_some(),
        })
    }

    /// Why there is none; `None`: there is one.
    pub(super) fn absent(&self) -> Option<AbsentSource> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let why = last.absence;
        let is_absent = last.good.is_none();
        drop(last);
        is_absent.then(|| AbsentSource {
            source: self.id.clone(),
            stem: self.source.name_prefix().unwrap_or_default().to_owned(),
            why,
        })
    }

    /// Whether it has not had its first chance: neither a list nor a failure is known of it.
    pub(super) fn is_starting(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.load == 0
    }

    /// Its library for a snapshot, if there ever were lists of it.
    pub(super) fn held(&self) -> Option<HeldLibrary> {
        self.library.as_ref()?.held(&self.id)
    }

    /// What is known of it has reached the snapshots.
    pub(super) fn has_been_published(&self) {
        self.is_published.store(true, Ordering::Release);
    }

    /// Of a first list nothing is said before its tools can be called.
    pub(super) fn state(&self) -> SourceState {
        if !self.is_published.load(Ordering::Acquire) {
            return SourceState {
                id: self.id.clone(),
                tools: 0,
                stale: false,
                age_seconds: None,
                error: None,
                unhidden: Vec::new(),
                news: ListNews::default(),
            };
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        SourceState {
            id: self.id.clone(),
            tools: last.good.as_ref().map_or(0, |(tools, _)| tools.len()),
            stale: last.good.is_some() && last.error.is_some(),
            age_seconds: last.good.as_ref().map(|(_, loaded)| loaded.elapsed().as_secs()),
            error: last.error.clone(),
            unhidden: last.unhidden.clone(),
            news: last.news.clone(),
        }
    }

    /// It is asked again by itself after this time.
    pub(super) fn waits(&self, pause: Duration) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.next_try = Some(Instant::now() + pause);
    }

    /// `None`: it does not fail.
    pub(super) fn trouble(&self) -> Option<SourceTrouble> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, next_try) = (last.failing?.elapsed(), last.next_try);
        let next_try = next_try.map(|next| next.saturating_duration_since(Instant::now()));
        Some(SourceTrouble { id: self.id.clone(), since, next_try })
    }
}

/// An error with its causes on one line.
fn causes(error: &SourceError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        // Some errors tell their cause themselves.
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
