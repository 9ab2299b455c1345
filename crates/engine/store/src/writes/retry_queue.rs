//! What must be written sooner or later: it is kept while the file cannot be written.

use std::sync::Arc;

use tokio::sync::oneshot;
use toolcrib_core::CallKey;

use super::shared::WriterShared;
use super::unwritten_end::{UnknownEndGuard, UnwrittenEnd};
use crate::error::StoreError;
use crate::rows::calls::CallEnd;

/// Rows that wait for a file that cannot be written; more would be those of a day.
const MOST: usize = 100_000;

impl UnwrittenEnd {
    pub fn call(key: CallKey, end: CallEnd, shared: &WriterShared) -> Self {
        let unknown = end.is_unknown().then(|| UnknownEndGuard::of(&shared.unknown));
        Self::Call { key: key.to_string(), end, _unknown: unknown }
    }

    /// Keeps it for one of the next groups, as long as there is room.
    pub fn later(self, shared: &WriterShared) {
        let mut all = shared.owed();
        if all.len() < MOST {
            all.push(self.lightened());
        }
    }
}

/// Writes an end, and remembers it if it cannot be written now.
pub struct EndTask {
    pub owed: UnwrittenEnd,
    pub shared: Arc<WriterShared>,
    pub reply: Option<oneshot::Sender<Result<(), StoreError>>>,
}

impl EndTask {
    pub fn answer(self, group: Result<(), StoreError>) {
        let Self { owed, shared, reply } = self;
        if group.is_err() {
            owed.later(&shared);
        }
        if let Some(reply) = reply {
            // Whoever gave up in between does not hear it.
            let _ = reply.send(group);
        }
    }
}
