//! How the door behaves, each with a default that is safe to keep.

use std::time::Duration;

use toolcrib_json::repair::RepairBounds;

/// Bounds and names of the door.
#[derive(Debug, Clone)]
pub struct McpServerSettings {
    /// Host names, or `host:port`, that a request may be addressed to; no others get in.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the door (`https://app.example`); a request that names
    /// another one is refused, one that names none is no web page's. Without a port the one of the
    /// scheme is meant; what is no address, like `null` or a port `*`, lets nobody in.
    pub origins: Vec<String>,
    /// Tools on one page of a list.
    pub page: usize,
    /// How long a client may keep a list without asking again.
    pub fresh: Duration,
    /// What is read of a request.
    pub request: RepairBounds,
    /// How long a call waits for a client that was asked something and has to come back.
    pub patience: Duration,
    /// Calls that wait so at the same time, those of all clients together.
    pub most_waiting: usize,
    /// How long a call is answered by its own request, before a client that takes tasks gets one.
    pub task_after: Duration,
    /// How long a task is there for a client that does not ask about it.
    pub task_life: Duration,
    /// Tasks at the same time, those of all clients together; a quarter is for one tenant.
    pub most_tasks: usize,
    /// Sessions of older clients at the same time.
    pub most_sessions: usize,
    /// So many of them one caller may have.
    pub sessions_per_caller: usize,
    /// How long a session lives of which nothing is heard.
    pub session_life: Duration,
    /// How long one lives whatever is heard of it, but for a call that still runs.
    pub longest_session: Duration,
    /// Whether somebody collects traces: then the requests of a client at a pipe begin some. Those
    /// over HTTP come with their place in one, or with none.
    pub traced: bool,
    /// The command by which the person at this machine decides about tickets, if there is one: the
    /// client at a pipe that cannot ask its person is told of it, and may make the call again to
    /// have what came of it.
    pub decides: Option<&'static str>,
    /// What a client is told about the tools as a whole.
    pub instructions: Option<String>,
}

impl Default for McpServerSettings {
    fn default() -> Self {
        Self {
            hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec(),
            origins: Vec::new(),
            page: 250,
            fresh: Duration::from_secs(30),
            request: RepairBounds::default(),
            patience: Duration::from_mins(5),
            most_waiting: 1_000,
            task_after: Duration::from_secs(2),
            task_life: Duration::from_mins(30),
            most_tasks: 1_000,
            most_sessions: 10_000,
            sessions_per_caller: 2_500,
            session_life: Duration::from_mins(5),
            longest_session: Duration::from_hours(24),
            traced: false,
            decides: None,
            instructions: None,
        }
    }
}
