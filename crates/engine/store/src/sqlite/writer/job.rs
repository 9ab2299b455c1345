//! What the writer is asked to do, and how whoever asked hears of it.

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::error::StoreError;

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
    pub(super) work: Box<dyn WriteTask>,
    pub(super) need: Durability,
    pub(super) _room: OwnedSemaphorePermit,
}

/// A part of a group.
pub(crate) trait WriteTask: Send {
    /// Does it within the group's transaction; an error undoes this part alone, unless SQLite
    /// has undone the whole. It is done anew if the group was undone for another's sake.
    fn run(&mut self, connection: &Connection) -> Result<(), rusqlite::Error>;

    /// Tells how the group and this part in it ended.
    fn answer(self: Box<Self>, group: Result<(), StoreError>);
}

struct ReplyTask<W, T> {
    work: W,
    done: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

/// Work whose result somebody waits for.
pub(super) fn asked<T: Send + 'static>(
    work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
) -> (Box<dyn WriteTask>, oneshot::Receiver<Result<T, StoreError>>) {
    let (reply, answer) = oneshot::channel();
    (Box::new(ReplyTask { work, done: None, reply }), answer)
}

impl<W, T> WriteTask for ReplyTask<W, T>
where
    W: Fn(&Connection) -> rusqlite::Result<T> + Send,
    T: Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        // Of an attempt that was undone nothing holds.
        self.done = None;
        // Whoever gave up was told that it was not done.
        if !self.reply.is_closed() {
            self.done = Some((self.work)(connection)?);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, group: Result<(), StoreError>) {
        let answer = match (group, self.done) {
            (Ok(()), Some(done)) => Ok(done),
            (Err(error), _) => Err(error),
            // Nobody waits.
            (Ok(()), None) => return,
        };
        // Whoever gave up in between does not hear it.
        let _ = self.reply.send(answer);
    }
}
