//! The bounds of a server.

use std::time::Duration;

use toolcrib_json::repair;

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;

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
const SHARES: usize = 4;

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

/// A buffer of two heads is as small as a parser of them works with.
const LEAST_HEAD: usize = 4 << 10;

impl ServerLimits {
    /// What is read of a body of JSON.
    pub fn json(&self) -> repair::RepairBounds {
        repair::RepairBounds { bytes: self.body, depth: self.depth, values: self.values }
    }
}

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn bounds(
        &mut self,
        raw: &raw::ServerLimitsTable,
        place: &TomlPath,
    ) -> ServerLimits {
        let default = ServerLimits::default();
        let head = self.size(raw.head.as_ref(), &place.key("head")).unwrap_or(default.head);
        if head < LEAST_HEAD {
            self.problem(&place.key("head"), "no head fits into this", "write `4KiB` or more");
        }
        let body = self.size(raw.body.as_ref(), &place.key("body")).unwrap_or(default.body);
        let mut count = |number: Option<u32>, key: &str, default: usize| {
            if number == Some(0) {
                self.problem(&place.key(key), "nobody could come in with 0", "write 1 or more");
            }
            number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let connections = raw.connections.map(|number| count(Some(number), "connections", 0));
        let per_peer = raw.connections_per_peer;
        let connections_per_peer = per_peer.map(|own| count(Some(own), "connections_per_peer", 0));
        let headers = count(raw.headers, "headers", default.headers);
        let requests = count(raw.requests, "requests", default.requests);
        let per_caller = count(raw.per_caller, "per_caller", default.per_caller);
        let sessions = count(raw.sessions, "sessions", default.sessions);
        let share = (sessions / SHARES).max(1);
        let sessions_per_caller = count(raw.sessions_per_caller, "sessions_per_caller", share);
        let waiting = count(raw.waiting, "waiting", default.waiting);
        let tasks = count(raw.tasks, "tasks", default.tasks);
        let values = count(raw.values, "values", default.values);
        let depth = self.depth(raw.depth, &place.key("depth"), default.depth);
        let mut time = |text, key, default| self.timeout(text, &place.key(key)).unwrap_or(default);
        ServerLimits {
            body,
            depth,
            values,
            head,
            headers,
            head_time: time(raw.head_time.as_ref(), "head_time", default.head_time),
            body_pause: time(raw.body_pause.as_ref(), "body_pause", default.body_pause),
            body_time: time(raw.body_time.as_ref(), "body_time", default.body_time),
            stall: time(raw.stall.as_ref(), "stall", default.stall),
            drain: time(raw.drain.as_ref(), "drain", default.drain),
            connections,
            connections_per_peer,
            requests,
            per_caller,
            sessions,
            sessions_per_caller,
            session_life: time(raw.session_life.as_ref(), "session_life", default.session_life),
            longest_session: time(
                raw.longest_session.as_ref(),
                "longest_session",
                default.longest_session,
            ),
            waiting,
            patience: time(raw.patience.as_ref(), "patience", default.patience),
            tasks,
            task_after: time(raw.task_after.as_ref(), "task_after", default.task_after),
            task_life: time(raw.task_life.as_ref(), "task_life", default.task_life),
        }
    }
}
