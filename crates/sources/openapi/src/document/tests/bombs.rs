//! Small documents that mean much: what operations share is not multiplied without end.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolcrib_core::CompactJson;

use super::{ConvertedDocument, body, document, read_with, settings};

/// So many paths that all are the path `/shared`.
fn shared(count: usize, item: &Value, schemas: &Value) -> Value {
    let mut paths = Map::new();
    paths.insert("/shared".to_owned(), item.clone());
    for at in 0..count {
        paths.insert(format!("/p{at}"), json!({ "$ref": "#/paths/~1shared" }));
    }
    document("3.1.0", &Value::Object(paths), schemas)
}

/// Read, but not compiled: that would be most of the time.
fn api(document: &Value) -> ConvertedDocument {
    read_with(document, &settings()).expect("a document")
}

fn size(api: &ConvertedDocument) -> usize {
    let schemas = api.operations.iter().map(|(_, spec)| (&spec.input, spec.output.as_ref()));
    schemas
        .map(|(input, output)| {
            let length = |packed: &CompactJson| packed.value().to_string().len();
            length(input) + output.map_or(0, length)
        })
        .sum()
}

/// Far more than any of them takes, so that a slow machine is no failure.
const LONG: Duration = Duration::from_mins(2);

#[test]
fn a_large_definition_of_many_operations_is_opened_after_a_while() {
    let properties: Map<String, Value> =
        (0..400).map(|at| (format!("p{at}"), json!({ "description": "x".repeat(80) }))).collect();
    let schemas = json!({ "Large": { "type": "object", "properties": properties } });
    let item = body(
        &json!({ "type": "object", "properties": { "it": { "$ref": "#/components/schemas/Large" } } }),
    );
    let start = Instant::now();
    let api = api(&shared(1_500, &json!({ "post": item }), &schemas));
    assert_eq!(api.operations.len(), 1_501);
    assert!(size(&api) < 48 * 1024 * 1024, "{}", size(&api));
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn what_would_take_too_much_work_is_refused() {
    let properties: Map<String, Value> =
        (0..20_000).map(|at| (format!("p{at}"), json!({}))).collect();
    let required: Vec<String> = (0..20_000).map(|at| format!("p{at}")).collect();
    let item = body(&json!({ "type": "object", "properties": properties, "required": required }));
    let start = Instant::now();
    let api = api(&shared(1_000, &json!({ "post": item }), &json!({})));
    assert_eq!(api.report.operations, 1_001);
    assert!(!api.operations.is_empty() && !api.report.refused.is_empty());
    let reason = "the operations of the document share too much: split it";
    assert!(api.report.refused.iter().all(|it| it.reason == reason));
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn many_anchors_patterns_and_branches_end() {
    let anchors: Vec<Value> =
        (0..20_000).map(|at| json!({ "$anchor": format!("a{at}") })).collect();
    let branches: Vec<Value> = (0..2_000).map(|at| json!({ "$ref": format!("#a{at}") })).collect();
    let mapping: Map<String, Value> =
        (0..2_000).map(|at| (format!("v{at}"), json!(format!("#a{at}")))).collect();
    let patterns: Vec<Value> = (0..3_000)
        .map(|at| json!({ "pattern": format!("^(a{{1,{}}}){{1,50}}$", at % 900 + 1) }))
        .collect();
    let schemas = json!({ "k".repeat(500): { "allOf": anchors } });
    let item = body(&json!({ "type": "object", "properties": {
        "one": { "oneOf": branches, "discriminator": { "propertyName": "k", "mapping": mapping } },
        "two": { "anyOf": patterns },
    } }));
    let start = Instant::now();
    let api = api(&shared(10, &json!({ "post": item }), &schemas));
    assert_eq!(api.operations.len(), 11);
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn parts_of_parts_of_parts_are_looked_at_once() {
    let link = |at: usize| {
        let parts = vec![json!({ "$ref": format!("#/components/schemas/A{}", at + 1) }); 60];
        json!({ "type": "object", "required": ["id"], "allOf": parts, "properties": {} })
    };
    let mut schemas: Map<String, Value> = (0..9).map(|at| (format!("A{at}"), link(at))).collect();
    let last: Map<String, Value> =
        (0..200).map(|at| (format!("p{at}"), json!({ "readOnly": at % 2 == 0 }))).collect();
    schemas.insert("A9".to_owned(), json!({ "type": "object", "properties": last }));
    let item = body(&json!({ "$ref": "#/components/schemas/A1" }));
    let start = Instant::now();
    let api = api(&shared(20, &json!({ "post": item }), &Value::Object(schemas)));
    assert_eq!(api.operations.len(), 21);
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn a_long_word_in_many_places_of_an_address_is_not_written_out() {
    let server = json!({
        "url": "{a}".repeat(200_000),
        "variables": { "a": { "default": "x".repeat(1_000_000) } },
    });
    let mut item = body(&json!({}));
    item["servers"] = json!([server, { "url": "https://b.example" }]);
    let start = Instant::now();
    let api = api(&shared(20, &json!({ "post": item }), &json!({})));
    assert_eq!(api.operations[20].0.server.as_deref(), Some("https://b.example"));
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn long_paths_and_ids_are_not_written_for_each_operation() {
    let methods: Map<String, Value> = (0..100)
        .map(|at| (format!("M{at}"), json!({ "operationId": "o".repeat(100_000) })))
        .collect();
    let item = json!({ "additionalOperations": methods });
    let long = format!("/{}", "p".repeat(3_000_000));
    let paths = json!({ long: item, "/short": item });
    let start = Instant::now();
    let api = api(&document("3.2.0", &paths, &json!({})));
    assert_eq!((api.operations.len(), api.report.refused.len()), (100, 1));
    assert_eq!(api.report.refused[0].reason, "its path is longer than 2000 bytes");
    assert!(api.operations.iter().all(|(operation, _)| operation.key.len() < 20));
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn long_lists_of_many_operations_are_looked_at_in_part() {
    let many = |name: &str, value: &Value| -> Map<String, Value> {
        (0..100_000).map(|at| (format!("{name}{at}"), value.clone())).collect()
    };
    let item = json!({
        "tags": vec![""; 300_000],
        "requestBody": { "content": many("application/x-www-form-urlencoded; a=", &json!({})) },
        "responses": many("a", &json!({})),
        "security": vec![Value::Object(many(&"s".repeat(101), &json!([]))); 1],
    });
    let start = Instant::now();
    let api = api(&shared(10_000, &json!({ "post": item }), &json!({})));
    assert_eq!(api.operations.len(), 10_001);
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}
