//! A request whose answer somebody waits for.

use tokio::sync::oneshot;

use crate::error::StoreError;

/// What the writer is asked, and what it answers.
pub trait WriteRequest {
    type Answer;
}

pub struct AwaitedWrite<R: WriteRequest> {
    request: R,
    done: Option<R::Answer>,
    reply: oneshot::Sender<Result<R::Answer, StoreError>>,
}

impl<R: WriteRequest> AwaitedWrite<R> {
    /// A request, and where its answer comes.
    pub fn of(request: R) -> (Self, oneshot::Receiver<Result<R::Answer, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { request, done: None, reply }, answer)
    }

    /// Does it and keeps what came of it until the group has ended. It may be done again if the
    /// group was undone.
    pub fn run<E>(&mut self, work: impl FnOnce(&R) -> Result<R::Answer, E>) -> Result<(), E> {
        if let Some(request) = self.begin() {
            self.done = Some(work(request)?);
        }
        Ok(())
    }

    /// The same for what takes a while.
    pub async fn run_async<E>(
        &mut self,
        work: impl AsyncFnOnce(&R) -> Result<R::Answer, E>,
    ) -> Result<(), E> {
        if let Some(request) = self.begin() {
            self.done = Some(work(request).await?);
        }
        Ok(())
    }

    /// Changes what came of it as long as the group lasts, if it was done.
    pub fn revise(&mut self, change: impl FnOnce(&R, &mut R::Answer)) {
        if let Some(done) = &mut self.done {
            change(&self.request, done);
        }
    }

    /// What was asked, if somebody waits for it still.
    fn begin(&mut self) -> Option<&R> {
        // Of an attempt that was undone nothing holds.
        self.done = None;
        // Whoever gave up was told that it was not done.
        (!self.reply.is_closed()).then_some(&self.request)
    }

    /// Whether somebody waits for it still.
    pub fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    pub fn request(&self) -> &R {
        &self.request
    }

    pub fn answer(self, group: Result<(), StoreError>) {
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
