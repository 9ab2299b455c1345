//! The end of the program behind two pipes, which is not the end of the pipes: whatever it started
//! may hold them open.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use toolcrib_child::ExitWatcher;

use crate::client::inflight::InFlight;

/// How long what a program started may take to end by itself, and to hand on what was said last.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// How long the pipes may take to end once nobody is known to hold them.
const CLOSING: Duration = Duration::from_secs(2);

/// Ends a connection once its program has ended by itself, with all that this left behind.
pub(crate) fn follow(ending: ExitWatcher, calls: Arc<InFlight>) {
    tokio::spawn(async move {
        ending.ended().await;
        calls.deaf.cancel();
        if timeout(LAST_WORDS, calls.closed.cancelled()).await.is_err() {
            // Its last answers stand in the pipe, and are read until that ends.
            ending.finish();
            let _ = timeout(CLOSING, calls.closed.cancelled()).await;
        }
        calls.closed.cancel();
    });
}
