//! Tools that are kept out, and why.

use std::sync::Arc;

use serde::Serialize;

use crate::tool::fingerprint::Fingerprint;
use crate::tool::spec::ToolSpec;

/// A tool that no plan shows, and why.
#[derive(Debug, Clone)]
pub struct QuarantinedTool {
    pub spec: Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
    pub reason: QuarantineReason,
}

/// Why a tool is kept out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "quarantine", rename_all = "snake_case")]
pub enum QuarantineReason {
    #[error("its name is taken by a tool of `{owner}`: prefix or rename one of them")]
    NameTaken { owner: String },
    #[error("its schema cannot be used: {problem}")]
    BadSchema { problem: String },
    #[error(
        "it is not the tool that was accepted (pinned {}, now {}): look at what changed and accept it",
        .pinned.short(), .now.short()
    )]
    Changed { pinned: Fingerprint, now: Fingerprint },
    #[error("it is not among the accepted tools: accept it to use it")]
    NotPinned,
    #[error("whether it is accepted could not be found out: the judge of new tools broke over it")]
    NotJudged,
    #[error("there are {most} tools already: take sources out, or pick tools with `include`")]
    TooMany { most: usize },
    #[error("its name is longer than {most} characters: rename it")]
    LongName { most: usize },
    /// As its source, or whoever names the source, says.
    #[error("{problem}")]
    Unusable { problem: String },
}

impl QuarantineReason {
    /// Whether the tool is there once it is accepted: no other reason keeps it out.
    pub fn is_for_acceptance(&self) -> bool {
        match self {
            Self::Changed { .. } | Self::NotPinned => true,
            Self::NameTaken { .. }
            | Self::BadSchema { .. }
            | Self::NotJudged
            | Self::TooMany { .. }
            | Self::LongName { .. }
            | Self::Unusable { .. } => false,
        }
    }
}
