//! Named groups of tools, as their tools know them: a selector wherever a set of tools is meant.

use std::sync::Arc;

use serde::Serialize;

/// How a toolset is named where tools are: `toolset:billing`.
pub const TOOLSET_SELECTOR: &str = "toolset:";

/// A toolset without its tools: each of these has it among its
/// [`toolsets`](super::spec::ToolSpec::toolsets).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolsetInfo {
    /// Its name in patterns; of all toolsets of a crib none other has it.
    pub id: String,
    /// For people.
    pub title: String,
    /// What its tools do, in a sentence that somebody wrote; else empty.
    #[serde(skip)]
    pub summary: String,
    pub made: ToolsetMaker,
    /// The id of the larger set that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// Parts stand in its place: it is still a selector, and no list has it.
    #[serde(skip)]
    pub is_split: bool,
    /// Whether rules go by it. By what a model made, or may make anew, they do not: the texts that
    /// it read are not ours.
    pub for_rules: bool,
    /// What whoever runs the crib should know of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Who put the tools of a toolset together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolsetMaker {
    /// A person, by patterns.
    #[default]
    Configuration,
    /// What the source says of its tools.
    Source,
    Model,
}

/// That a tool is in a toolset, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsetMembership {
    pub toolset: Arc<ToolsetInfo>,
    pub because: MembershipReason,
}

/// Why a tool is in a toolset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", content = "value", rename_all = "snake_case")]
pub enum MembershipReason {
    /// A pattern of the configuration has it.
    Pattern(Arc<str>),
    /// Its first tag, or its category.
    Tag(Arc<str>),
    /// It has none.
    Untagged,
    /// All tools of its source are in it.
    All,
    /// How its path begins, or its name where it has none.
    Path(Arc<str>),
    /// What it is about.
    Resource(Arc<str>),
    /// What it has in common with the others.
    Cluster,
    /// A model put it there.
    Model,
    /// Nothing else has it.
    Leftover,
}
