//! Which requests of a client have no answer yet: of two under one id nobody would know whose
//! answer it is.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use rmcp::model::RequestId;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::protocol::id::StrictRequestId;

/// Requests that were cancelled, whose ids their client may not use again.
const MOST_CANCELLED: usize = 1_000;
/// Requests of one client at the same time.
const MOST: usize = 1_024;

const TWICE: &str = "a request under this `id` has no answer yet: give each one of its own";
const TOO_MANY: &str = "so many requests of this client have no answer yet that no more are taken: \
                        wait for some of them";

/// Requests of one client.
#[derive(Default)]
pub(crate) struct OpenRequests(Mutex<OpenRequestTable>);

#[derive(Default)]
struct OpenRequestTable {
    open: HashMap<RequestId, CancellationToken, RandomState>,
    /// As hashes, since an id may be long.
    cancelled: VecDeque<u64>,
}

/// One request; its id is free again when this is dropped.
pub(crate) struct OpenRequest {
    requests: Arc<OpenRequests>,
    id: RequestId,
    /// Is cancelled when its client does not want the answer any more.
    pub(crate) cancelled: CancellationToken,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.requests.table().open.remove(&self.id);
    }
}

impl OpenRequests {
    fn table(&self) -> MutexGuard<'_, OpenRequestTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request. With `over` it is cancelled as well. `Err`: why it is not taken.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &RequestId,
        over: &CancellationToken,
    ) -> Result<OpenRequest, &'static str> {
        let mut table = self.table();
        if table.open.contains_key(id) || table.was_cancelled(id) {
            return Err(TWICE);
        }
        if table.open.len() >= MOST {
            return Err(TOO_MANY);
        }
        let cancelled = over.child_token();
        table.open.insert(id.clone(), cancelled.clone());
        drop(table);
        Ok(OpenRequest { requests: Arc::clone(self), id: id.clone(), cancelled })
    }

    /// Its client does not want the answer to a request.
    pub(crate) fn cancel(&self, id: Option<&Value>) {
        let Some(StrictRequestId(id)) = id.and_then(StrictRequestId::of) else { return };
        let mut table = self.table();
        if let Some(open) = table.open.remove(&id) {
            let hash = table.open.hasher().hash_one(&id);
            table.cancelled.truncate(MOST_CANCELLED - 1);
            table.cancelled.push_front(hash);
            drop(table);
            open.cancel();
        }
    }

    /// Whether somebody waits for an answer.
    pub(crate) fn are_open(&self) -> bool {
        !self.table().open.is_empty()
    }
}

impl OpenRequestTable {
    fn was_cancelled(&self, id: &RequestId) -> bool {
        !self.cancelled.is_empty() && self.cancelled.contains(&self.open.hasher().hash_one(id))
    }
}
