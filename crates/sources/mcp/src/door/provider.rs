//! What a program gives to its MCP server: the cribs, and an ear for what was served.

use std::time::Duration;

use toolcrib_core::{Caller, ParkedCall, Trace};
use toolcrib_engine::Crib;

/// The cribs that are served. One is looked up for each request, so that a program may put others
/// in their places while it serves.
pub trait CribProvider: Send + Sync + 'static {
    /// The crib of the profile at `/mcp/NAME`, or the one at `/mcp`. `None`: there is no such
    /// profile, and whoever asks for it is answered as if it were nowhere.
    fn crib(&self, profile: Option<&str>) -> Option<Crib>;

    /// Whether this caller may know of a call of theirs that waits: the same person may come with
    /// rights that do not reach so far.
    fn may_see(&self, _caller: &Caller, _parked: &ParkedCall) -> bool {
        true
    }

    /// Whether this caller may decide about a call of theirs that waits, which uses its ticket up.
    fn may_decide(&self, _caller: &Caller, _parked: &ParkedCall) -> bool {
        true
    }
}

/// Hears of what was served, for traces and figures. `()` does nothing with it.
pub trait McpObserver: Send + Sync + 'static {
    /// What a client at a pipe asked for is over.
    fn served(&self, _operation: &McpOperation) {}

    /// A session of an older client over HTTP is over; `revision`: which it had asked for.
    fn session_ended(&self, _revision: &str, _lasted: Duration) {}
}

impl McpObserver for () {}

/// An operation that is over.
pub struct McpOperation {
    pub method: String,
    /// Of the tool or prompt that it is about.
    pub name: Option<String>,
    /// The request's own.
    pub id: String,
    pub revision: Option<String>,
    /// Its place in a trace; `None`: nobody collects any.
    pub trace: Option<Trace>,
    pub took: Duration,
    pub failure: Option<McpOperationFailure>,
}

/// Why an operation came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpOperationFailure {
    /// The error of JSON-RPC.
    Code(i64),
    /// The result says so.
    Tool,
    /// Its client did not want the answer any more.
    Cancelled,
}
