//! What a running call may know and do.

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::CallKey;
use crate::caller::Caller;

/// The surroundings of one call. Cheap to clone; only the executor makes one.
#[derive(Clone)]
pub struct CallContext {
    pub(crate) caller: Arc<Caller>,
    pub(crate) key: CallKey,
    pub(crate) attempt: u32,
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Option<ProgressSink>,
}

/// Where the progress of a batch goes.
pub type ProgressSink = Arc<dyn Fn(CallKey, Progress) + Send + Sync>;

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    pub done: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

impl CallContext {
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Our own name for the call; the model's id is not unique.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// 1 for the first try.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Resolves when nobody waits for the result any more; then tidy up and return soon.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// A token that sub-tasks may hold.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancel.child_token()
    }

    pub fn progress(&self, progress: Progress) {
        if let Some(sink) = &self.progress {
            sink(self.key, progress);
        }
    }
}
