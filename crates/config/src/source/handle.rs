//! What the maker of sources knows of one that it made.

use std::sync::Arc;

use toolcrib_a2a_client::A2aSource;
use toolcrib_mcp::McpSource;
use toolcrib_openapi::ApiSource;

use super::desk::DeskSource;

/// What stands behind a source that reaches out of the process.
pub enum SourceHandle {
    Mcp(Arc<McpSource>),
    Api(Arc<ApiSource>),
    Agent(Arc<A2aSource>),
    Desk(Arc<DeskSource>),
}
