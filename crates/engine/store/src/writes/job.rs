//! A task on its way to the writer.

use tokio::sync::OwnedSemaphorePermit;

use super::task::WriteTask;

/// How far a job must have come before whoever asked goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// On its way is enough.
    Nothing,
    /// It outlives the process.
    Commit,
    /// It outlives a loss of power.
    Sync,
}

pub(crate) struct WriteJob {
    pub(crate) task: WriteTask,
    pub(crate) need: Durability,
    pub(crate) _room: OwnedSemaphorePermit,
}
