//! One keyword that cannot be used costs that keyword, and is told.
#![expect(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test may fail loudly")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_json::schema::{Schema, SchemaError, tidied};

/// What is left of a schema: the places that are not checked, and the schema.
fn left(source: &Value) -> (Vec<String>, Schema) {
    let schema = Schema::compile(source).unwrap();
    assert_eq!(schema.source(), source);
    (schema.left().iter().map(|left| left.at.clone()).collect(), schema)
}

const LOOK: &str = "look-around needs a backtracking engine";
const BACK: &str = "back-references need a backtracking engine";
const LARGE: &str =
    "it is no regular expression that is read here, or its repetitions are too large";

/// Lawful patterns of others, and some that are none.
const PATTERNS: &[(&str, &str)] = &[
    (r"^(?!\.)(?!.*\.\.)[a-z.]+@[a-z.]+$", LOOK),
    ("(a|aa)+(?!x)$", LOOK),
    ("^(?=.*a)", LOOK),
    ("(?<=a)b", LOOK),
    (r"(a)\1", BACK),
    (r"(?<year>\d)\k<year>", BACK),
    ("^.{1,1000}$", LARGE),
    ("^[^<>]{1,5000}$", LARGE),
    ("a{1,1000}{1,1000}", LARGE),
    (r"(\w{1,500}){1,500}", LARGE),
    (r"^[\w-.]+$", LARGE),
    ("(", LARGE),
];

#[test]
fn a_pattern_that_cannot_be_used_costs_itself_alone() {
    for (pattern, why) in PATTERNS {
        let source = json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {"type": "string", "pattern": pattern, "maxLength": 9}, "b": {"type": "integer"}},
        });
        let (places, schema) = left(&source);
        assert_eq!(places, ["/properties/a/pattern"], "{pattern}");
        let told = schema.left()[0].to_string();
        let place = "`/properties/a/pattern` is not checked, and left to the tool";
        assert_eq!(told, format!("{place}: `{pattern}`: {why}"));
        assert!(schema.is_valid(&json!({"a": "x"})), "{pattern}");
        for wrong in
            [json!({}), json!({"a": 1}), json!({"a": "0123456789"}), json!({"a": "", "b": "x"})]
        {
            assert!(!schema.is_valid(&wrong), "{pattern}: {wrong}");
        }
    }
    let long = "a".repeat(1025);
    assert_eq!(left(&json!({"properties": {"a": {"pattern": long}}})).0, ["/properties/a/pattern"]);
}

#[test]
fn of_too_many_patterns_the_last_are_left() {
    let fields = (0..34).map(|index| (format!("^a{index}$"), json!({"type": "integer"})));
    let fields: serde_json::Map<_, _> = fields.collect();
    let (places, schema) = left(&json!({"patternProperties": fields}));
    assert_eq!(places, ["/patternProperties/^a32$", "/patternProperties/^a33$"]);
    assert!(!schema.is_valid(&json!({"a31": "x"})) && schema.is_valid(&json!({"a33": "x"})));
}

#[test]
fn a_keyword_that_makes_no_schema_costs_itself_alone() {
    for (keyword, value) in [
        ("type", json!("dict")),
        ("type", json!(["string", null])),
        ("minimum", json!("5")),
        ("maxLength", json!(-1)),
        ("enum", json!("a")),
        ("required", json!("b")),
        ("required", json!([1])),
        ("properties", json!("none")),
        ("items", json!("string")),
        ("additionalProperties", json!("false")),
        ("allOf", json!({})),
        ("format", json!(5)),
        ("description", json!(["long"])),
        ("exclusiveMaximum", json!(true)),
    ] {
        let mut inner = json!({"type": "string", "maxLength": 3});
        inner[keyword] = value.clone();
        let source = json!({"properties": {"a": inner}, "required": ["a"]});
        let (places, schema) = left(&source);
        assert_eq!(places, [format!("/properties/a/{keyword}")], "{keyword} {value}");
        assert!(schema.is_valid(&json!({"a": "x"})) && !schema.is_valid(&json!({})), "{keyword}");
    }
    let (places, schema) = left(&json!({
        "properties": {"a": "string", "b": {"type": "integer"}}, "additionalProperties": false,
    }));
    assert_eq!(places, ["/properties/a"]);
    assert!(schema.is_valid(&json!({"a": 1, "b": 1})) && !schema.is_valid(&json!({"c": 1})));
    assert!(!schema.is_valid(&json!({"b": "x"})));
}

#[test]
fn what_is_left_out_turns_nothing_round() {
    let bad = json!({"pattern": "^(?!x)"});
    for (source, good) in [
        (json!({"not": bad}), json!("a")),
        (json!({"if": bad, "then": {"type": "integer"}}), json!("x")),
        (json!({"oneOf": [bad, {"type": "string"}]}), json!("x")),
        (json!({"oneOf": [{"oneOf": [bad, {"maxLength": 3}]}, {"type": "string"}]}), json!("x")),
        (json!({"contains": bad, "maxContains": 1}), json!(["a", "b"])),
        (json!({"not": {"not": {"properties": {"a": bad}}}}), json!({"a": "b"})),
        (json!({"$defs": {"b": bad}, "not": {"$ref": "#/$defs/b"}}), json!("a")),
        (
            json!({"$defs": {"b": bad}, "oneOf": [{"$ref": "#/$defs/b"}, {"type": "string"}]}),
            json!("x"),
        ),
        (
            json!({"patternProperties": {"^(?!x)": {"type": "integer"}}, "additionalProperties": false}),
            json!({"a": 1}),
        ),
        (
            json!({"properties": {"not": {"type": "object", "properties": {"if": bad}}}}),
            json!({"not": {"if": "x"}}),
        ),
    ] {
        let (places, schema) = left(&source);
        assert_eq!(places.len(), 1, "{source}");
        assert!(schema.is_valid(&good), "{source}: {good}");
    }
}

