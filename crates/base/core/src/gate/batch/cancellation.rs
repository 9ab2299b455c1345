//! By which a host cancels a batch.

use std::pin::Pin;

use tokio_util::sync::CancellationToken;

/// By which a host cancels a batch, until it has the answers: what then waits for a person goes on.
pub(crate) struct BatchCancellation<'a> {
    pub(crate) host: &'a CancellationToken,
    pub(crate) batch: CancellationToken,
}

impl<'a> BatchCancellation<'a> {
    pub(crate) fn new(host: &'a CancellationToken) -> Self {
        let batch = CancellationToken::new();
        if host.is_cancelled() {
            batch.cancel();
        }
        Self { host, batch }
    }

    pub(crate) async fn hold<T>(&self, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.host.cancelled() => self.batch.cancel(),
        }
        work.await
    }
}
