//! The official SDK's server side: its handler, and results that its types would not carry whole.
pub(crate) mod handler;
pub(crate) mod passthrough_cache;
pub(crate) mod results;
