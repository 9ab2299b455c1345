//! Tasks of clients, as a ledger keeps them: it knows whose they are, and what their clients were told.

use std::time::Duration;

use super::error::LedgerError;
use crate::BoxFuture;
use crate::call::caller::Caller;

/// Bytes of the longest state that is kept.
pub const LONGEST_STATE: usize = 1024 * 1024;

/// Keeps what is known of tasks beyond the process in which they live.
pub trait TaskLedger: Send + Sync {
    /// Writes how far a task has come, in the place of what was; its end is never written over. It is
    /// forgotten after that life.
    fn put_task(&self, task: TaskRecord, life: Duration) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// The task of that name, if its life is not over.
    fn find_task<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, LedgerError>>;
}

/// How far a task of a client has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRecord {
    pub name: String,
    /// Who began it.
    pub caller: Caller,
    /// The profile at whose door it began; `None`: that of the whole crib.
    pub profile: Option<String>,
    /// What its client is told, in at most [`LONGEST_STATE`] bytes.
    pub state: String,
    pub has_ended: bool,
}
