//! What the thread that writes and those who ask it both see.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::unwritten_end::UnwrittenEnd;
use crate::cache::result_owners::ResultOwners;
use crate::clock::WallTime;
use crate::clock::lease::OwnLease;
use crate::error::StoreError;

/// Ends that could not be written and go with one group.
pub const OWED_PER_GROUP: usize = 256;

/// What the thread and those who ask it both see.
pub struct WriterShared {
    pub path: PathBuf,
    /// Why the last group could not be written, if it could not.
    pub fault: Mutex<Option<StoreError>>,
    /// Rows that nobody waited for and that could not be written.
    pub lost: AtomicU64,
    pub commits: AtomicU64,
    /// Somebody waits for a job that was handed in, or a group is full.
    pub urgent: AtomicBool,
    /// Ends of calls that could not be written yet.
    pub owed: Mutex<Vec<UnwrittenEnd>>,
    /// Ends that nobody knows and that are not in the file yet: on their way, or owed.
    pub unknown: Arc<AtomicUsize>,
    /// When the last call ended of whose outcome nobody knows, in milliseconds since 1970.
    pub last_unknown: AtomicI64,
    pub holders: ResultOwners,
    /// Calls that the process before left without an end, and that may have taken effect.
    pub interrupted: AtomicUsize,
    pub lease: OwnLease,
}

impl WriterShared {
    /// Of a store of which nothing is known yet.
    pub fn of(path: PathBuf) -> Self {
        Self {
            path,
            fault: Mutex::default(),
            lost: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            urgent: AtomicBool::new(false),
            owed: Mutex::default(),
            unknown: Arc::default(),
            last_unknown: AtomicI64::new(0),
            holders: ResultOwners::default(),
            interrupted: AtomicUsize::new(0),
            lease: OwnLease::default(),
        }
    }

    /// A call may just have ended of whose outcome nobody knows.
    pub fn note_unknown(&self) {
        self.last_unknown.fetch_max(WallTime::now().0, Ordering::AcqRel);
    }

    /// What goes with one group of what is owed.
    pub fn take_owed(&self) -> Vec<UnwrittenEnd> {
        let mut owed = self.owed();
        let count = owed.len().min(OWED_PER_GROUP);
        owed.drain(..count).collect()
    }

    /// Puts back what could not be written.
    pub fn give_back(&self, owed: impl IntoIterator<Item = UnwrittenEnd>) {
        self.owed().splice(0..0, owed);
    }

    pub fn fault(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn owed(&self) -> MutexGuard<'_, Vec<UnwrittenEnd>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
