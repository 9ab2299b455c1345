//! What most programs need: `use toolcrib::prelude::*`.

pub use toolcrib_core::{
    Caller, Decision, Effect, PlanRequest, Policy, Report, Run, Tool, ToolError, ToolOutcome,
    Toolset, tool, tool_with,
};
pub use toolcrib_dialect::Dialect;
pub use toolcrib_engine::Crib;

pub use crate::conversation::{Conversation, ConversationError, Step};
