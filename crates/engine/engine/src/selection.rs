//! Which tools serve a task, and how tools are shared out over agents.
//!
//! Read in this order: [`select`] with [`SelectionRequest`], [`partition`] with
//! [`PartitionRequest`], [`AgentRules`] (what is laid down for an agent). The first two decide among what a plan lets its caller see, the same for the same
//! plan.

mod agent_rules;
mod assignment;
mod chosen;

pub use agent_rules::{AgentRules, UnlistedAgents};
pub use assignment::{
    AgentTools, AgentWish, AssignedTool, PartitionRequest, ToolPartition, partition,
};
pub use chosen::{
    SelectedTool, Selection, SelectionFallback, SelectionReason, SelectionRequest, select,
};
pub use toolcrib_search::{Overlap, PlacementReason};
