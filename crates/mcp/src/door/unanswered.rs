//! Which requests of a client at a pipe have no answer yet: of two under one id the SDK gives one an
//! answer, whichever ends first, and neither side knows whose it is.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::message;
use crate::id::Id;

/// Requests that were cancelled, of which the SDK may still hear the end.
const MOST_CANCELLED: usize = 1_000;

#[derive(Default)]
pub(super) struct Unanswered(Mutex<Requests>);

#[derive(Default)]
struct Requests {
    open: HashSet<RequestId>,
    cancelled: VecDeque<RequestId>,
}

/// What is looked at of a message on its way out.
#[derive(Deserialize)]
struct Said {
    id: Option<Id>,
    method: Option<IgnoredAny>,
}

impl Unanswered {
    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears a message of the client; `false`: it asks under the id of another request.
    pub(super) fn hears(&self, message: &Map<String, Value>) -> bool {
        let Some(method) = message.get("method") else { return true };
        let mut requests = self.requests();
        if let Some(id) = message::id(message) {
            return !requests.cancelled.contains(&id) && requests.open.insert(id);
        }
        let of = message.get("params").and_then(|params| params.get("requestId"));
        let of = of.filter(|_| method == "notifications/cancelled");
        if let Some(Id(id)) = of.and_then(|id| Id::deserialize(id).ok())
            && requests.open.remove(&id)
        {
            requests.cancelled.truncate(MOST_CANCELLED - 1);
            requests.cancelled.push_front(id);
        }
        true
    }

    /// Hears a message to the client.
    pub(super) fn says(&self, line: &[u8]) {
        if let Ok(Said { id: Some(Id(id)), method: None }) = serde_json::from_slice(line) {
            self.requests().open.remove(&id);
        }
    }
}
