//! What is wished of the groups of a source.

/// How the tools of a source are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolsetGrouping {
    pub by: ToolsetBy,
    /// Tools of one group; a larger one is split.
    pub max_tools: usize,
    pub split: ToolsetSplit,
}

/// What the tools of one group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolsetBy {
    /// Their first tag, or their category.
    Tag,
    /// Their source.
    All,
    /// How their paths begin; what they are about, where they have none.
    Path,
    /// What the index finds in common.
    Cluster,
}

/// How a group is split that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolsetSplit {
    /// By paths, by what tools are about, and by what the index finds in common.
    Cluster,
    /// A model is asked; until it has answered, as `Cluster`.
    Model,
    /// It is not.
    None,
}

impl ToolsetGrouping {
    /// Tools of one group unless somebody says otherwise.
    pub const MAX_TOOLS: usize = 10;
}

impl Default for ToolsetGrouping {
    fn default() -> Self {
        Self { by: ToolsetBy::Tag, max_tools: Self::MAX_TOOLS, split: ToolsetSplit::Cluster }
    }
}
