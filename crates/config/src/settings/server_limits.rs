//! What a server takes from whoever comes.

use std::time::Duration;

use toolcrib_json::repair;

/// What a server takes from whoever comes. Bytes, counts and times; none is nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Largest body of a request.
    pub body: usize,
    /// Levels of objects and lists in a body.
    pub depth: usize,
    /// Values of JSON in a body.
    pub values: usize,
    /// Largest head of a request.
    pub head: usize,
    /// Headers of one request.
    pub headers: usize,
    /// From the connection, or from the last answer, to the end of the next head.
    pub head_time: Duration,
    /// Between two pieces of a body.
    pub body_pause: Duration,
    pub body_time: Duration,
    /// For an answer that is not read.
    pub stall: Duration,
    /// How long a server that is to stop still takes what comes, and says that it stops: whoever
    /// shares the work out among several finds out in this time.
    pub linger: Duration,
    /// For what runs once the server is to stop.
    pub drain: Duration,
    /// Connections at the same time; `None`: as many as fit.
    pub connections: Option<usize>,
    /// Connections of one peer at the same time; `None`: a quarter of all.
    pub connections_per_peer: Option<usize>,
    /// Requests at the same time.
    pub requests: usize,
    /// Requests of one caller at the same time.
    pub per_caller: usize,
    /// Sessions of older MCP clients at the same time.
    pub sessions: usize,
    /// Those of one caller.
    pub sessions_per_caller: usize,
    /// How long one lives of which nothing is heard.
    pub session_life: Duration,
    /// How long one lives whatever is heard of it.
    pub longest_session: Duration,
    /// MCP calls that wait for a person at the same time.
    pub waiting: usize,
    /// How long such a call waits.
    pub patience: Duration,
    /// MCP calls that became tasks, at the same time.
    pub tasks: usize,
    /// How long a call runs before it may become one.
    pub task_after: Duration,
    /// How long one stays that is not asked for.
    pub task_life: Duration,
}

/// One caller has one share of so many where nothing else is said.
pub(crate) const SHARES: usize = 4;

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            depth: 64,
            values: 200_000,
            head: 32 << 10,
            headers: 100,
            head_time: Duration::from_secs(10),
            body_pause: Duration::from_secs(15),
            body_time: Duration::from_mins(1),
            stall: Duration::from_secs(30),
            linger: Duration::ZERO,
            drain: Duration::from_secs(30),
            connections: None,
            connections_per_peer: None,
            requests: 1024,
            per_caller: 64,
            sessions: 10_000,
            sessions_per_caller: 10_000 / SHARES,
            session_life: Duration::from_mins(5),
            longest_session: Duration::from_hours(24),
            waiting: 1_000,
            patience: Duration::from_mins(5),
            tasks: 1_000,
            task_after: Duration::from_secs(2),
            task_life: Duration::from_mins(30),
        }
    }
}

impl ServerLimits {
    /// What is read of a body of JSON.
    pub fn json(&self) -> repair::RepairBounds {
        repair::RepairBounds { bytes: self.body, depth: self.depth, values: self.values }
    }
}
