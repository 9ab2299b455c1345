//! What agents answered lately, in memory: for `previous_response_id`, for looking at it again, and
//! for those that work in the background.

use std::collections::{HashMap, HashSet, VecDeque};
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

    /// Forgets the oldest of too many, of the caller that has most; what is worked on stays.
    pub(super) fn trim(&self) {
        let mut queue = self.locked();
        let weight = |stored: &StoredResponse| stored.weight.load(Ordering::Relaxed);
        loop {
            let bytes: usize = queue.all.iter().map(|stored| weight(stored)).sum();
            if queue.all.len() <= MOST && bytes <= MOST_BYTES {
                return;
            }
            let mut of_callers: HashMap<(&str, &str), usize> = HashMap::new();
            let over = queue.all.iter().filter(|stored| stored.state.borrow().is_over);
            for stored in over.clone() {
                let caller = (&*stored.caller.tenant, &*stored.caller.subject);
                *of_callers.entry(caller).or_default() += weight(stored);
            }
            let most = of_callers.into_iter().max_by_key(|(_, bytes)| *bytes);
            let Some((heaviest, _)) = most else { return };
            let place = queue.all.iter().position(|stored| {
                let caller = (&*stored.caller.tenant, &*stored.caller.subject);
                caller == heaviest && stored.state.borrow().is_over
            });
            let Some(place) = place else { return };
            queue.all.remove(place);
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

    /// Items of answers of this caller, by their own ids.
    pub(super) fn items(
        &self,
        wanted: &HashSet<String>,
        caller: &Caller,
    ) -> HashMap<String, Value> {
        let theirs: Vec<_> = {
            let queue = self.locked();
            queue.all.iter().rev().filter(|stored| stored.caller.is(caller)).cloned().collect()
        };
        let mut found = HashMap::new();
        for stored in theirs {
            let state = stored.state.borrow();
            let output = state.response.get("output").and_then(Value::as_array);
            for item in output.into_iter().flatten().chain(&stored.input) {
                let id = item.get("id").and_then(Value::as_str).filter(|id| wanted.contains(*id));
                if let Some(id) = id {
                    // Of two the later one, which was seen first.
                    found.entry(id.to_owned()).or_insert_with(|| item.clone());
                }
            }
        }
        found
    }
}
