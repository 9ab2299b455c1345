//! MCP servers as sources, and a crib served over MCP, by the official SDK, whose types stay in
//! here.
//!
//! Read in this order in `client`: [`McpSource`], `upstream` (one connection over all its lives,
//! and the pool of them), `connection` (how it begins, and requests over it), `inflight` (what
//! comes in, and whose it is), then the two transports: `stdio` and `http`.
//!
//! The other direction is `door`: [`McpServer`] serves the cribs of any [`CribProvider`].
//!
//! Results and definitions are kept as they came: the SDK carries the messages and knows the
//! handshakes, and its types, which drop what they do not know, see no content.

mod client;
mod door;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod protocol;

pub use client::oauth::{AuthorizationResponse, LoginError, OAuthError, OAuthLogin, login};
pub use client::settings::{
    ConnectionScope, HttpAuthorization, HttpSettings, McpBounds, McpSourceSettings, McpTimeouts,
    McpTransport, OAuthSettings, ProgramLimits, RestartBounds, StdioSettings,
};
pub use client::source::status::{
    ConnectionPhase, LeftOutTool, McpEra, McpSourceStatus, ProgramOutput,
};
pub use client::source::{McpEnvironment, McpSource};
pub use client::stdio::enable_local_stdout_reader;
pub use door::{
    AuthenticatedCaller, CribProvider, McpHomes, McpHttpHandler, McpObserver, McpOperation,
    McpOperationFailure, McpPersistence, McpServer, McpServerSettings, StdioServerError,
};
pub use protocol::methods::METHODS;
pub use toolcrib_child::StderrLine;
/// For the last moment of a process that has stopped its sources, or dropped them half started.
pub use toolcrib_child::wait_for_all as wait_for_programs;
