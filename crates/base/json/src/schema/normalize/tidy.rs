//! What people write into schemas that no draft has, and that can mean one thing only.

use serde_json::{Map, Value};

use super::walk::visit;
use crate::schema::excerpt::place;
use crate::schema::graph::keywords::{KEYWORDS, SubschemaLayout};

/// Keywords whose `null` says nothing: Go writes empty slices and maps so. Those whose values are
/// data are not among them.
const SAY_NOTHING: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];

/// Mends a schema where it can mean one thing only: `null` where an object, a list or a text
/// belongs is absence, an empty list where an object belongs is what PHP makes of one, and a
/// boolean `required` at a property, as draft 3 had it, says the same in the list beside
/// `properties`.
///
/// Gives sentences for what was read in another way than it stands there; absence is not told.
pub fn tidied(schema: &mut Value) -> Vec<String> {
    let mut told = Vec::new();
    visit(schema, &mut String::new(), &mut |schema, at| {
        let Value::Object(members) = schema else { return };
        members.retain(|key, value| !(value.is_null() && SAY_NOTHING.contains(&key.as_str())));
        for (keyword, held) in members.iter_mut() {
            let shapes = KEYWORDS.iter().filter(|(name, ..)| name == keyword);
            for (_, shape, _) in shapes {
                fill(*shape, held);
            }
        }
        lift(members, at, &mut told);
    });
    told
}

fn fill(shape: SubschemaLayout, held: &mut Value) {
    match (shape, held) {
        (SubschemaLayout::Map, held @ Value::Array(_))
            if held.as_array().is_some_and(Vec::is_empty) =>
        {
            *held = Value::Object(Map::new());
        }
        // What is declared and says nothing.
        (SubschemaLayout::Map, Value::Object(schemas)) => schemas.values_mut().for_each(|schema| {
            let is_empty = schema.is_null() || schema.as_array().is_some_and(Vec::is_empty);
            if is_empty {
                *schema = Value::Object(Map::new());
            }
        }),
        (SubschemaLayout::List, Value::Array(schemas)) => {
            schemas.retain(|schema| !schema.is_null());
        }
        _ => {}
    }
}

/// Takes booleans out of properties, and names in `required` those that have to be there.
fn lift(members: &mut Map<String, Value>, at: &str, told: &mut Vec<String>) {
    if members.get("required").is_some_and(Value::is_boolean) {
        members.shift_remove("required");
        told.push(format!("a boolean `required` at {} names nothing, and is left out", place(at)));
    }
    let Some(Value::Object(properties)) = members.get_mut("properties") else { return };
    let mut found = Vec::new();
    for (name, property) in properties.iter_mut() {
        let Value::Object(property) = property else { continue };
        if let Some(Value::Bool(is_required)) = property.get("required") {
            if *is_required {
                found.push(name.clone());
            }
            property.shift_remove("required");
        }
    }
    if found.is_empty() {
        return;
    }
    let names = found.iter().map(|name| format!("`{}`", crate::schema::excerpt::line(name)));
    let names = names.collect::<Vec<_>>().join(", ");
    let required = members.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(required) = required {
        let missing = found.into_iter().map(Value::from);
        let missing: Vec<_> = missing.filter(|name| !required.contains(name)).collect();
        required.extend(missing);
    }
    let within = place(at);
    told.push(format!("a boolean `required` at {names} of {within} is read as draft 3 has it"));
}
