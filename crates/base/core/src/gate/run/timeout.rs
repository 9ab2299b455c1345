//! Work with a limit of time. Most of it is done at once, and needs no clock.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;

/// `None`: it took too long.
pub(crate) async fn timeout_lazy<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(done) => Some(done),
        Poll::Pending => timeout(limit, work).await.ok(),
    }
}
