//! Lines of log that the server for which a door stands writes outside of any call, told to a
//! session of an older client that asked for lines. One of 2026-07-28 asks for those of its own
//! requests alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::task::AbortHandle;
use toolcrib_core::{ClientSession, JsonFields, LogLevel};

use super::outbound::{Outbound, OutboundKind};
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::levels::level;
use crate::protocol::rpc::call;

/// How soon it is looked for the server that stands in the place of one that is gone.
const LOOK: Duration = Duration::from_secs(1);

/// What one client hears; it ends with this.
pub(crate) struct LogForwarder {
    lowest: Arc<Mutex<LogLevel>>,
    task: OnceLock<AbortHandle>,
    /// It heard lines of no call in another process.
    was_begun: AtomicBool,
}

/// Where lines of no call go, and whether anybody listens there: they are not kept for who does
/// not.
pub(crate) trait LogListener: Outbound {
    fn listens(&self) -> bool;
}

impl Default for LogForwarder {
    fn default() -> Self {
        Self {
            lowest: Arc::new(Mutex::new(LogLevel::Info)),
            task: OnceLock::new(),
            was_begun: AtomicBool::new(false),
        }
    }
}

impl LogForwarder {
    pub(crate) fn lowest(&self) -> LogLevel {
        read(&self.lowest)
    }

    pub(crate) fn set(&self, lowest: LogLevel) {
        *self.lowest.lock().unwrap_or_else(PoisonError::into_inner) = lowest;
    }

    /// Goes on as it was in another process.
    pub(crate) fn restore(&self, lowest: LogLevel, was_begun: bool) {
        self.set(lowest);
        self.was_begun.store(was_begun, Ordering::Release);
    }

    /// Whether lines of no call are told, or were in another process.
    pub(crate) fn is_wanted(&self) -> bool {
        self.task.get().is_some() || self.was_begun.load(Ordering::Acquire)
    }

    /// Whether they were there, and are not here yet.
    pub(crate) fn waits(&self) -> bool {
        self.task.get().is_none() && self.was_begun.load(Ordering::Acquire)
    }

    /// From now on lines of no call are told as well.
    pub(crate) fn begin(
        &self,
        server_state: &Arc<McpServerState>,
        request_context: McpRequestContext,
        listener: Arc<dyn LogListener>,
    ) {
        self.task.get_or_init(|| {
            let (server_state, lowest) = (Arc::clone(server_state), Arc::clone(&self.lowest));
            tokio::spawn(hear(server_state, request_context, lowest, listener)).abort_handle()
        });
    }
}

impl Drop for LogForwarder {
    fn drop(&mut self) {
        self.task.get().map(AbortHandle::abort);
    }
}

fn read(lowest: &Mutex<LogLevel>) -> LogLevel {
    *lowest.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn hear(
    server_state: Arc<McpServerState>,
    request_context: McpRequestContext,
    lowest: Arc<Mutex<LogLevel>>,
    listener: Arc<dyn LogListener>,
) {
    let McpRequestContext { caller, profile, session, .. } = request_context;
    let visitor = ClientSession { caller, session };
    let lines = || server_state.cribs.crib(profile.as_deref())?.lines(visitor.clone());
    // It is ended with the client whose lines they are.
    loop {
        if let Some(mut heard) = lines() {
            while let Some(line) = heard.next().await {
                let is_wanted = of(&line).is_some_and(|level| level >= read(&lowest));
                // What the file says of the profile may be something else by now.
                if is_wanted && listener.listens() && lines().is_some() {
                    let told = call(None, "notifications/message", &Value::Object(line));
                    listener.send(told, OutboundKind::Notification).await;
                }
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn of(line: &JsonFields) -> Option<LogLevel> {
    level(line.get("level")?.as_str()?)
}
