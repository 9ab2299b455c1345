//! The differences of one tool, gathered one by one, and their kinds.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::terminal_text;

/// Most differences that are told of one tool.
const MOST_DETAILS: usize = 100;

/// What kind of difference it is; the table is in the documentation of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriftKind {
    Added,
    Removed,
    Cosmetic,
    Widened,
    Narrowed,
    Breaking,
}

/// The differences that were found so far.
#[derive(Debug, Default)]
pub(super) struct DriftFindings {
    pub(super) kind: Option<DriftKind>,
    pub(super) details: Vec<String>,
    pub(super) untold: usize,
}

impl DriftFindings {
    pub(super) fn note(&mut self, kind: DriftKind, text: impl fmt::Display) {
        self.kind = Some(self.kind.map_or(kind, |known| known.with(kind)));
        if self.details.len() < MOST_DETAILS {
            self.details.push(format!("{}: {text}", kind.as_str()));
        } else {
            self.untold += 1;
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        let Some(kind) = other.kind else { return };
        self.kind = Some(self.kind.map_or(kind, |known| known.with(kind)));
        self.untold += other.untold;
        for detail in other.details {
            if self.details.len() < MOST_DETAILS {
                self.details.push(detail);
            } else {
                self.untold += 1;
            }
        }
    }

    pub(super) fn kind(&self) -> Option<DriftKind> {
        self.kind
    }
}

impl DriftKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Cosmetic => "cosmetic",
            Self::Widened => "widened",
            Self::Narrowed => "narrowed",
            Self::Breaking => "breaking",
        }
    }

    /// Both at once: what is widened here and narrowed there is neither.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Cosmetic, kind) | (kind, Self::Cosmetic) => kind,
            (left, right) if left == right => left,
            _ => Self::Breaking,
        }
    }
}

/// `description: "…" -> "…"`.
pub(super) fn changed(key: &str, before: &Value, after: &Value) -> String {
    let difference = match (before, after) {
        (Value::String(before), Value::String(after)) => terminal_text::difference(before, after),
        _ => format!("{} -> {}", terminal_text::value(before), terminal_text::value(after)),
    };
    format!("`{}`: {difference}", terminal_text::word(key))
}
