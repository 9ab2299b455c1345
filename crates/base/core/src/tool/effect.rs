//! What a call does to the world, and what follows for repeating and ordering it.

use serde::{Deserialize, Serialize};

/// What running a tool may do. A tool that does not say is `Destroy`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes, and can be undone by ordinary means.
    Write,
    /// May remove or overwrite what cannot be had back.
    #[default]
    Destroy,
}

impl Effect {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destroy => "destroy",
        }
    }
}
