//! The JSON Schema of the file, made of the types that read it.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::raw::ConfigFile;

/// The JSON Schema (draft 2020-12) of `crib.toml`, for editors.
pub fn schema() -> Value {
    SCHEMA.clone()
}

pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12();
    let schema = settings.into_generator().into_root_schema_for::<ConfigFile>();
    without_null(schema.to_value())
});

/// TOML has no null: what may be left out is left out.
fn without_null(schema: Value) -> Value {
    match schema {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(key, value)| !is_empty_default(key, value));
            let members: Map<_, _> = members
                .map(|(key, value)| match (key.as_str(), value) {
                    ("type" | "enum" | "anyOf", Value::Array(kinds)) => {
                        let kinds: Vec<_> =
                            kinds.into_iter().filter(|kind| !is_null(kind)).collect();
                        (key, kinds.into())
                    }
                    (_, value) => (key, value),
                })
                .collect();
            lift(members.into_iter().map(|(key, value)| (key, without_null(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_null).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}

fn is_null(kind: &Value) -> bool {
    kind.is_null() || kind == "null" || kind.get("type").is_some_and(|kind| kind == "null")
}

fn is_empty_default(key: &str, value: &Value) -> bool {
    let empty = match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(|value| is_empty_default("default", value)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    key == "default" && empty
}

/// A choice among one is none: its words move up, but for those that stand there already.
fn lift(mut members: Map<String, Value>) -> Value {
    for key in ["type", "anyOf"] {
        let count = members.get(key).and_then(Value::as_array).map(Vec::len);
        if count != Some(1) {
            continue;
        }
        let Some(Value::Array(mut kinds)) = members.remove(key) else { continue };
        match kinds.pop() {
            Some(Value::Object(only)) => {
                for (key, value) in only {
                    members.entry(key).or_insert(value);
                }
            }
            Some(kind) => drop(members.insert(key.to_owned(), kind)),
            None => {}
        }
    }
    Value::Object(members)
}
