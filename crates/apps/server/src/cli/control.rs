//! How commands reach what this user has running: the client, the local servers, and the listener
//! of `toolcrib mcp`.
pub(crate) mod client;
pub(crate) mod listener;
pub(crate) mod local_servers;
