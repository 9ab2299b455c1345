//! Follows one source: loads it again when it says that it changed, or when it failed.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::sleep;
use toolcrib_core::Source;

use super::Publisher;

/// A source that changes without a pause is loaded this often and no more.
const DEBOUNCE: Duration = Duration::from_millis(100);
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_mins(1);

/// Runs until the publisher is gone.
pub(super) async fn follow(publisher: Weak<Publisher>, place: usize) {
    let mut retry = FIRST_RETRY;
    loop {
        let Some((source, failed)) = publisher.upgrade().and_then(|publisher| {
            let kept = publisher.sources.get(place)?;
            Some((Arc::clone(&kept.source), kept.state().error.is_some()))
        }) else {
            return;
        };
        if failed {
            tokio::select! {
                () = changed(&*source) => {}
                () = sleep(retry) => retry = (retry * 2).min(LAST_RETRY),
            }
        } else {
            retry = FIRST_RETRY;
            changed(&*source).await;
        }
        sleep(DEBOUNCE).await;
        let Some(publisher) = publisher.upgrade() else {
            return;
        };
        publisher.reload_at(place).await;
    }
}

/// A source that panics over the question is looked at now and then.
async fn changed(source: &dyn Source) {
    let asking = AssertUnwindSafe(async { source.changed().await });
    if asking.catch_unwind().await.is_err() {
        sleep(LAST_RETRY).await;
    }
}
