//! What the thread that writes and those who ask it both see.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::unwritten_end::UnwrittenEnd;
use crate::cache::result_owners::ResultOwners;
use crate::error::StoreError;

/// What the thread and those who ask it both see.
pub(crate) struct WriterShared {
    pub(crate) path: PathBuf,
    /// Why the last group could not be written, if it could not.
    pub(crate) fault: Mutex<Option<StoreError>>,
    /// Rows that nobody waited for and that could not be written.
    pub(crate) lost: AtomicU64,
    pub(crate) commits: AtomicU64,
    /// Somebody waits for a job that was handed in, or a group is full.
    pub(crate) urgent: AtomicBool,
    /// Ends of calls that could not be written yet.
    pub(crate) owed: Mutex<Vec<UnwrittenEnd>>,
    /// Ends that nobody knows and that are not in the file yet: on their way, or owed.
    pub(crate) unknown: Arc<AtomicUsize>,
    /// When the last call ended of whose outcome nobody knows, in milliseconds since 1970.
    pub(crate) last_unknown: AtomicI64,
    pub(crate) holders: ResultOwners,
    /// Calls that the process before left without an end, and that may have taken effect.
    pub(crate) interrupted: AtomicUsize,
}

impl WriterShared {
    pub(crate) fn fault(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn owed(&self) -> MutexGuard<'_, Vec<UnwrittenEnd>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
