//! The types that a schema allows, said or plain from its other rules.

use serde_json::{Map, Value, json};

use super::type_list;

/// The types of a schema, said or plain from its other rules.
pub(super) fn types_of(schema: &Map<String, Value>) -> Vec<&str> {
    if let Some(types) = schema.get("type") {
        return type_list(types);
    }
    let one = schema.get("const").map(std::slice::from_ref);
    let values = one.or_else(|| schema.get("enum").and_then(Value::as_array).map(Vec::as_slice));
    if let Some(values) = values {
        let mut types = Vec::new();
        for name in values.iter().map(type_of) {
            if !types.contains(&name) {
                types.push(name);
            }
        }
        return types;
    }
    let hints = ["object", "array", "string", "number"];
    let meant =
        hints.into_iter().find(|name| schema.keys().any(|keyword| hint(keyword) == Some(*name)));
    meant.into_iter().collect()
}

/// A list of values with `null` in it as a choice, where an API does not list `null`.
pub(super) fn null_apart(
    schema: &Map<String, Value>,
    listable: fn(&Value) -> bool,
) -> Option<[Value; 2]> {
    let values = schema.get("enum")?.as_array()?;
    if listable(&Value::Null) || !values.contains(&Value::Null) || values.len() < 2 {
        return None;
    }
    let mut others = schema.clone();
    let kept = values.iter().filter(|value| !value.is_null()).cloned().collect();
    others.insert("enum".to_owned(), kept);
    if let Some(types) = others.get("type") {
        let mut names = type_list(types);
        names.retain(|name| *name != "null");
        let names = json!(names);
        others.insert("type".to_owned(), names);
    }
    Some([Value::Object(others), json!({ "type": "null" })])
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type that a keyword speaks of.
fn hint(keyword: &str) -> Option<&'static str> {
    match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties" => Some("object"),
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" => {
            Some("array")
        }
        "pattern" | "minLength" | "maxLength" | "format" => Some("string"),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Some("number")
        }
        _ => None,
    }
}

pub(super) fn belongs(keyword: &str, name: &str) -> bool {
    hint(keyword).is_some_and(|meant| meant == name || (meant == "number" && name == "integer"))
}

/// A schema that also takes `null`.
pub(super) fn or_null(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else {
        return schema;
    };
    if let Some(Value::Array(branches)) = fields.get_mut("anyOf") {
        let null = json!({ "type": "null" });
        if !branches.contains(&null) {
            branches.push(null);
        }
        return Value::Object(fields);
    }
    let Some(types) = fields.get("type") else {
        return json!({ "anyOf": [fields, { "type": "null" }] });
    };
    let mut names = type_list(types);
    if !names.contains(&"null") {
        names.push("null");
    }
    let names = json!(names);
    if let Some(fixed) = fields.shift_remove("const") {
        fields.insert("enum".to_owned(), json!([fixed]));
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    fields.insert("type".to_owned(), names);
    Value::Object(fields)
}
