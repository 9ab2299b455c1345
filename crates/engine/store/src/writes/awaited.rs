//! A request whose answer somebody waits for.

use tokio::sync::oneshot;

use crate::error::StoreError;

/// What the writer is asked, and what it answers.
pub(crate) trait WriteRequest {
    type Answer;
}

pub(crate) struct AwaitedWrite<R: WriteRequest> {
    request: R,
    done: Option<R::Answer>,
    reply: oneshot::Sender<Result<R::Answer, StoreError>>,
}

impl<R: WriteRequest> AwaitedWrite<R> {
    /// A request, and where its answer comes.
    pub(crate) fn of(request: R) -> (Self, oneshot::Receiver<Result<R::Answer, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { request, done: None, reply }, answer)
    }

    /// Does it and keeps what came of it until the group has ended. It may be done again if the
    /// group was undone.
    pub(crate) fn run<E>(
        &mut self,
        work: impl FnOnce(&R) -> Result<R::Answer, E>,
    ) -> Result<(), E> {
        // Of an attempt that was undone nothing holds.
        self.done = None;
        // Whoever gave up was told that it was not done.
        if !self.reply.is_closed() {
            self.done = Some(work(&self.request)?);
        }
        Ok(())
    }

    pub(super) fn answer(self, group: Result<(), StoreError>) {
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
