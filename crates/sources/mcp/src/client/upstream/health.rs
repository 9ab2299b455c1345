//! How a server has fared, and whether it may start again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;
use toolcrib_child::{Permit, RestartBounds, Restarts, StderrTail};

use crate::client::connection::McpConnection;
use crate::client::connection::server_info::McpServerInfo;
use crate::client::fault::McpFault;
use crate::client::source::status::ConnectionPhase;

/// What is known of an upstream beside its connection.
pub(crate) struct UpstreamHealth {
    pub(crate) phase: ConnectionPhase,
    pub(crate) facts: McpServerInfo,
    pub(crate) pid: Option<u32>,
    pub(crate) stderr: Option<StderrTail>,
    /// Starts after the first one.
    pub(crate) restarts: u64,
    pub(crate) last_error: Option<String>,
    started: bool,
    breaker: Restarts,
}

impl UpstreamHealth {
    pub(super) fn new(restarts: RestartBounds) -> Self {
        Self {
            phase: ConnectionPhase::Idle,
            facts: McpServerInfo::default(),
            pid: None,
            stderr: None,
            restarts: 0,
            last_error: None,
            started: false,
            // Servers that died together should not come back together.
            breaker: Restarts::new(restarts, RandomState::new().hash_one(0)),
        }
    }

    pub(super) fn permit(&mut self) -> Permit {
        self.breaker.permit(Instant::now())
    }

    /// What a call is told that comes before the next start. `retry_after`: when the gate may try
    /// again by itself.
    pub(super) fn not_before(&self, pause: Duration, retry_after: Option<Duration>) -> McpFault {
        let last = self.last_error.as_deref().unwrap_or("it ended too often");
        McpFault::Unreachable {
            why: last.to_owned(),
            next_try: Some(pause),
            retry_after,
            cause: None,
        }
    }

    pub(super) fn starts(&mut self) {
        self.phase = ConnectionPhase::Starting;
        if std::mem::replace(&mut self.started, true) {
            self.restarts += 1;
        }
    }

    pub(super) fn is_ready(&mut self, connection: &McpConnection) {
        self.phase = ConnectionPhase::Ready;
        self.facts = connection.facts.clone();
        self.pid = connection.pid();
        self.stderr = connection.stderr().or(self.stderr.take());
    }

    pub(super) fn failed(&mut self, fault: &McpFault) {
        self.breaker.ended(Instant::now());
        self.note(&fault.words());
        let open = self.breaker.is_open();
        self.phase = if open { ConnectionPhase::BrokenCircuit } else { ConnectionPhase::Failed };
        self.pid = None;
    }

    pub(super) fn lost(&mut self, connection: &McpConnection, fault: &McpFault) {
        self.failed(fault);
        self.stderr = connection.stderr().or(self.stderr.take());
    }

    /// A fault that leaves the connection as it is; of one that ends it is told elsewhere, and an
    /// error in a call is that of its caller.
    pub(crate) fn tell(&mut self, fault: &McpFault) {
        match fault {
            McpFault::TooLong(..)
            | McpFault::Http { .. }
            | McpFault::Unauthorized { .. }
            | McpFault::Busy(_)
            | McpFault::Unreadable(_) => self.note(&fault.words()),
            McpFault::Unreachable { .. }
            | McpFault::Broken { .. }
            | McpFault::Cancelled
            | McpFault::Withdrawn
            | McpFault::Moved
            | McpFault::Refused { .. } => {}
        }
    }

    pub(super) fn note(&mut self, words: &str) {
        self.last_error = Some(crate::protocol::text::clean(words));
    }

    pub(super) fn is_idle(&mut self) {
        self.phase = ConnectionPhase::Idle;
        self.pid = None;
    }
}
