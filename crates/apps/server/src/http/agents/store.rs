//! What agents answered lately, in memory: for `previous_response_id`, for looking at it again, and
//! for those that work in the background.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolcrib::Caller;
use toolcrib::agent::ThreadItem;

/// Answers that are kept; the oldest go first.
const MOST: usize = 1_000;
/// Bytes of all of them together.
const MOST_BYTES: usize = 256 << 20;

#[derive(Default)]
pub(crate) struct ResponseStore(Mutex<ResponseQueue>);

#[derive(Default)]
struct ResponseQueue {
    /// Oldest first.
    all: VecDeque<Arc<StoredResponse>>,
}

/// One answer of an agent.
pub(super) struct StoredResponse {
    pub(super) id: String,
    pub(super) caller: Arc<Caller>,
    /// Bytes, once it is over those of its answer too.
    pub(super) weight: AtomicUsize,
    /// The items that the request brought.
    pub(super) input: Vec<Value>,
    /// How far it is.
    pub(super) state: watch::Sender<ResponseState>,
    /// Stops it.
    pub(super) cancel: CancellationToken,
}

/// How far an answer has come.
#[derive(Default, Clone)]
pub(super) struct ResponseState {
    /// The object as clients see it.
    pub(super) response: Value,
    /// Its events so far, for those who come later.
    pub(super) events: Vec<Value>,
    pub(super) is_over: bool,
    /// The thread with the answer, once it is over.
    pub(super) thread: Vec<ThreadItem>,
}

impl ResponseStore {
    fn locked(&self) -> MutexGuard<'_, ResponseQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keep(&self, stored: Arc<StoredResponse>) {
        self.locked().all.push_back(stored);
        self.trim();
    }

    /// Forgets the oldest of too many.
    pub(super) fn trim(&self) {
        let mut queue = self.locked();
        let weight = |stored: &Arc<StoredResponse>| stored.weight.load(Ordering::Relaxed);
        let mut bytes: usize = queue.all.iter().map(weight).sum();
        while queue.all.len() > MOST || bytes > MOST_BYTES {
            let Some(oldest) = queue.all.pop_front() else { return };
            bytes = bytes.saturating_sub(weight(&oldest));
        }
    }

    /// How many of this caller are worked on.
    pub(super) fn working(&self, caller: &Caller) -> usize {
        let queue = self.locked();
        let theirs = queue.all.iter().filter(|stored| stored.caller.is(caller));
        theirs.filter(|stored| !stored.state.borrow().is_over).count()
    }

    /// An answer of this caller.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<StoredResponse>> {
        let queue = self.locked();
        let found = queue.all.iter().find(|stored| stored.id == id && stored.caller.is(caller));
        found.cloned()
    }

    pub(super) fn forget(&self, id: &str, caller: &Caller) -> bool {
        let mut queue = self.locked();
        let place = queue.all.iter().position(|stored| stored.id == id && stored.caller.is(caller));
        let Some(forgotten) = place.and_then(|place| queue.all.remove(place)) else { return false };
        forgotten.cancel.cancel();
        true
    }

    /// An item of an answer of this caller, by its own id.
    pub(super) fn item(&self, id: &str, caller: &Caller) -> Option<Value> {
        let queue = self.locked();
        let theirs = queue.all.iter().rev().filter(|stored| stored.caller.is(caller));
        let is_it = |item: &&Value| item.get("id").and_then(Value::as_str) == Some(id);
        theirs.into_iter().find_map(|stored| {
            let of_output = {
                let state = stored.state.borrow();
                let output = state.response.get("output").and_then(Value::as_array);
                output.and_then(|output| output.iter().find(is_it).cloned())
            };
            of_output.or_else(|| stored.input.iter().find(is_it).cloned())
        })
    }
}
