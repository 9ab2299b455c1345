//! What a server takes from whoever comes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{PauseText, SizeText};

/// What the server takes from whoever comes; read when it starts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Bounds")]
pub(crate) struct ServerLimitsTable {
    /// Largest body of a request. `4MiB` if not set.
    pub(crate) body: Option<SizeText>,
    /// How long a head may take, from the connection or from the last answer on. `10s` if not set.
    pub(crate) head_time: Option<PauseText>,
    /// How long a whole body may take. `1m` if not set.
    pub(crate) body_time: Option<PauseText>,
    /// How long an answer may wait for its reader. `30s` if not set.
    pub(crate) stall: Option<PauseText>,
    /// How long a server that is told to stop still takes what comes while `/readyz` says that it
    /// stops, so that a balancer finds out before anybody is refused. Not at all if not set.
    pub(crate) linger: Option<PauseText>,
    /// How long what runs may take once the server is to stop. `30s` if not set.
    pub(crate) drain: Option<PauseText>,
    /// Connections at the same time, four fifths of the open files that the system allows at the
    /// most. 4096, or as many as fit, if not set.
    pub(crate) connections: Option<u32>,
    /// Connections of one address at the same time, or of one network of IPv6 (`/64`); those of the
    /// proxies in `behind_proxy` do not count. A quarter of `connections` if not set, and this
    /// machine may have all then.
    pub(crate) connections_per_peer: Option<u32>,
    /// Requests at the same time. 1024 if not set.
    pub(crate) requests: Option<u32>,
    /// Requests of one caller at the same time. 64 if not set.
    pub(crate) per_caller: Option<u32>,
    /// Sessions of older MCP clients at the same time, of which one caller has a quarter. 10000 if
    /// not set.
    pub(crate) sessions: Option<u32>,
    /// How long a session lives whatever is heard of it, but for a call that still runs. `1d` if not set.
    pub(crate) longest_session: Option<PauseText>,
    /// How long an MCP call waits for the answer of a person. `5m` if not set.
    pub(crate) patience: Option<PauseText>,
    /// How long a call runs before a client that takes tasks gets one for it. `2s` if not set.
    pub(crate) task_after: Option<PauseText>,
}
