//! What judges say of an answer.

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckVerdict {
    pub name: String,
    pub outcome: CheckOutcome,
    /// In the words of the judge, or why there is no verdict.
    pub reason: String,
    #[serde(default)]
    pub usage: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    Passed,
    Failed,
    /// Nobody could tell.
    Unknown,
}

/// What one call gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub tool: String,
    pub text: String,
}

impl CheckOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl CheckVerdict {
    pub fn unknown(name: &str, reason: impl Into<String>) -> Self {
        let (name, reason) = (name.to_owned(), reason.into());
        Self { name, outcome: CheckOutcome::Unknown, reason, usage: Usage::default() }
    }
}

/// What is checked before a run ends with an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CheckRules {
    pub(crate) always: Vec<String>,
    pub(crate) are_made: bool,
    pub(crate) gate: bool,
}

impl CheckRules {
    pub(crate) fn are_none(&self) -> bool {
        *self == Self::default()
    }
}
