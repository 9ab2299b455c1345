//! Calls whose clients were asked something and have to come back, each for a bounded time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use uuid::Uuid;

use super::running::{CallIdentity, RunningMcpCall};
use crate::door::persistence::McpHomes;

/// How long it is asked whether a process lives.
const ASKING: Duration = Duration::from_secs(3);

/// Letters and digits of the longest name of a process.
const LONGEST_HOME: usize = 64;

pub(crate) struct SuspendedCalls {
    calls: Arc<Mutex<HashMap<String, SuspendedCall>>>,
    most: usize,
    patience: Duration,
    /// The name of this process stands in every name that we give.
    homes: Arc<dyn McpHomes>,
    home: String,
}

/// Where a call is whose client comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuspendedCallPlace {
    Here,
    /// In a process that lives, or of which nobody knows now whether it does.
    Elsewhere,
    /// It was cut off with its process.
    CutOff,
}

struct SuspendedCall {
    running: RunningMcpCall,
    /// What ends the wait; it finds nothing to end where the call was taken up.
    clock: AbortHandle,
}

impl SuspendedCalls {
    pub(crate) fn new(most: usize, patience: Duration, homes: Arc<dyn McpHomes>) -> Self {
        let home = homes.own();
        Self { calls: Arc::default(), most, patience, homes, home }
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
        // 122 random bits of the operating system.
        let name = format!("w_{}_{}", self.home, Uuid::new_v4().simple());
        let (weak, own, patience) = (Arc::downgrade(&self.calls), name.clone(), self.patience);
        let clock = tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            let late = weak.upgrade().and_then(|calls| locked(&calls).remove(&own));
            drop(late);
        });
        calls.insert(name.clone(), SuspendedCall { running, clock: clock.abort_handle() });
        Ok(name)
    }

    /// Where the call of that name is. A name that we never give is of no call here.
    pub(crate) async fn place(&self, name: &str) -> SuspendedCallPlace {
        let parts = name.strip_prefix("w_").and_then(|parts| parts.split_once('_'));
        let Some((home, own)) = parts else { return SuspendedCallPlace::Here };
        let is_home = home.len() <= LONGEST_HOME
            && !home.is_empty()
            && home.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if home == self.home || !is_home || Uuid::parse_str(own).is_err() {
            return SuspendedCallPlace::Here;
        }
        // Only of a home that is known to be gone nothing can run any more.
        match timeout(ASKING, self.homes.is_alive(home)).await {
            Ok(Ok(false)) => SuspendedCallPlace::CutOff,
            Ok(Ok(true) | Err(_)) | Err(_) => SuspendedCallPlace::Elsewhere,
        }
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

/// The code of what another process must be asked for.
pub(crate) const ELSEWHERE: ErrorCode = ErrorCode(-32_050);

/// One answer for a call that runs on in another process: as it is not known here, whose it is is
/// not known either.
pub(crate) fn elsewhere() -> ErrorData {
    let told = "this call goes on in another process of this server, and is not to be had here: \
                send the same request again";
    ErrorData::new(ELSEWHERE, told, Some(json!({ "retryAfterMs": 1_000 })))
}

fn locked(
    calls: &Mutex<HashMap<String, SuspendedCall>>,
) -> MutexGuard<'_, HashMap<String, SuspendedCall>> {
    // What a panic left behind is whole: every change is one insertion or removal.
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}
