//! Work that goes on by itself if whoever waits for it goes away: what was begun has an end that
//! belongs on record.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use crate::BoxFuture;

/// It runs on the task of whoever waits, and has one of its own from the moment nobody does.
pub(crate) struct SpawnOnDrop<T: Send + 'static>(Option<BoxFuture<'static, T>>);

impl<T: Send + 'static> SpawnOnDrop<T> {
    pub(crate) fn new(work: BoxFuture<'static, T>) -> Self {
        Self(Some(work))
    }
}

impl<T: Send + 'static> Future for SpawnOnDrop<T> {
    /// `None`: it panicked.
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.0 else { return Poll::Ready(None) };
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        let done = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(done)) => Some(done),
            Err(_) => None,
        };
        self.0 = None;
        Poll::Ready(done)
    }
}

impl<T: Send + 'static> Drop for SpawnOnDrop<T> {
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}
