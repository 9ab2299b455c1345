//! The whole gateway as a value: REST, MCP, A2A, agents and the page over the tools of a program, of
//! a `crib.toml`, or of both.

mod builder;
mod error;
pub(crate) mod follow;
pub(crate) mod hints;
pub(crate) mod listen_address;
pub(crate) mod notices;
pub(crate) mod page_listener;
mod running;
pub(crate) mod serve_config;
mod service;
pub(crate) mod serving;
pub(crate) mod start;

use toolcrib_core::Secret;

pub use builder::GatewayBuilder;
pub use error::{GatewayError, WrongConfig};
pub use listen_address::{ExposedAddress, ExposureProblem};
pub use notices::NoticeLevel;
pub use running::Gateway;
pub use service::{GatewayBody, GatewayService};

use crate::config::tokens;

/// A token that nobody guesses: 256 bits.
pub fn new_token() -> Secret {
    Secret::new(tokens::random())
}
