//! Where subschemas stand in a schema document, and the way to a place in it.

use serde_json::Value;

use crate::schema::bounds::push_token;
use crate::schema::graph::keywords::{KEYWORDS, SubschemaLayout};
use crate::schema::graph::unescape;

/// Keywords whose values are data, or hold no subschema.
const DATA: &[&str] = &[
    "const",
    "enum",
    "default",
    "example",
    "examples",
    "required",
    "type",
    "dependentRequired",
    "pattern",
    "title",
    "description",
    "$ref",
    "$schema",
    "$id",
];

/// One step from a schema to a subschema.
pub(crate) struct SchemaStep<'t> {
    /// The pointer of the schema that it begins at.
    pub(crate) at: String,
    pub(crate) keyword: &'t str,
}

/// How a keyword holds subschemas, if its value has that shape. What no draft knows may be referred
/// to, and is looked through.
pub(crate) fn shape(keyword: &str, held: &Value) -> Option<SubschemaLayout> {
    if DATA.contains(&keyword) {
        return None;
    }
    let mut known = KEYWORDS.iter().filter(|(name, ..)| *name == keyword).peekable();
    let is_known = known.peek().is_some();
    let fits = |shape: &SubschemaLayout| {
        matches!(
            (shape, held),
            (SubschemaLayout::Map, Value::Object(_))
                | (SubschemaLayout::List, Value::Array(_))
                | (SubschemaLayout::One, Value::Object(_) | Value::Bool(_))
        )
    };
    let found = known.map(|(_, shape, _)| *shape).find(fits);
    let is_object = held.is_object();
    found.or((!is_known && is_object).then_some(SubschemaLayout::One))
}

/// Visits every schema of a document that is an object, the outer one before those within. The
/// depth is bounded with that of the document.
pub(crate) fn visit(value: &mut Value, at: &mut String, look: &mut impl FnMut(&mut Value, &str)) {
    if !value.is_object() {
        return;
    }
    look(value, at);
    let Value::Object(members) = value else { return };
    for (keyword, held) in members.iter_mut() {
        let Some(shape) = shape(keyword, held) else { continue };
        let length = at.len();
        push_token(at, keyword);
        match (shape, held) {
            (SubschemaLayout::Map, Value::Object(schemas)) => {
                for (name, schema) in schemas.iter_mut() {
                    inside(schema, name, at, look);
                }
            }
            (SubschemaLayout::List, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter_mut().enumerate() {
                    inside(schema, &index.to_string(), at, look);
                }
            }
            (_, held) => visit(held, at, look),
        }
        at.truncate(length);
    }
}

fn inside(
    schema: &mut Value,
    token: &str,
    at: &mut String,
    look: &mut impl FnMut(&mut Value, &str),
) {
    let length = at.len();
    push_token(at, token);
    visit(schema, at, look);
    at.truncate(length);
}

/// The keywords that a place stands under, from the outside in, and whether it is one of the
/// subschemas that the last of them holds.
pub(crate) fn way<'t>(root: &Value, tokens: &'t [String]) -> (Vec<SchemaStep<'t>>, bool) {
    let mut steps = Vec::new();
    let mut at = String::new();
    let mut here = Some(root);
    let mut is_within = false;
    let mut rest = tokens.iter();
    while let Some(keyword) = rest.next() {
        steps.push(SchemaStep { at: at.clone(), keyword });
        push_token(&mut at, keyword);
        is_within = false;
        let Some(held) = here.and_then(|schema| schema.get(keyword.as_str())) else { break };
        here = match shape(keyword, held) {
            None => break,
            Some(SubschemaLayout::One) => Some(held),
            Some(SubschemaLayout::Map | SubschemaLayout::List) => {
                let Some(token) = rest.next() else { break };
                push_token(&mut at, token);
                is_within = rest.len() == 0;
                match held.as_array() {
                    Some(items) => token.parse().ok().and_then(|place: usize| items.get(place)),
                    None => held.get(token.as_str()),
                }
            }
        };
    }
    (steps, is_within)
}

/// The tokens of a JSON Pointer.
pub(crate) fn tokens(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(unescape).collect()
}
