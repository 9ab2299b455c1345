//! What must be written sooner or later: it is kept while the file cannot be written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use tokio::sync::oneshot;
use toolcrib_core::CallKey;

use super::writer::{WriteTask, WriterShared};
use crate::error::StoreError;
use crate::rows::calls::CallEnd;
use crate::rows::keys::{IdempotencyKey, KeySettlement};

/// Rows that wait for a file that cannot be written; more would be those of a day.
const MOST: usize = 100_000;

/// Bytes of an answer that waits; a larger one is remembered as one that is lost.
const HEAVY: usize = 256 * 1024;

/// An end that is to be written.
pub(crate) enum UnwrittenEnd {
    Call { key: String, end: CallEnd, _unknown: Option<UnknownEndGuard> },
    IdempotencyKey { key: IdempotencyKey, settled: KeySettlement },
}

impl UnwrittenEnd {
    pub(crate) fn call(key: CallKey, end: CallEnd, shared: &WriterShared) -> Self {
        let unknown = end.is_unknown().then(|| UnknownEndGuard::of(&shared.unknown));
        Self::Call { key: key.to_string(), end, _unknown: unknown }
    }

    pub(crate) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        match self {
            Self::Call { key, end, .. } => end.write(connection, key),
            Self::IdempotencyKey { key, settled } => settled.write(key, connection),
        }
    }

    /// Keeps it for one of the next groups, as long as there is room.
    pub(crate) fn later(self, shared: &WriterShared) {
        let mut all = shared.owed();
        if all.len() < MOST {
            all.push(self.lightened());
        }
    }

    fn lightened(self) -> Self {
        match self {
            Self::IdempotencyKey { key, settled } if settled.size() > HEAVY => {
                Self::IdempotencyKey { key, settled: KeySettlement::Lost }
            }
            light @ (Self::IdempotencyKey { .. } | Self::Call { .. }) => light,
        }
    }

    /// The same without its answer, if it has one.
    pub(crate) fn lost(&self) -> Option<Self> {
        match self {
            Self::IdempotencyKey { key, settled } if settled.size() > 0 => {
                Some(Self::IdempotencyKey { key: key.clone(), settled: KeySettlement::Lost })
            }
            Self::IdempotencyKey { .. } | Self::Call { .. } => None,
        }
    }
}

/// Counts an end that nobody knows for as long as the file does not have it.
pub(crate) struct UnknownEndGuard(Arc<AtomicUsize>);

impl UnknownEndGuard {
    fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for UnknownEndGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Writes an end, and remembers it if it cannot be written now.
pub(crate) struct EndTask {
    pub(crate) owed: UnwrittenEnd,
    pub(crate) shared: Arc<WriterShared>,
    pub(crate) reply: Option<oneshot::Sender<Result<(), StoreError>>>,
}

impl WriteTask for EndTask {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.owed.write(connection)
    }

    fn answer(self: Box<Self>, group: Result<(), StoreError>) {
        let Self { owed, shared, reply } = *self;
        if group.is_err() {
            owed.later(&shared);
        }
        if let Some(reply) = reply {
            // Whoever gave up in between does not hear it.
            let _ = reply.send(group);
        }
    }
}