#[test]
fn what_is_dangerous_costs_the_whole() {
    let bad = json!({"pattern": "^(?!x)"});
    let cycle = json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a", "properties": {"b": bad}});
    assert!(matches!(
        Schema::compile(&cycle),
        Err(SchemaError::Cycle { .. } | SchemaError::Pattern { .. })
    ));
    let outside = json!({"properties": {"a": bad, "b": {"$ref": "http://127.0.0.1:9/x"}}});
    assert!(matches!(Schema::compile(&outside), Err(SchemaError::Reference { .. })));
    assert!(Schema::compile(&json!([])).is_err());
}

#[test]
fn null_is_nothing_said_and_draft_3_is_read() {
    let mut source = json!({
        "type": "object", "required": null, "description": null, "additionalProperties": null,
        "properties": {
            "a": {"type": "string", "required": true, "default": null},
            "b": {"properties": [], "items": null, "required": false},
            "c": null,
            "d": {"properties": {"e": {"required": true}}, "required": ["e"]},
            "f": {"enum": [null, 1], "const": null},
        },
    });
    let told = tidied(&mut source);
    assert_eq!(
        source,
        json!({
            "type": "object", "required": ["a"],
            "properties": {
                "a": {"type": "string", "default": null},
                "b": {"properties": {}},
                "c": {},
                "d": {"properties": {"e": {}}, "required": ["e"]},
                "f": {"enum": [null, 1], "const": null},
            },
        })
    );
    assert_eq!(
        told,
        [
            "a boolean `required` at `a` of the root is read as draft 3 has it",
            "a boolean `required` at `e` of `/properties/d` is read as draft 3 has it",
        ]
    );
    let fine = json!({"type": "object", "properties": {"required": {"type": "boolean"}}, "default": {"required": null}});
    let mut same = fine.clone();
    assert_eq!((tidied(&mut same), same), (vec![], fine));
}

/// A schema around one part, which some of its places hold in a way that turns it round.
fn around() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(PATTERNS).prop_map(|(pattern, _)| json!({"pattern": pattern})),
        Just(json!({"type": "dict"})),
        Just(json!({"minLength": "3"})),
        Just(json!({"type": "string", "maxLength": 2})),
        Just(json!({"pattern": "^a"})),
    ];
    let tree = leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (
                prop::sample::select(&[
                    "not",
                    "if",
                    "items",
                    "contains",
                    "additionalProperties",
                    "else",
                    "then"
                ]),
                inner.clone()
            )
                .prop_map(|(keyword, inner)| json!({keyword: inner})),
            (prop::sample::select(&["allOf", "anyOf", "oneOf"]), list)
                .prop_map(|(keyword, list)| json!({keyword: list})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}})),
        ]
    });
    // Referred to from one place: a reference that stands deeper would lead back to it.
    prop_oneof![
        tree.clone(),
        tree.prop_map(|held| json!({"$defs": {"x": held}, "anyOf": [{"$ref": "#/$defs/x"}]})),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop::sample::select(&[
        "\"\"",
        "\"a\"",
        "\"xyz\"",
        "1",
        "[]",
        "[\"a\"]",
        "{}",
        "{\"a\":\"x\"}",
        "{\"a\":\"xyz\",\"b\":1}",
        "{\"c\":\"abc\"}",
    ])
    .prop_map(|text| serde_json::from_str(text).unwrap())
}

proptest! {
    /// What is left admits whatever the whole would have admitted, if each of its bad parts
    /// admitted everything or nothing.
    #[test]
    fn nothing_is_refused_that_the_whole_may_have_meant(source in around(), value in value()) {
        let schema = match Schema::compile(&source) {
            Ok(schema) => schema,
            Err(refused) => return Err(TestCaseError::fail(format!("{refused}: {source}"))),
        };
        if schema.left().is_empty() {
            return Ok(());
        }
        for admits in [true, false] {
            let whole = Schema::compile(&meant(&source, admits)).unwrap();
            prop_assert!(
                schema.is_valid(&value) || !whole.is_valid(&value),
                "{} as {}: {}", source, admits, value
            );
        }
    }
}

/// The same with each bad part as one that admits all, or nothing.
fn meant(source: &Value, admits: bool) -> Value {
    match source {
        Value::Object(members) => {
            let is_bad = |members: &serde_json::Map<String, Value>| {
                let pattern = members.get("pattern").and_then(Value::as_str);
                pattern.is_some_and(|pattern| pattern != "^a")
                    || members.get("type") == Some(&json!("dict"))
                    || members.get("minLength").is_some()
            };
            if is_bad(members) {
                return json!(admits);
            }
            members.iter().map(|(key, value)| (key.clone(), meant(value, admits))).collect()
        }
        Value::Array(items) => items.iter().map(|item| meant(item, admits)).collect(),
        other => other.clone(),
    }
}
