//! Follows one source: loads it again when it says that it changed, or when it failed.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::sleep;
use toolcrib_core::Source;

use super::Publisher;
use super::state::TrackedSource;

/// A source that changes without a pause is loaded this often and no more.
const DEBOUNCE: Duration = Duration::from_millis(100);
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_mins(1);

/// Runs until the publisher, or the source within it, is gone.
pub(super) async fn follow(publisher: Weak<Publisher>, kept: Weak<TrackedSource>) {
    let mut retry = FIRST_RETRY;
    loop {
        // Held only for as long as it is asked: who lets go of a source means it.
        let Some((source, failed)) =
            kept.upgrade().map(|kept| (Arc::clone(&kept.source), kept.state().error.is_some()))
        else {
            return;
        };
        if failed {
            if let Some(kept) = kept.upgrade() {
                kept.waits(retry + DEBOUNCE);
            }
            tokio::select! {
                () = changed(&*source) => {}
                () = sleep(retry) => retry = (retry * 2).min(LAST_RETRY),
            }
        } else {
            retry = FIRST_RETRY;
            changed(&*source).await;
        }
        drop(source);
        sleep(DEBOUNCE).await;
        let (Some(publisher), Some(kept)) = (publisher.upgrade(), kept.upgrade()) else {
            return;
        };
        publisher.load(&kept).await;
    }
}

/// The same for what a source offers beside tools.
pub(super) async fn library(publisher: Weak<Publisher>, kept: Weak<TrackedSource>) {
    let mut retry = FIRST_RETRY;
    loop {
        let known = kept.upgrade().and_then(|kept| {
            let library = kept.library.as_ref()?;
            Some((Arc::clone(library.library()), library.failed()))
        });
        let Some((library, failed)) = known else { return };
        if failed {
            tokio::select! {
                () = asked(library.changed()) => {}
                () = sleep(retry) => retry = (retry * 2).min(LAST_RETRY),
            }
        } else {
            retry = FIRST_RETRY;
            asked(library.changed()).await;
        }
        drop(library);
        sleep(DEBOUNCE).await;
        let (Some(publisher), Some(kept)) = (publisher.upgrade(), kept.upgrade()) else {
            return;
        };
        publisher.load_library(&kept).await;
    }
}

async fn changed(source: &dyn Source) {
    asked(async { source.changed().await }).await;
}

/// Whoever panics over the question is looked at now and then.
async fn asked(change: impl Future<Output = ()>) {
    let asking = AssertUnwindSafe(change);
    if asking.catch_unwind().await.is_err() {
        sleep(LAST_RETRY).await;
    }
}
