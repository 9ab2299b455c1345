//! One accepted tool, as it is recorded.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcrib_core::{Fingerprint, SourceId, ToolSpec};

/// How deep a recorded value may nest: together with what stands around it, less than a JSON
/// parser takes, so that no tool can make the file unreadable.
const DEEPEST: usize = 64;

/// One accepted tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pin {
    pub(super) source: SourceId,
    pub(super) fingerprint: Fingerprint,
    /// All that the fingerprint covers; what nests too deep is there by its own fingerprint.
    pub(super) spec: Map<String, Value>,
}

impl Pin {
    pub(super) fn of(spec: &ToolSpec, fingerprint: Fingerprint) -> Self {
        Self { source: spec.origin.source.clone(), fingerprint, spec: recorded(spec) }
    }
}

/// The fields of a spec that its fingerprint covers, but for the name, with all keys sorted.
pub(super) fn recorded(spec: &ToolSpec) -> Map<String, Value> {
    let Value::Object(mut fields) = spec.to_json() else { return Map::new() };
    for key in ["name", "origin", "enabled"] {
        fields.remove(key);
    }
    for value in fields.values_mut() {
        if deeper_than(value, DEEPEST) {
            *value = Value::from(format!("too deep to record: {}", Fingerprint::of(value)));
        }
    }
    sort(&mut fields);
    fields
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return true };
    match value {
        Value::Array(items) => items.iter().any(|item| deeper_than(item, levels)),
        Value::Object(fields) => fields.values().any(|value| deeper_than(value, levels)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Called on what is known not to nest deep.
fn sort(fields: &mut Map<String, Value>) {
    fn within(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(within),
            Value::Object(fields) => sort(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    fields.sort_keys();
    fields.values_mut().for_each(within);
}
