//! The keywords of JSON Schema, of drafts 4 to 2020-12, by what can be told of their change.

use serde_json::{Map, Value};

/// How listed properties are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PropertyReading {
    /// They are all there are, unless `additionalProperties` says otherwise.
    Documented,
    /// As a validator does: another name may hold anything.
    Literal,
}

impl PropertyReading {
    pub(super) fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Literal }
    }
}

/// Groups of which only presence and text are compared, whatever the type. To add one is to
/// accept less, to take it away is to accept more.
pub(super) const AS_TEXT: [&[&str]; 7] = [
    &["pattern"],
    &["format"],
    &["contentEncoding", "contentMediaType", "contentSchema"],
    &["not"],
    &["if", "then", "else"],
    &["dependentRequired", "dependentSchemas", "dependencies"],
    &["contains", "minContains", "maxContains"],
];

/// Keywords that other code of this module compares.
const COMPARED: [&str; 27] = [
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
];

/// Keywords whose meaning depends on what stands elsewhere.
const BEYOND: [&str; 4] =
    ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"];

/// Keywords that say nothing by themselves.
const SILENT: [&str; 9] = [
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
];

pub(super) fn beyond_comparison(keywords: &Map<String, Value>) -> Option<&'static str> {
    BEYOND.into_iter().find(|key| keywords.contains_key(*key))
}

/// Whether a validator lets the keyword pass: texts, `default`, and all that it does not know.
pub(super) fn is_annotation(key: &str) -> bool {
    !is_assertion(key) && !SILENT.contains(&key)
}

pub(super) fn is_assertion(key: &str) -> bool {
    COMPARED.contains(&key)
        || BEYOND.contains(&key)
        || AS_TEXT.iter().any(|group| group.contains(&key))
}

/// How the own properties of a schema are to be read: to the letter, if another keyword may list
/// more of them.
pub(super) fn reading(keywords: &Map<String, Value>) -> PropertyReading {
    const SPREAD: [&str; 6] = ["$ref", "then", "else", "dependentSchemas", "dependencies", "if"];
    let harmless = |branch: &Value| {
        let keys = branch.as_object().into_iter().flat_map(Map::keys);
        branch.is_object() && keys.into_iter().all(|key| key == "required" || is_annotation(key))
    };
    let spread = SPREAD.iter().any(|key| keywords.contains_key(*key))
        || ["allOf", "anyOf", "oneOf"].iter().any(|key| {
            let branches = keywords.get(*key).and_then(Value::as_array);
            keywords.contains_key(*key) && !branches.is_some_and(|list| list.iter().all(harmless))
        });
    if spread { PropertyReading::Literal } else { PropertyReading::Documented }
}

/// Whether the schema is nothing but one choice, so that its branches list all there is.
pub(super) fn only_choice(keywords: &Map<String, Value>, choice: &str) -> bool {
    keywords.keys().all(|key| key == choice || key == "type" || !is_assertion(key))
}
