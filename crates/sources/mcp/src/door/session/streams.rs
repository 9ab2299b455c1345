//! The streams of a session: one for what belongs to no request, and one for each request that
//! takes its time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::event_log::EventLog;

/// A client may ask for an answer again for so long.
const LIFE: Duration = Duration::from_mins(1);
/// Streams of requests that were answered, at the most; the oldest are forgotten.
const MOST: usize = 16;

pub(crate) struct SessionStreams {
    pub(crate) unrelated: Arc<EventLog>,
    requests: Mutex<RequestStreams>,
}

struct RequestStreams {
    /// The number of the last one.
    last: u64,
    kept: BTreeMap<u64, Arc<EventLog>>,
}

impl SessionStreams {
    /// Those of requests have numbers behind this one.
    pub(super) fn new(unrelated: Arc<EventLog>, first: u64) -> Self {
        let requests = RequestStreams { last: first, kept: BTreeMap::new() };
        Self { unrelated, requests: Mutex::new(requests) }
    }

    fn requests(&self) -> MutexGuard<'_, RequestStreams> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stream for a request, which nobody can ask for before it is [kept](Self::keep).
    pub(crate) fn of_request(&self) -> Arc<EventLog> {
        let mut requests = self.requests();
        requests.last += 1;
        self.unrelated.of_request(requests.last)
    }

    /// Keeps the stream of a request under its number, until a while after its end.
    pub(crate) fn keep(&self, log: &Arc<EventLog>) {
        let mut requests = self.requests();
        requests.kept.extend(log.number().map(|number| (number, Arc::clone(log))));
        requests.forget();
    }

    /// The stream of that number, if it is kept.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<EventLog>> {
        self.requests().kept.get(&number).map(Arc::clone)
    }

    pub(super) fn have_readers(&self) -> bool {
        self.unrelated.has_readers() || self.requests().kept.values().any(|log| log.has_readers())
    }

    /// Forgets streams that ended a while ago.
    pub(super) fn forget(&self) {
        self.requests().forget();
    }
}

impl RequestStreams {
    fn forget(&mut self) {
        let is_kept = |log: &EventLog| {
            let ended = log.ended();
            ended
                .is_none_or(|ended| ended.elapsed() < LIFE && (!log.is_over() || log.has_readers()))
        };
        self.kept.retain(|_, log| is_kept(log));
        let ended = self.kept.iter().filter(|(_, log)| log.ended().is_some());
        let ended: Vec<u64> = ended.map(|(number, _)| *number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(MOST)) {
            self.kept.remove(number);
        }
    }
}
