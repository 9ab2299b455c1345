//! A schema told as a function, on one line.

use serde_json::{Value, json};
use toolcrib_json::schema::signature;

#[test]
fn required_arguments_come_first_and_types_are_short() {
    let schema = json!({
        "$defs": {"when": {"type": "string", "format": "date-time"}},
        "type": "object",
        "properties": {
            "duration": {"enum": ["30m", "1h"]},
            "title": {"type": "string"},
            "guests": {"type": "array", "items": {"type": ["string", "null"]}},
            "start": {"$ref": "#/$defs/when"},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "kind": {"const": "event"},
            "extra": {},
            "raw": {"type": "array"},
        },
        "required": ["title", "start"],
    });
    assert_eq!(
        signature("create_event", &schema),
        "create_event(title: string, start: string, duration?: \"30m\"|\"1h\", \
         guests?: (string|null)[], limit?: integer|null, kind?: \"event\", extra?: any, raw?: any[])"
    );
}

#[test]
fn objects_are_told_two_levels_deep() {
    let object =
        |inner: Value| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]});
    let schema = object(object(object(object(json!({"type": "string"})))));
    assert_eq!(signature("f", &schema), "f(a: {a: {a: object}})");
    let map = json!({"properties": {"m": {"type": "object", "additionalProperties": true}}});
    assert_eq!(signature("f", &map), "f(m?: object)");
}

#[test]
fn long_listings_and_lines_are_cut() {
    let options: Vec<String> = (0..10).map(|index| index.to_string()).collect();
    let schema = json!({"properties": {"a": {"enum": options}}});
    let told = r#"f(a?: "0"|"1"|"2"|"3"|"4"|"5"|…)"#;
    assert_eq!(signature("f", &schema), told);
    let names: serde_json::Map<_, _> =
        (0..1_000).map(|index| (format!("argument_{index}"), json!({"type": "string"}))).collect();
    let line = signature("f", &json!({"properties": names}));
    assert!(line.chars().count() <= 401 && line.ends_with('…'), "{line}");
}

#[test]
fn any_value_has_a_signature() {
    for (schema, told) in [
        (json!(null), "f()"),
        (json!(true), "f()"),
        (json!([]), "f()"),
        (json!({"$ref": "#"}), "f()"),
        (json!({"properties": 5}), "f()"),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": true}}}}), "f(x?: any)"),
        (json!({"properties": {"a": {"$ref": "#/properties/a"}}}), "f(a?: any)"),
        (
            json!({"properties": {"a": {"$ref": "http://x"}, "b\n": {"type": 5}}}),
            "f(a?: any, b\\n?: any)",
        ),
        (json!({"properties": {"a": {"anyOf": []}}}), "f(a?: any)"),
        (json!({"properties": {"n": {"$ref": "#"}}}), "f(n?: {n?: {n?: object}})"),
    ] {
        assert_eq!(signature("f", &schema), told, "{schema}");
    }
}

#[test]
fn alternatives_that_multiply_are_told_at_once() {
    let branch = json!({"$ref": "#/$defs/a"});
    let branches = vec![branch; 6];
    let schema =
        json!({"$defs": {"a": {"anyOf": branches}}, "properties": {"a": {"$ref": "#/$defs/a"}}});
    let begun = std::time::Instant::now();
    assert_eq!(signature("f", &schema), "f(a?: any)");
    assert!(begun.elapsed() < std::time::Duration::from_millis(100));
}
