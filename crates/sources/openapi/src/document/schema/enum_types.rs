//! Values that a schema lists against the type that it says.
//!
//! Where they contradict each other, the values decide: the quotes around them were forgotten, or
//! were too many. So that whoever reads only the type is right too, both spellings pass.

use serde_json::{Map, Value, json};

/// Brings `enum`, `const` and `default` together with `type`; what is to be told of it.
pub(super) fn agree(schema: &mut Map<String, Value>) -> Option<&'static str> {
    let types = types(schema.get("type")?);
    let mut told = None;
    if types == ["array"] && listed_items(schema) {
        told = Some("the values that it lists are taken for those of its items");
    }
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => Vec::new(),
    };
    if values.iter().any(|value| !fits(value, &types)) {
        told = Some("the values that it lists are of another type than it says: both are taken");
        let mut all = values.clone();
        for value in values.iter().filter(|value| !fits(value, &types)) {
            all.extend(types.iter().filter_map(|kind| spelled(value, kind)));
        }
        let mut both: Vec<Value> = Vec::new();
        for value in all {
            if !both.contains(&value) {
                both.push(value);
            }
        }
        widen(schema, &types, &both);
        schema.shift_remove("const");
        schema.insert("enum".to_owned(), Value::Array(both));
    }
    told.or_else(|| agree_default(schema, &types))
}

fn agree_default(schema: &mut Map<String, Value>, types: &[String]) -> Option<&'static str> {
    let default = schema.get("default").filter(|default| !fits(default, types))?.clone();
    let is_listed = schema.get("enum").and_then(Value::as_array);
    if is_listed.is_some_and(|listed| listed.contains(&default)) {
        return None;
    }
    if let Some(spelled) = types.iter().find_map(|kind| spelled(&default, kind)) {
        schema.insert("default".to_owned(), spelled);
        return None;
    }
    let is_word = default.as_str().is_some_and(|word| !word.is_empty())
        || default.is_number()
        || default.is_boolean();
    let is_plain = types.iter().all(|kind| !matches!(kind.as_str(), "array" | "object"));
    if is_listed.is_none() && is_word && is_plain {
        widen(schema, types, std::slice::from_ref(&default));
        return Some("its `default` is of another type than it says: both are taken");
    }
    schema.shift_remove("default");
    Some("its `default` is left out: it is of another type than the schema says")
}

/// Whether the values of a list are those of its items, which no list can be.
fn listed_items(schema: &mut Map<String, Value>) -> bool {
    let Some(Value::Array(values)) = schema.get("enum") else { return false };
    if values.iter().any(Value::is_array) {
        return false;
    }
    let values = values.clone();
    let items = schema.entry("items").or_insert_with(|| json!({}));
    let Value::Object(items) = items else { return false };
    if ["enum", "const", "$ref"].iter().any(|key| items.contains_key(*key)) {
        return false;
    }
    items.insert("enum".to_owned(), Value::Array(values));
    agree(items);
    schema.shift_remove("enum");
    true
}

fn types(written: &Value) -> Vec<String> {
    match written {
        Value::String(kind) => vec![kind.clone()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// What is nothing fits everywhere: whether it is allowed, is said elsewhere.
fn fits(value: &Value, types: &[String]) -> bool {
    value.is_null() || types.iter().any(|kind| is_of(value, kind))
}

fn is_of(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(_) => kind == "number" || kind == "integer" && is_whole(value),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// The same as a value of another type.
fn spelled(value: &Value, kind: &str) -> Option<Value> {
    match (value, kind) {
        (Value::Number(_) | Value::Bool(_), "string") => Some(Value::from(value.to_string())),
        (Value::String(word), "integer" | "number" | "boolean") => {
            let read: Value = serde_json::from_str(word).ok()?;
            is_of(&read, kind).then_some(read)
        }
        _ => None,
    }
}

/// Lets the types of these values in as well.
fn widen(schema: &mut Map<String, Value>, types: &[String], values: &[Value]) {
    let mut types = types.to_vec();
    for value in values.iter().filter(|value| !value.is_null()) {
        let kinds = ["boolean", "integer", "number", "string", "array", "object"];
        let own = kinds.iter().find(|kind| is_of(value, kind));
        if let Some(own) = own.filter(|_| !types.iter().any(|kind| is_of(value, kind))) {
            types.push((*own).to_owned());
        }
    }
    schema.insert("type".to_owned(), json!(types));
}
