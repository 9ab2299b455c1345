//! Calls whose clients were asked something and have to come back, each for a bounded time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;

use super::running::{CallIdentity, RunningMcpCall};
use crate::door::persistence::{NamedHomes, NamedPlace};

/// Begins their names.
const KIND: &str = "w";

pub(crate) struct SuspendedCalls {
    calls: Arc<Mutex<HashMap<String, SuspendedCall>>>,
    most: usize,
    patience: Duration,
    homes: NamedHomes,
}

struct SuspendedCall {
    running: RunningMcpCall,
    /// What ends the wait; it finds nothing to end where the call was taken up.
    clock: AbortHandle,
}

impl SuspendedCalls {
    pub(crate) fn new(most: usize, patience: Duration, homes: NamedHomes) -> Self {
        Self { calls: Arc::default(), most, patience, homes }
    }

    /// Keeps a call, and gives the name under which its client may take it up again, once.
    /// Without a place for it the call comes back.
    pub(crate) fn keep(&self, running: RunningMcpCall) -> Result<String, Box<RunningMcpCall>> {
        let mut calls = locked(&self.calls);
        let tenant = &running.identity.caller.tenant;
        let theirs = calls
            .values()
            .filter(|waiter| &waiter.running.identity.caller.tenant == tenant)
            .count();
        // A tenant alone cannot take all places.
        if calls.len() >= self.most || theirs >= self.most.div_ceil(4) {
            return Err(Box::new(running));
        }
        let name = self.homes.name(KIND);
        let (weak, own, patience) = (Arc::downgrade(&self.calls), name.clone(), self.patience);
        let clock = tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            let late = weak.upgrade().and_then(|calls| locked(&calls).remove(&own));
            drop(late);
        });
        calls.insert(name.clone(), SuspendedCall { running, clock: clock.abort_handle() });
        Ok(name)
    }

    /// Where the call of that name is.
    pub(crate) async fn place(&self, name: &str) -> NamedPlace {
        let is_here = locked(&self.calls).contains_key(name);
        if is_here { NamedPlace::Here } else { self.homes.place(KIND, name).await }
    }

    /// The call of that name, if it is this client's and the same call.
    pub(crate) fn take(&self, name: &str, identity: &CallIdentity) -> Option<RunningMcpCall> {
        let mut calls = locked(&self.calls);
        if !calls.get(name)?.running.identity.is(identity) {
            return None;
        }
        let SuspendedCall { running, clock } = calls.remove(name)?;
        clock.abort();
        Some(running)
    }
}

fn locked(
    calls: &Mutex<HashMap<String, SuspendedCall>>,
) -> MutexGuard<'_, HashMap<String, SuspendedCall>> {
    // What a panic left behind is whole: every change is one insertion or removal.
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}
