//! Which tools serve a task, and how tools are shared out over agents.
//!
//! Read in this order: [`select`] with [`SelectionRequest`], [`partition`] with
//! [`PartitionRequest`]. Both decide among what a plan lets its caller see, the same for the same
//! plan.

mod assignment;
mod chosen;

pub use assignment::{
    AgentTools, AgentWish, AssignedTool, PartitionRequest, ToolPartition, partition,
};
pub use chosen::{SelectedTool, Selection, SelectionReason, SelectionRequest, select};
pub use toolcrib_search::{Overlap, PlacementReason};
