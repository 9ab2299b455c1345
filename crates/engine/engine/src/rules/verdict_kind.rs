//! A verdict by its kind alone.

use serde::Serialize;
use toolcrib_core::Verdict;

/// A verdict without its reason, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictKind {
    Allow,
    Ask,
    Deny,
}

impl VerdictKind {
    pub fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Ask(_) => Self::Ask,
            Verdict::Deny(_) => Self::Deny,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}
