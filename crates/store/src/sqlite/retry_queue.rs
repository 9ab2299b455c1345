//! What must be written sooner or later: it is kept while the file cannot be written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use tokio::sync::oneshot;
use toolcrib_core::CallKey;

use super::writer::{Shared, Work};
use crate::error::StoreError;
use crate::rows::calls::End;
use crate::rows::keys::{Key, Settled};

/// Rows that wait for a file that cannot be written; more would be those of a day.
const MOST: usize = 100_000;

/// Bytes of an answer that waits; a larger one is remembered as one that is lost.
const HEAVY: usize = 256 * 1024;

/// An end that is to be written.
pub(crate) enum Owed {
    Call { key: String, end: End, _unknown: Option<Unknown> },
    Key { key: Key, settled: Settled },
}

impl Owed {
    pub(crate) fn call(key: CallKey, end: End, shared: &Shared) -> Self {
        let unknown = end.is_unknown().then(|| Unknown::of(&shared.unknown));
        Self::Call { key: key.to_string(), end, _unknown: unknown }
    }

    pub(crate) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        match self {
            Self::Call { key, end, .. } => end.write(connection, key),
            Self::Key { key, settled } => settled.write(key, connection),
        }
    }

    /// Keeps it for one of the next groups, as long as there is room.
    pub(crate) fn later(self, shared: &Shared) {
        let mut all = shared.owed();
        if all.len() < MOST {
            all.push(self.lightened());
        }
    }

    fn lightened(self) -> Self {
        match self {
            Self::Key { key, settled } if settled.size() > HEAVY => {
                Self::Key { key, settled: Settled::Lost }
            }
            light @ (Self::Key { .. } | Self::Call { .. }) => light,
        }
    }

    /// The same without its answer, if it has one.
    pub(crate) fn lost(&self) -> Option<Self> {
        match self {
            Self::Key { key, settled } if settled.size() > 0 => {
                Some(Self::Key { key: key.clone(), settled: Settled::Lost })
            }
            Self::Key { .. } | Self::Call { .. } => None,
        }
    }
}

/// Counts an end that nobody knows for as long as the file does not have it.
pub(crate) struct Unknown(Arc<AtomicUsize>);

impl Unknown {
    fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for Unknown {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Writes an end, and remembers it if it cannot be written now.
pub(crate) struct Finishing {
    pub(crate) owed: Owed,
    pub(crate) shared: Arc<Shared>,
    pub(crate) reply: Option<oneshot::Sender<Result<(), StoreError>>>,
}

impl Work for Finishing {
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
