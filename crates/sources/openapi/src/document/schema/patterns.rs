//! Which patterns are taken over: those that the checker of arguments takes.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolcrib_json::schema::Schema;

/// Patterns of one document that are tried; each may take some milliseconds.
const MOST: usize = 1_000;

/// What is known of the patterns of a document.
#[derive(Default)]
pub(super) struct PatternCache(HashMap<String, bool>);

impl PatternCache {
    pub(super) fn takes(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.0.get(pattern) {
            return *known;
        }
        if self.0.len() >= MOST {
            return false;
        }
        let compiled = Schema::compile(&json!({ "pattern": pattern }));
        let taken = compiled.is_ok_and(|schema| schema.left().is_empty());
        self.0.insert(pattern.to_owned(), taken);
        taken
    }
}

/// Takes every pattern out of a converted schema.
pub(super) fn strip(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            keywords
                .retain(|keyword, _| !matches!(keyword.as_str(), "pattern" | "patternProperties"));
            for (keyword, held) in keywords.iter_mut() {
                match (keyword.as_str(), held) {
                    ("const" | "enum" | "default" | "required" | "dependentRequired", _) => {}
                    ("properties" | "dependentSchemas", Value::Object(schemas)) => {
                        schemas.values_mut().for_each(strip);
                    }
                    (_, held) => strip(held),
                }
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
