//! MCP servers as sources, and a crib served over MCP, by the official SDK, whose types stay in
//! here.
//!
//! Read in this order: [`McpSource`], `pool` (which connection a call runs on), `upstream` (one
//! connection over all its lives), `open` (how it begins), `connection` (requests over it), `calls`
//! (what comes in, and whose it is), then the two ways: `pipes` and `http`.
//!
//! The other direction is `door`: [`Door`] serves any [`House`].
//!
//! Results and definitions are kept as they came: the SDK carries the messages and knows the
//! handshakes, and its types, which drop what they do not know, see no content.

mod answer;
mod askers;
mod block;
mod bounded;
mod call;
mod calls;
mod capabilities;
mod connection;
mod direct;
mod door;
mod errand;
mod facts;
mod fault;
mod flat;
mod frame;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod hello;
mod http;
mod id;
mod library;
mod list;
mod methods;
mod oauth;
mod object;
mod open;
mod params;
mod pipes;
mod pool;
mod questions;
mod said;
mod settings;
mod source;
mod specs;
mod status;
mod task;
mod text;
mod tool;
mod upstream;
mod written;

pub use door::{
    Asking, Claim, Door, DoorSettings, Guest, House, Porch, Served, StdioError, Unserved,
};
pub use methods::METHODS;
pub use oauth::{Answer, Login, LoginError, OAuthError, login};
pub use pipes::reads_for_its_calls;
pub use settings::{
    Authorization, HttpSettings, OAuthSettings, ProgramLimits, RestartBounds, ServerBounds,
    ServerSettings, Share, StdioSettings, Timeouts, Transport,
};
pub use source::{McpSource, Surroundings};
pub use status::{Era, LeftOut, Phase, Status};
/// For the last moment of a process that has stopped its sources, or dropped them half started.
pub use toolcrib_child::wait_for_all as wait_for_programs;
