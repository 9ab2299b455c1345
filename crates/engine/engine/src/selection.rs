//! Which tools serve a task, and how tools are shared out over agents.
//!
//! Read in this order: [`select`] with [`SelectionRequest`], [`partition`] with
//! [`PartitionRequest`], [`AgentRules`] (what is laid down for an agent),
//! [`bind`] with [`AgentSystem`] (agents that are given their tools). The first two decide among what a plan lets its caller see, the same for the same
//! plan.

mod agent_rules;
mod assignment;
mod chosen;
mod error;
mod system;

pub use agent_rules::{AgentRules, UnlistedAgents};
pub use assignment::{
    AgentTools, AgentWish, AssignedTool, PartitionRequest, ToolPartition, partition,
};
pub use chosen::{
    SelectedTool, Selection, SelectionFallback, SelectionReason, SelectionRequest, select,
};
pub use error::SelectionError;
pub use system::{AgentSystem, BindSettings, WorkerRole, WorkerView, bind};
pub use toolcrib_search::{Overlap, PlacementReason};
