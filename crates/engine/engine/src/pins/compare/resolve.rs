//! References within one document.

use serde_json::{Map, Value};
use toolcrib_core::canonical;

use super::keywords::is_assertion;

/// Longest chain of references to references.
const LONGEST_CHAIN: usize = 16;
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
const DEFAULT_DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

#[derive(Debug, Clone, Copy)]
pub(super) struct SchemaDocument<'v> {
    root: &'v Value,
}

impl<'v> SchemaDocument<'v> {
    pub(super) fn new(root: &'v Value) -> Self {
        Self { root }
    }

    /// The schema that really says something: a schema that is but a reference, or the only
    /// branch of an `allOf`, stands for its target. `None`: it cannot be found here.
    pub(super) fn settle(self, schema: &'v Value) -> Option<&'v Value> {
        let mut schema = schema;
        for _ in 0..LONGEST_CHAIN {
            let Some(keywords) = schema.as_object() else { return Some(schema) };
            let mut assertions = keywords.iter().filter(|(key, _)| is_assertion(key));
            let (Some((key, value)), None) = (assertions.next(), assertions.next()) else {
                return Some(schema);
            };
            schema = match (key.as_str(), value.as_array().map(Vec::as_slice)) {
                ("$ref", _) => self.target(value)?,
                ("allOf", Some([only])) => only,
                _ => return Some(schema),
            };
        }
        None
    }

    /// What a `$ref` within the document means.
    pub(super) fn target(self, reference: &Value) -> Option<&'v Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        // An anchor is no pointer, and an escaped pointer is rare.
        if pointer.contains('%') { None } else { self.root.pointer(pointer) }
    }

    pub(super) fn speaks_like(self, other: Self) -> bool {
        let dialect = |document: Self| {
            let dialect = document.root.get("$schema").and_then(Value::as_str);
            dialect.unwrap_or(DEFAULT_DIALECT).trim_end_matches('#').to_owned()
        };
        dialect(self) == dialect(other)
    }

    /// Whether a schema within has a base of its own, from which its references go.
    pub(super) fn embeds(self) -> bool {
        let old = self.root.get("$schema").and_then(Value::as_str);
        let key =
            if old.is_some_and(|dialect| dialect.contains("draft-04")) { "id" } else { "$id" };
        let has_base = |fields: &Map<String, Value>| fields.get(key).is_some_and(Value::is_string);
        children(self.root).any(|child| any_object(child, &has_base))
    }

    /// Whether references of the same text mean the same in both: all go to definitions, and
    /// those are the same.
    pub(super) fn agrees_with(self, other: Self) -> bool {
        let tame = |fields: &Map<String, Value>| {
            let reference = fields.get("$ref").and_then(Value::as_str);
            let to_definitions = |text: &str| {
                DEFINITIONS.iter().any(|place| text.starts_with(&format!("#/{place}/")))
            };
            reference.is_none_or(to_definitions)
                && !DYNAMIC.iter().any(|key| fields.contains_key(*key))
        };
        let wild = |document: Self| any_object(document.root, &|fields| !tame(fields));
        let same = |place: &str| {
            let of = |document: Self| document.root.get(place).unwrap_or(&NULL);
            canonical::same(of(self), of(other))
        };
        DEFINITIONS.iter().all(|place| same(place)) && !wild(self) && !wild(other)
    }
}

static NULL: Value = Value::Null;
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// Whether the meaning of a value depends on more than its text.
pub(super) fn refers(value: &Value) -> bool {
    any_object(value, &|fields| {
        fields.contains_key("$ref") || DYNAMIC.iter().any(|key| fields.contains_key(*key))
    })
}

/// Recorded schemas do not nest deep, so the recursion is bounded.
fn any_object(value: &Value, test: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    value.as_object().is_some_and(test) || children(value).any(|child| any_object(child, test))
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(Map::values))
}
