//! Names of fields that a model API refuses, under names that it takes.

use serde_json::{Map, Value};

use super::FieldNamer;

/// The schema under wire names, and every `(name, wire name)` that differs.
pub(super) fn rename(source: &Value, key: FieldNamer) -> (Value, Vec<(String, String)>) {
    let mut renamed = Vec::new();
    let schema = schema(source, key, &mut renamed);
    (schema, renamed)
}

fn schema(source: &Value, key: FieldNamer, renamed: &mut Vec<(String, String)>) -> Value {
    let Value::Object(fields) = source else {
        return source.clone();
    };
    fields
        .iter()
        .map(|(keyword, value)| {
            let value = match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => properties(named, key, renamed),
                ("required", Value::Array(names)) => {
                    names.iter().map(|name| wire(name, key)).collect()
                }
                ("$defs" | "definitions" | "patternProperties", Value::Object(named)) => named
                    .iter()
                    .map(|(name, value)| (name.clone(), schema(value, key, renamed)))
                    .collect(),
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                    list.iter().map(|value| schema(value, key, renamed)).collect()
                }
                (
                    "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains",
                    value,
                ) => schema(value, key, renamed),
                (_, value) => value.clone(),
            };
            (keyword.clone(), value)
        })
        .collect()
}

fn properties(
    named: &Map<String, Value>,
    key: FieldNamer,
    renamed: &mut Vec<(String, String)>,
) -> Value {
    named
        .iter()
        .map(|(name, value)| {
            let wire = key(name).into_owned();
            let pair = (name.clone(), wire.clone());
            if pair.0 != pair.1 && !renamed.contains(&pair) {
                renamed.push(pair);
            }
            (wire, schema(value, key, renamed))
        })
        .collect()
}

fn wire(name: &Value, key: FieldNamer) -> Value {
    name.as_str().map_or_else(|| name.clone(), |name| key(name).into_owned().into())
}
