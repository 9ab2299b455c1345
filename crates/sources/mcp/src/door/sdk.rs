//! The official SDK's server side: its handler, and results that its types would not carry whole.

pub(crate) mod handler;
pub(crate) mod passthrough_cache;
pub(crate) mod results;
mod server_handler;

use rmcp::model::ProtocolVersion;

/// The revisions that this door speaks.
pub(crate) const REVISIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];
