//! Schemas and values of strangers cost little, fetch nothing, and never panic.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test may fail loudly")]

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_json::schema::{Schema, SchemaBounds, SchemaDocuments, SchemaError};

/// Refusals take a few milliseconds; the tests are unoptimised, and the machine may be busy.
const AT_ONCE: Duration = Duration::from_millis(500);

/// The refusal of a schema, and that it came at once.
fn refusal(schema: &Value) -> SchemaError {
    let begun = Instant::now();
    let refusal = Schema::compile(schema).unwrap_err();
    let taken = begun.elapsed();
    println!("{taken:?}: {refusal}");
    assert!(taken < AT_ONCE, "{taken:?} for {refusal}");
    refusal
}

fn reference(at: &str, reference: &str) -> SchemaError {
    SchemaError::Reference {
        at: at.to_owned(),
        reference: reference.to_owned(),
        reason: "nothing is fetched: put it into the document, under `$defs`".to_owned(),
    }
}

#[test]
fn a_reference_to_the_network_makes_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/secret.json", listener.local_addr().unwrap());
    let found = refusal(&json!({"properties": {"a": {"$ref": address}}}));
    assert_eq!(found, reference("/properties/a/$ref", &address));
    let found = refusal(&json!({"$schema": address}));
    let reason = "it is no known draft: use 2020-12, 2019-09, 7, 6 or 4, or leave it out";
    let at = "/$schema".to_owned();
    let expected =
        SchemaError::Reference { at, reference: address.clone(), reason: reason.to_owned() };
    assert_eq!(found, expected);
    refusal(&json!({"$id": address, "$ref": "other.json"}));
    // A draft of a part that nobody knows is read as 2020-12.
    let part = json!({"$schema": address, "$id": "urn:a", "type": "null"});
    let schema = Schema::compile(&json!({"$defs": {"a": part}, "$ref": "urn:a"})).unwrap();
    assert!(schema.is_valid(&json!(null)) && !schema.is_valid(&json!(1)));
    let of_documents = SchemaDocuments::new([("urn:a".to_owned(), json!({"$ref": address}))]);
    assert_eq!(of_documents.unwrap_err(), reference("", &address));
    let connection = listener.accept().map(|_| ()).unwrap_err();
    assert_eq!(connection.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_reference_to_a_file_does_not_show_the_file() {
    let path = std::env::temp_dir().join(format!("toolcrib-schema-{}.json", std::process::id()));
    std::fs::write(&path, r#"{"type": "canary-of-the-file"}"#).unwrap();
    let address = format!("file://{}", path.display());
    let found = refusal(&json!({"items": {"$ref": address}}));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found, reference("/items/$ref", &address));
    assert!(!found.to_string().contains("canary"));
}

#[test]
fn references_inside_the_document_and_to_meta_schemas_work() {
    let schema = json!({
        "$id": "https://example.com/root.json",
        "$defs": {"part": {"$id": "part.json", "$anchor": "here", "type": "integer"}},
        "properties": {
            "a": {"$ref": "part.json"},
            "b": {"$ref": "https://example.com/part.json#here"},
            "c": {"$ref": "#/$defs/part"},
            "d": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
            "e": {"$ref": "http://json-schema.org/draft-07/schema#"},
        },
    });
    let schema = Schema::compile(&schema).unwrap();
    for name in ["a", "b", "c"] {
        assert!(schema.is_valid(&json!({name: 1})) && !schema.is_valid(&json!({name: "1"})));
    }
    for name in ["d", "e"] {
        assert!(schema.is_valid(&json!({name: {"type": "string"}})));
        assert!(!schema.is_valid(&json!({name: {"type": 5}})));
    }
}

#[test]
fn a_reference_that_leads_nowhere_is_told() {
    let found = refusal(&json!({"properties": {"a": {"$ref": "#/$defs/missing"}}}));
    let SchemaError::Reference { at, reference, .. } = found else { unreachable!("{found}") };
    assert_eq!((at.as_str(), reference.as_str()), ("/properties/a/$ref", "#/$defs/missing"));
    refusal(&json!({"properties": {"a": {"$ref": ""}}}));
}

#[test]
fn references_without_progress_are_refused() {
    for (schema, place) in [
        (json!({"$ref": "#"}), ""),
        (json!({"allOf": [{"$ref": "#"}]}), ""),
        (json!({"not": {"$ref": "#"}}), ""),
        (json!({"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]}), ""),
        (
            json!({"$ref": "#/$defs/a", "$defs": {
                "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]},
                "b": {"if": true, "then": {"$ref": "#/$defs/a"}}}}),
            "/$defs/a",
        ),
        (
            json!({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}),
            "/properties/b",
        ),
    ] {
        assert_eq!(refusal(&schema), SchemaError::Cycle { at: place.to_owned() }, "{schema}");
    }
}

#[test]
fn recursive_trees_are_taken() {
    let tree = json!({
        "$defs": {"node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
            "required": ["value"],
            "additionalProperties": false,
        }},
        "$ref": "#/$defs/node",
    });
    let schema = Schema::compile(&tree).unwrap();
    let mut deep = json!({"value": 1, "next": null});
    for value in 0..40 {
        deep = json!({"value": value, "children": [deep], "next": {"value": 0}});
    }
    assert!(schema.is_valid(&deep));
    *deep.pointer_mut("/children/0/children/0/value").unwrap() = json!("x");
    assert_eq!(
        schema.check(&deep).unwrap_err().to_string(),
        r#"`/children/0/children/0/value`: expected an integer, got "x""#
    );
}

/// Definitions where each applies the next twice.
pub(crate) fn doubling(levels: usize, apply: impl Fn(&str) -> Value) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        definitions.insert(format!("d{level}"), apply(&format!("#/$defs/d{}", level + 1)));
    }
    definitions.insert(format!("d{levels}"), json!({"type": "string"}));
    json!({"$defs": definitions, "$ref": "#/$defs/d0"})
}

#[test]
fn doubling_chains_are_refused_at_once() {
    for keyword in ["anyOf", "allOf", "oneOf"] {
        let chain = doubling(28, |next| json!({keyword: [{"$ref": next}, {"$ref": next}]}));
        let limit = SchemaBounds::default().unfold;
        let found = refusal(&chain);
        assert!(
            matches!(found, SchemaError::TooMuchUnfolding { limit: told, .. } if told == limit)
        );
    }
    let conditions = doubling(28, |next| json!({"if": {"$ref": next}, "then": {"$ref": next}}));
    assert!(matches!(refusal(&conditions), SchemaError::TooMuchUnfolding { .. }));
    let dependent = doubling(
        28,
        |next| json!({"dependentSchemas": {"a": {"$ref": next}, "b": {"not": {"$ref": next}}}}),
    );
    assert!(matches!(refusal(&dependent), SchemaError::TooMuchUnfolding { .. }));
}

#[test]
fn the_unfold_bound_is_exact() {
    // Each level is an `anyOf` with two references: 1 + 2 * (1 + below); the last is 1.
    let visits = (0..5).fold(1, |below, _| 1 + 2 * (1 + below)) + 1;
    let chain = doubling(5, |next| json!({"anyOf": [{"$ref": next}, {"$ref": next}]}));
    let exact = SchemaBounds { unfold: visits, ..SchemaBounds::default() };
    let less = SchemaBounds { unfold: visits - 1, ..SchemaBounds::default() };
    assert!(Schema::compile_within(&chain, &exact).is_ok());
    assert_eq!(
        Schema::compile_within(&chain, &less).unwrap_err(),
        SchemaError::TooMuchUnfolding { at: String::new(), limit: visits - 1 }
    );
}

#[test]
fn parts_that_refer_to_each_other_in_many_ways_are_refused() {
    // The validator compiles a part once for each way to it: Fibonacci's number of ways.
    let parts = |count: usize, dynamic: &Value| {
        let part = |index: usize| {
            let properties = if index + 2 < count {
                json!({"p": {"$ref": format!("r{}", index + 1)}, "q": {"$ref": format!("r{}", index + 2)}, "z": dynamic})
            } else {
                json!({"z": dynamic})
            };
            json!({"$id": format!("r{index}"), "$dynamicAnchor": "a", "properties": properties})
        };
        let parts: serde_json::Map<_, _> =
            (0..count).map(|index| (format!("r{index}"), part(index))).collect();
        json!({"$id": "http://example.com/", "$defs": parts, "$ref": "r0"})
    };
    for dynamic in [json!({}), json!({"$dynamicRef": "#a"})] {
        let begun = Instant::now();
        let few = Schema::compile(&parts(8, &dynamic)).unwrap();
        assert!(few.is_valid(&json!({"p": {"q": {}}})));
        for count in [12, 16, 32, 64, 200] {
            let taken = Schema::compile(&parts(count, &dynamic)).map(|_| ());
            if count > 16 {
                assert_eq!(taken, Err(SchemaError::TooManyWays { limit: 2_000 }), "{count}");
            }
        }
        println!("{:?}", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
}

#[test]
fn long_chains_of_references_are_refused() {
    let chain = doubling(1_000, |next| json!({"$ref": next}));
    assert!(matches!(refusal(&chain), SchemaError::ChainTooLong { limit: 128, .. }));
}

#[test]
fn documents_are_bounded_in_bytes_depth_and_subschemas() {
    let text = |bytes: usize| json!({"description": "x".repeat(bytes)});
    let empty = text(0).to_string().len();
    let limit = SchemaBounds::default().bytes;
    assert!(Schema::compile(&text(limit - empty)).is_ok());
    assert_eq!(refusal(&text(limit - empty + 1)), SchemaError::TooLarge { limit });

    let mut nested = json!({"type": "string"});
    for _ in 0..15 {
        nested = json!({"properties": {"a": nested}});
    }
    assert!(Schema::compile(&json!({"not": nested})).is_ok());
    let at = format!("/items/not{}", "/properties/a".repeat(15));
    assert_eq!(refusal(&json!({"items": {"not": nested}})), SchemaError::TooDeep { at, limit: 32 });

    let wide = |count: usize| {
        let name = |index: usize| (format!("p{index}"), json!({"type": "string"}));
        json!({"properties": (0..count).map(name).collect::<serde_json::Map<_, _>>()})
    };
    assert!(Schema::compile(&wide(1_999)).is_ok());
    let at = "/properties/p1999".to_owned();
    assert_eq!(refusal(&wide(2_000)), SchemaError::TooManySubschemas { at, limit: 2_000 });
    assert!(Schema::compile(&wide(10_000)).is_err());
}

#[test]
fn ordinary_patterns_are_taken() {
    for (pattern, good, bad) in [
        (r"^[A-Za-z0-9_-]{1,64}$", "a_b", "a b"),
        (r"^\d{4}-\d{2}-\d{2}$", "2026-01-31", "31.1.2026"),
        (r"^\p{L}{1,9}$", "Zürich", "1"),
        (r"^([a-z0-9]+(-[a-z0-9]+)*\.)+[a-z]{2,}$", "a-b.example.com", "localhost"),
        (r"^[^\s@]+@[^\s@]+\.[^\s@]+$", "a@b.ch", "a@b"),
    ] {
        let schema = Schema::compile(&json!({"type": "string", "pattern": pattern})).unwrap();
        assert!(schema.is_valid(&json!(good)) && !schema.is_valid(&json!(bad)), "{pattern}");
    }
}

#[test]
fn what_is_no_object_makes_no_schema() {
    let refused = Schema::compile(&json!("text")).unwrap_err();
    assert!(matches!(refused, SchemaError::Invalid { .. }));
}

#[test]
fn the_exclusive_bounds_of_draft_4_are_read_where_no_draft_is_said() {
    let source = json!({"properties": {
        "page": {"type": "integer", "minimum": 0, "exclusiveMinimum": true},
        "rate": {"maximum": 1, "exclusiveMaximum": false},
        "kept": {"const": {"minimum": 0, "exclusiveMinimum": true}},
    }});
    let schema = Schema::compile(&source).unwrap();
    assert_eq!(schema.source(), &source);
    assert!(
        schema.is_valid(
            &json!({"page": 1, "rate": 1, "kept": source["properties"]["kept"]["const"]})
        )
    );
    assert!(!schema.is_valid(&json!({"page": 0})) && !schema.is_valid(&json!({"rate": 2})));
    let alone = Schema::compile(&json!({"exclusiveMinimum": true})).unwrap();
    assert_eq!(alone.left()[0].at, "/exclusiveMinimum");
}

#[test]
fn nested_unevaluated_properties_are_bounded() {
    let mut source = json!({"properties": {"x": {"type": "integer"}}});
    for _ in 0..9 {
        source = json!({"anyOf": [source], "unevaluatedProperties": false});
    }
    assert!(matches!(refusal(&source), SchemaError::TooMuchUnfolding { .. }));
}
