//! One call at a time, for a server whose questions do not say whose they are.
//!
//! Over a pipe a question of the older way names no call. While several calls run it is put away,
//! since it could be anybody's, and from then on each call has the server for itself: what is asked
//! meanwhile is of that one.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::Calls;

pub(super) struct Turns {
    are_taken: AtomicBool,
    free: Semaphore,
}

impl Default for Turns {
    fn default() -> Self {
        Self { are_taken: AtomicBool::new(false), free: Semaphore::new(1) }
    }
}

impl Turns {
    /// A question came that could be of several calls.
    pub(super) fn begin(&self) {
        self.are_taken.store(true, Ordering::Release);
    }
}

impl Calls {
    /// Waits until a call may run; while the permit lives no other one begins. `None`: calls of
    /// this server may run at the same time.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        if !self.turns.are_taken.load(Ordering::Acquire) {
            return None;
        }
        self.turns.free.acquire().await.ok()
    }
}
