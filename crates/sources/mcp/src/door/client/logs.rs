//! Lines of log that the server for which a door stands writes outside of any call, told to a
//! session of an older client that asked for lines. One of 2026-07-28 asks for those of its own
//! requests alone.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{CustomNotification, ServerNotification};
use rmcp::service::{Peer, RoleServer};
use serde_json::Value;
use tokio::task::AbortHandle;
use toolcrib_core::{ClientSession, JsonFields, LogLevel};

use crate::client::inflight::level;
use crate::door::state::{McpRequestContext, McpServerState};

/// How soon it is looked for the server that stands in the place of one that is gone.
const LOOK: Duration = Duration::from_secs(1);

/// What one client hears; it ends with this.
pub(crate) struct LogForwarder {
    lowest: Arc<Mutex<LogLevel>>,
    task: OnceLock<AbortHandle>,
}

/// Where the lines go. `session`: of a client over HTTP.
pub(crate) struct LogListener {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) session: Option<String>,
}

impl Default for LogForwarder {
    fn default() -> Self {
        Self { lowest: Arc::new(Mutex::new(LogLevel::Info)), task: OnceLock::new() }
    }
}

impl LogForwarder {
    pub(crate) fn lowest(&self) -> LogLevel {
        read(&self.lowest)
    }

    pub(crate) fn set(&self, lowest: LogLevel) {
        *self.lowest.lock().unwrap_or_else(PoisonError::into_inner) = lowest;
    }

    /// From now on lines of no call are told as well.
    pub(crate) fn begin(
        &self,
        server_state: &Arc<McpServerState>,
        request_context: McpRequestContext,
        listener: LogListener,
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
    listener: LogListener,
) {
    let McpRequestContext { caller, profile, session, .. } = request_context;
    let visitor = ClientSession { caller, session };
    let lines = || server_state.cribs.crib(profile.as_deref())?.lines(visitor.clone());
    while !listener.peer.is_transport_closed() {
        if let Some(mut heard) = lines() {
            while let Some(line) = heard.next().await {
                let is_wanted = of(&line).is_some_and(|level| level >= read(&lowest));
                // What the file says of the profile may be something else by now.
                if is_wanted && listener.is_there(&server_state) && lines().is_some() {
                    listener.tell(line).await;
                }
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn of(line: &JsonFields) -> Option<LogLevel> {
    level(line.get("level")?.as_str()?)
}

impl LogListener {
    /// Lines are not kept for who does not listen.
    fn is_there(&self, server_state: &McpServerState) -> bool {
        self.session.as_ref().is_none_or(|session| server_state.sessions.listens(session))
    }

    async fn tell(&self, line: JsonFields) {
        let line = CustomNotification::new("notifications/message", Some(Value::Object(line)));
        let line = ServerNotification::CustomNotification(line);
        // Who has gone is not looked for any more when the next one comes.
        let _ = self.peer.send_notification(line).await;
    }
}
