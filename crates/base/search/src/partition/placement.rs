//! What comes of a partition.

/// Tools, shared out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partition {
    /// For each agent its tools, by name.
    pub groups: Vec<Vec<PlacedTool>>,
    /// How much of what tools have in common lies within groups, from 0 to 1.
    pub cohesion: f32,
}

/// A tool of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedTool {
    /// Its place among the documents.
    pub document: usize,
    pub why: PlacementReason,
    /// How much it has in common with the group, from 0 to 1.
    pub affinity: f32,
}

/// Why a tool is in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementReason {
    /// The agent has it in any case.
    Fixed,
    /// It fits the role of the agent.
    Role,
    /// It belongs to the other tools of the group.
    Affinity,
    /// It fits no group better than another: it is where there was room.
    Leftover,
    /// It belongs to another group, and this one uses it.
    Shared,
}

impl PlacementReason {
    /// The reason in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Role => "role",
            Self::Affinity => "affinity",
            Self::Leftover => "leftover",
            Self::Shared => "shared",
        }
    }
}

/// Why there is no partition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    #[error("there is no agent to give tools to")]
    NoAgent,
    #[error("{tools} tools do not fit: there is room for {room}, and for {capacity} at each agent")]
    OverCapacity { tools: usize, capacity: usize, room: usize },
    /// The agent by its place.
    #[error("an agent has {fixed} tools of its own, and may have at most {capacity}")]
    FixedOverCapacity { agent: usize, fixed: usize, capacity: usize },
}
