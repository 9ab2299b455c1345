//! Which requests of a client have no answer yet: of two under one id the SDK gives one an answer,
//! whichever ends first, and neither side knows whose it is.

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use rmcp::model::RequestId;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::validation;
use crate::protocol::id::StrictRequestId;

/// Requests that were cancelled, of which the SDK may still hear the end.
const MOST_CANCELLED: usize = 1_000;

/// Requests of one client.
#[derive(Default)]
pub(crate) struct OpenRequests {
    open: HashSet<RequestId, RandomState>,
    /// As hashes, since an id may be long.
    cancelled: VecDeque<u64>,
}

impl OpenRequests {
    /// `false`: it asks under the id of another request.
    fn begins(&mut self, id: RequestId) -> bool {
        !self.was_cancelled(&id) && self.open.insert(id)
    }

    /// One of which it is known that no other has its id.
    pub(crate) fn has_begun(&mut self, id: &RequestId) {
        self.open.insert(id.clone());
    }

    /// Whether a request under this id has no answer yet, or may still end though nobody wants
    /// that.
    pub(crate) fn holds(&self, id: &RequestId) -> bool {
        self.open.contains(id) || self.was_cancelled(id)
    }

    pub(crate) fn cancelled(&mut self, id: &RequestId) {
        if self.open.remove(id) {
            self.cancelled.truncate(MOST_CANCELLED - 1);
            self.cancelled.push_front(self.open.hasher().hash_one(id));
        }
    }

    pub(crate) fn answered(&mut self, id: &RequestId) {
        self.open.remove(id);
    }

    /// Whether somebody waits for an answer.
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn was_cancelled(&self, id: &RequestId) -> bool {
        !self.cancelled.is_empty() && self.cancelled.contains(&self.open.hasher().hash_one(id))
    }
}

/// Those of a client at a pipe.
#[derive(Default)]
pub(crate) struct SharedOpenRequests(Mutex<OpenRequests>);

/// What is looked at of a message on its way out.
#[derive(Deserialize)]
struct OutgoingEnvelope {
    id: Option<StrictRequestId>,
    method: Option<IgnoredAny>,
}

impl SharedOpenRequests {
    fn requests(&self) -> MutexGuard<'_, OpenRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears a message of the client; `false`: it asks under the id of another request.
    pub(crate) fn hears(&self, message: &Map<String, Value>) -> bool {
        let Some(method) = message.get("method") else { return true };
        let mut requests = self.requests();
        if let Some(id) = validation::id(message) {
            return requests.begins(id);
        }
        let of = message.get("params").and_then(|params| params.get("requestId"));
        let of = of.filter(|_| method == "notifications/cancelled");
        if let Some(StrictRequestId(id)) = of.and_then(|id| StrictRequestId::deserialize(id).ok()) {
            requests.cancelled(&id);
        }
        true
    }

    /// Hears a message to the client.
    pub(crate) fn says(&self, line: &[u8]) {
        if let Ok(OutgoingEnvelope { id: Some(StrictRequestId(id)), method: None }) =
            serde_json::from_slice(line)
        {
            self.requests().answered(&id);
        }
    }
}
