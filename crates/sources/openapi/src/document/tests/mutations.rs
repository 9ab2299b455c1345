//! Documents that nobody would write.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_json::schema::Schema;

use super::super::inspect;
use super::settings;

/// A document that has something of everything.
fn document() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": { "title": "T", "version": "1" },
        "servers": [{ "url": "https://{a}/", "variables": { "a": { "default": "b" } } }],
        "security": [{ "key": [] }],
        "paths": {
            "/a/{id}": {
                "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
                "get": { "operationId": "a/get", "tags": ["a"], "parameters": [{ "$ref": "#/components/parameters/p" }],
                    "responses": { "200": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/A" } } } } } },
                "post": { "operationId": "a-get", "requestBody": { "required": true, "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/A" } },
                    "multipart/form-data": { "schema": { "type": "object" }, "encoding": { "a": { "style": "form" } } } } } },
            },
            "/b": { "$ref": "#/paths/~1a~1{id}" },
        },
        "components": {
            "parameters": { "p": { "name": "p", "in": "query", "style": "form", "schema": { "type": "array", "items": {} } } },
            "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "k" } },
            "schemas": {
                "A": { "type": "object", "required": ["b"], "properties": { "b": { "$ref": "#/components/schemas/B" } } },
                "B": { "oneOf": [{ "$ref": "#/components/schemas/A" }, { "type": "string", "pattern": "a+" }],
                    "discriminator": { "propertyName": "b", "mapping": { "x": "A" } }, "nullable": true },
            },
        },
    })
}

/// Every pointer of a value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            pointers(member, &format!("{at}/{key}"), found);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            pointers(item, &format!("{at}/{index}"), found);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What may stand in the place of anything.
fn strange() -> impl Strategy<Value = Value> {
    let fixed = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("\u{0}\u{202e}"),
        json!([]),
        json!({}),
        json!([[[[1]]]]),
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/components/schemas/B" }),
        json!({ "$ref": 1 }),
        json!({ "allOf": [{ "$ref": "#/components/schemas/A" }, { "$ref": "#/components/schemas/B" }] }),
        json!("#/components/schemas/A"),
        json!({ "$ref": "#/paths" }),
        json!({ "$recursiveRef": "#" }),
        json!("path"),
        json!("object"),
        json!("2.0"),
        json!("/a/{id}/../{x}"),
        json!({ "not": { "$ref": "#" } }),
        json!({ "type": ["string", "null"], "nullable": true, "enum": [null] }),
        json!("日本語".repeat(50)),
    ];
    prop_oneof![
        4 => prop::sample::select(fixed.to_vec()),
        1 => ".{0,20}".prop_map(Value::String),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_document_is_read_without_a_panic_and_no_two_tools_share_a_name(
        changes in prop::collection::vec((any::<prop::sample::Index>(), strange()), 1..6),
        is_swagger in any::<bool>(),
    ) {
        let mut document = document();
        if is_swagger {
            document["swagger"] = json!("2.0");
            document["openapi"].take();
        }
        for (place, value) in changes {
            let mut places = Vec::new();
            pointers(&document, "", &mut places);
            if let Some(slot) = document.pointer_mut(&places[place.index(places.len())]) {
                *slot = value;
            }
        }
        let Ok((tools, report)) = inspect(&document.to_string(), &settings()) else { return Ok(()) };
        prop_assert_eq!(tools.len() + report.refused.len(), report.operations);
        let names: BTreeSet<_> = tools.iter().map(|it| it.name.as_str().to_lowercase()).collect();
        prop_assert_eq!(names.len(), tools.len());
        for tool in &tools {
            let name = tool.name.as_str();
            prop_assert!(name.len() <= 64 && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-'), "{}", name);
            for schema in [Some(&tool.input), tool.output.as_ref()].into_iter().flatten() {
                let schema = schema.value();
                let compiled = Schema::compile(&schema);
                prop_assert!(compiled.is_ok(), "{:?}: {schema}", compiled.err());
            }
        }
    }
}
