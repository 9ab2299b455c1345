//! The load client: one connection, one MCP session on it, and many of them at once.
pub(crate) mod connection;
pub(crate) mod load;
pub(crate) mod session;
