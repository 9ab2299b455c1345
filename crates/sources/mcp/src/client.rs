//! The client half: MCP servers as sources of tools, prompts and resources.
mod call;
mod connection;
mod fault;
mod http;
pub(crate) mod inflight;
mod list_kind;
pub(crate) mod oauth;
pub(crate) mod settings;
pub(crate) mod source;
pub(crate) mod stdio;
mod upstream;
