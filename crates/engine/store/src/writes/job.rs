//! A task on its way to the writer.

use tokio::sync::OwnedSemaphorePermit;

use super::task::WriteTask;

/// How far a job must have come before whoever asked goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// On its way is enough.
    Nothing,
    /// It outlives the process.
    Commit,
    /// It outlives a loss of power.
    Sync,
}

pub struct WriteJob {
    pub task: WriteTask,
    pub need: Durability,
    _room: OwnedSemaphorePermit,
}

impl WriteJob {
    /// A task that has been given room to wait in.
    pub(super) fn of(task: WriteTask, need: Durability, room: OwnedSemaphorePermit) -> Self {
        Self { task, need, _room: room }
    }
}

/// What takes groups of jobs and writes them; the thread that writes has it for itself.
pub trait GroupWriter: Send {
    /// Does the jobs as one, and tells each how it ended.
    fn commit(&mut self, jobs: Vec<WriteJob>);

    /// Removes a bounded number of old rows; whether there may be more.
    fn prune(&mut self) -> bool;

    /// Sees whether it can be written again.
    fn probe(&mut self);

    /// Nothing comes any more.
    fn end(self);
}
