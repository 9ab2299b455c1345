//! What was measured and committed still holds.

#![expect(clippy::unwrap_used, reason = "a test stops at what it cannot read")]

mod holds;
mod model;
mod partitions;

use serde_json::Value;

/// Points by which a set may fall unnoticed.
const SLACK: f64 = 1.0;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A figure of a search on a set; no number if it was not measured.
fn figure(of_set: &Value, search: &str, which: &str) -> f64 {
    of_set.get(search).and_then(|search| search.get(which)).map_or(f64::NAN, number)
}

fn committed() -> Value {
    serde_json::from_str(include_str!("../../results.json")).unwrap()
}
