//! One request to an agent and what comes back, whatever the version and the way.

pub(crate) mod client;
pub(crate) mod fault;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod sse;
pub(crate) mod stream;
