//! Which decisions have no end on record yet, so that a restart knows how far to look back.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct LinePosition {
    /// The number of the line.
    pub(super) n: u64,
    /// Where in its file it begins.
    pub(super) offset: u64,
}

/// The calls with a decision and no end, each with the place of its decision.
#[derive(Default)]
pub(super) struct OpenDecisions(HashMap<String, LinePosition>);

impl OpenDecisions {
    pub(super) fn insert(&mut self, call: &str, place: LinePosition) {
        self.0.insert(call.to_owned(), place);
    }

    /// A record was written at this place.
    pub(super) fn follow(&mut self, record: &Value, place: LinePosition) {
        let word = |name: &str| record.get(name).and_then(Value::as_str);
        match (word("record"), word("call")) {
            (Some("decision"), Some(call)) => self.insert(call, place),
            (Some("outcome"), Some(call)) => {
                self.0.remove(call);
            }
            _ => {}
        }
    }

    /// The decision that has waited the longest.
    pub(super) fn oldest(&self) -> Option<LinePosition> {
        self.0.values().min().copied()
    }
}
