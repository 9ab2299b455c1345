//! How an agent uses its team, and how far a tree of runs may go.

use serde::{Deserialize, Serialize};

/// How an agent uses its specialists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// Not at all: it calls all tools itself.
    Direct,
    /// Its model has one tool, which runs one tool of one specialist.
    Router,
    /// Its model gives parts of the task to them, and has the tools that none of them has.
    #[default]
    Planner,
    /// Whichever of these the task asks for.
    Auto,
}

impl AgentMode {
    pub const WORDS: [(&str, Self); 4] = [
        ("direct", Self::Direct),
        ("router", Self::Router),
        ("planner", Self::Planner),
        ("auto", Self::Auto),
    ];
}

/// How far a tree of runs may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamLimits {
    /// Runs below each other, without the first.
    pub depth: usize,
    /// Runs of the whole tree that work at the same time, without the first.
    pub active: usize,
}

impl Default for TeamLimits {
    fn default() -> Self {
        Self { depth: 2, active: 8 }
    }
}
