//! What a gateway between clients and servers of MCP costs.

pub(crate) mod durable;
pub(crate) mod relay;
pub(crate) mod soak;
pub(crate) mod startup;
pub(crate) mod usual_calls;
pub(crate) mod ways;
