//! The commands that ask a running server, and each `toolcrib mcp` of this user.
pub(crate) mod calls;
pub(crate) mod page;
mod question_form;
pub(crate) mod sources;
pub(crate) mod tickets;
