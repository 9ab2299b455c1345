//! Small questions about JSON values.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::super::text;

/// The types of JSON Schema, and words that people write for them.
const TYPES: &[(&str, &str)] = &[
    ("string", "string"),
    ("integer", "integer"),
    ("number", "number"),
    ("boolean", "boolean"),
    ("array", "array"),
    ("object", "object"),
    ("null", "null"),
    // Swagger 2: bytes, which an argument has as text.
    ("file", "string"),
    ("int", "integer"),
    ("long", "integer"),
    ("int32", "integer"),
    ("int64", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("bool", "boolean"),
    ("date", "string"),
    ("date-time", "string"),
    ("datetime", "string"),
    ("uuid", "string"),
];

/// The type that a word means.
pub(super) fn named_type(word: &str) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == word).map(|(_, name)| *name)
}

/// The `type` of a schema as JSON Schema has it; `None` where it says nothing that is known.
pub(super) fn types(written: &Value) -> Option<Value> {
    match written {
        Value::String(word) => named_type(word).map(Value::from),
        Value::Array(words) => {
            let mut names: Vec<&str> = Vec::new();
            for word in words {
                let name = named_type(word.as_str()?)?;
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            (!names.is_empty()).then(|| Value::from(names))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// A schema that says the type alone.
pub(super) fn open(schema: &Value) -> Value {
    let mut open = Map::new();
    if let Some(types) = schema.get("type").and_then(types) {
        open.insert("type".to_owned(), types);
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            nullable(&mut open);
        }
    }
    Value::Object(open)
}

/// Lets a schema take `null` as well.
pub(super) fn nullable(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(allowed)) = schema.get_mut("enum")
        && !allowed.contains(&Value::Null)
    {
        allowed.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(Value::Array(types)) if !types.iter().any(|name| name == "null") => {
            types.push(Value::from("null"));
        }
        Some(one @ Value::String(_)) if one != "null" => *one = json!([one.take(), "null"]),
        _ => {}
    }
    let elsewhere = ["$ref", "allOf", "const", "not"];
    let is_choice = !elsewhere.iter().any(|keyword| schema.contains_key(*keyword));
    if let (true, Some(Value::Array(branches))) = (is_choice, schema.get_mut("anyOf")) {
        branches.push(json!({ "type": "null" }));
    } else if elsewhere.iter().any(|keyword| schema.contains_key(*keyword)) {
        let description = schema.shift_remove("description");
        let whole = Value::Object(std::mem::take(schema));
        schema.extend(description.map(|text| ("description".to_owned(), text)));
        schema.insert("anyOf".to_owned(), json!([whole, { "type": "null" }]));
    }
}

/// Cuts what a converted schema and its parts say of themselves to a short line.
pub(super) fn shorten(schema: &mut Value) {
    const LONGEST: usize = 80;
    match schema {
        Value::Object(keywords) => {
            for (keyword, held) in keywords.iter_mut() {
                match (keyword.as_str(), held) {
                    ("description", Value::String(said)) => *said = text::sentence(said, LONGEST),
                    ("const" | "enum" | "default" | "required" | "dependentRequired", _) => {}
                    (
                        "properties" | "patternProperties" | "dependentSchemas",
                        Value::Object(all),
                    ) => {
                        all.values_mut().for_each(shorten);
                    }
                    (_, held) => shorten(held),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether no more than `levels` of objects and arrays nest.
pub(super) fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => false,
        Value::Array(items) => items.iter().all(|item| fits(item, levels - 1)),
        Value::Object(members) => members.values().all(|member| fits(member, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Bytes of a value, written without blanks.
pub(crate) fn bytes(value: &Value) -> usize {
    let mut count = ByteCount(0);
    // Counting does not fail.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

struct ByteCount(usize);

impl Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A keyword that holds no schema, as it is, if its value is of the right kind.
pub(super) fn plain(keyword: &str, held: &Value) -> Option<Value> {
    /// A default that is longer tells a model less than it costs.
    const LONGEST_DEFAULT: usize = 200;
    let is_right = match keyword {
        "format" | "contentEncoding" | "contentMediaType" => {
            held.as_str().is_some_and(|text| text.len() <= 100)
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => held.is_u64(),
        "multipleOf" => held.as_f64().is_some_and(|number| number > 0.0),
        "uniqueItems" | "deprecated" => held == &Value::Bool(true),
        "default" => fits(held, 2) && bytes(held) <= LONGEST_DEFAULT,
        "const" => true,
        "dependentRequired" => held.as_object().is_some_and(|lists| lists.values().all(is_names)),
        _ => false,
    };
    is_right.then(|| held.clone())
}

/// Whether a value is a list of names that differ.
fn is_names(held: &Value) -> bool {
    held.as_array().is_some_and(|names| {
        let mut seen = HashSet::new();
        names.iter().all(|name| name.as_str().is_some_and(|name| seen.insert(name)))
    })
}
