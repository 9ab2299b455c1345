//! Threads to which one request adds at a time: what it read of a thread is still the whole of it when
//! it writes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolcrib_core::Caller;

/// Tenant, subject and thread.
type ThreadKey = (String, String, String);

#[derive(Default)]
pub(super) struct HeldThreads(Mutex<HashSet<ThreadKey>>);

/// Nobody else adds to a thread until this is dropped.
pub(crate) struct ThreadHold {
    held: Arc<HeldThreads>,
    key: ThreadKey,
}

impl HeldThreads {
    fn locked(&self) -> MutexGuard<'_, HashSet<ThreadKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hold(self: &Arc<Self>, caller: &Caller, thread: &str) -> Option<ThreadHold> {
        let key = (caller.tenant.clone(), caller.subject.clone(), thread.to_owned());
        let is_free = self.locked().insert(key.clone());
        is_free.then(|| ThreadHold { held: Arc::clone(self), key })
    }
}

impl Drop for ThreadHold {
    fn drop(&mut self) {
        self.held.locked().remove(&self.key);
    }
}
