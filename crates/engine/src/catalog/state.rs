//! What is known of one source: its last good list, and how the last load went.

use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde::Serialize;
use toolcrib_core::{Shelf, Source, SourceError, SourceId, Toolset};

/// A source with its list.
pub(super) struct Kept {
    pub(super) id: SourceId,
    pub(super) source: Arc<dyn Source>,
    deadline: Duration,
    begun: AtomicU64,
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    good: Option<(Toolset, Instant)>,
    error: Option<String>,
    /// The number of the load that said so.
    load: u64,
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
}

impl Kept {
    pub(super) fn new(id: SourceId, source: Arc<dyn Source>, deadline: Duration) -> Self {
        Self { id, source, deadline, begun: AtomicU64::new(0), last: Mutex::default() }
    }

    /// Whether the source gave a list in time. A source that panics has failed.
    pub(super) async fn load(&self) -> bool {
        let load = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let loading = AssertUnwindSafe(async { self.source.load().await }).catch_unwind();
        let loaded = match tokio::time::timeout(self.deadline, loading).await {
            Ok(Ok(Ok(tools))) => Ok(tools),
            Ok(Ok(Err(error))) => Err(causes(&error)),
            Ok(Err(_)) => Err("it panicked while it loaded its tools".to_owned()),
            Err(_) => Err(format!("it did not list its tools within {:?}", self.deadline)),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // What began before the last answer knows less than it, however late it comes.
        if load > last.load {
            last.load = load;
            last.error = loaded.map(|tools| last.good = Some((tools, Instant::now()))).err();
        }
        last.error.is_none()
    }

    /// The list for a snapshot, if there ever was one.
    pub(super) fn shelf(&self) -> Option<Shelf> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (tools, _) = last.good.as_ref()?;
        Some(Shelf { source: self.id.clone(), tools: tools.clone(), stale: last.error.is_some() })
    }

    pub(super) fn state(&self) -> SourceState {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        SourceState {
            id: self.id.clone(),
            tools: last.good.as_ref().map_or(0, |(tools, _)| tools.len()),
            stale: last.good.is_some() && last.error.is_some(),
            age_seconds: last.good.as_ref().map(|(_, loaded)| loaded.elapsed().as_secs()),
            error: last.error.clone(),
        }
    }
}

/// An error with its causes on one line.
fn causes(error: &SourceError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
