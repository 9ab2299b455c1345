//! Follows one source: loads it again when it says that it changed, or when it failed.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::sleep;

use super::Publisher;

/// A source that changes without a pause is loaded this often and no more.
const DEBOUNCE: Duration = Duration::from_millis(100);
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_mins(1);

/// Runs until the publisher is gone.
pub(super) async fn follow(publisher: Weak<Publisher>, place: usize) {
    let mut retry = FIRST_RETRY;
    loop {
        let Some((id, source, failed)) = publisher.upgrade().and_then(|publisher| {
            let kept = publisher.sources.get(place)?;
            Some((kept.id.clone(), Arc::clone(&kept.source), kept.state().error.is_some()))
        }) else {
            return;
        };
        if failed {
            tokio::select! {
                () = source.changed() => {}
                () = sleep(retry) => retry = (retry * 2).min(LAST_RETRY),
            }
        } else {
            retry = FIRST_RETRY;
            source.changed().await;
        }
        sleep(DEBOUNCE).await;
        let Some(publisher) = publisher.upgrade() else {
            return;
        };
        publisher.reload(&id).await;
    }
}
