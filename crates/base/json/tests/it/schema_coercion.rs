//! Coercion makes of a value what its schema leaves no doubt about, and nothing else.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use serde_json::{Value, json};
use toolcrib_json::schema::Schema;

/// The coerced value and the notes; checks that it is valid or untouched, and stays as it is.
fn coerced(schema: &Value, instance: &Value) -> (Value, Vec<String>) {
    let schema = Schema::compile(schema).unwrap();
    let (value, coercions) = schema.coerce(instance.clone());
    assert_eq!(schema.is_valid(&value), !coercions.is_empty() || schema.is_valid(instance));
    assert_eq!(schema.coerce(value.clone()), (value.clone(), Vec::new()), "idempotent");
    (value, coercions.iter().map(ToString::to_string).collect())
}

fn becomes(schema: &Value, from: &Value, to: &Value) {
    let (value, notes) = coerced(schema, from);
    assert_eq!(&value, to, "{schema} {from}");
    // `1` and `1.0` are equal as values and not as text.
    assert_eq!(value.to_string(), to.to_string(), "{schema} {from}");
    assert!(!notes.is_empty(), "{schema} {from}");
}

fn stays(schema: &Value, value: &Value) {
    assert_eq!(coerced(schema, value), (value.clone(), Vec::new()), "{schema}");
}

#[test]
fn text_becomes_what_it_spells() {
    becomes(&json!({"type": "integer"}), &json!("3"), &json!(3));
    becomes(&json!({"type": "integer"}), &json!(" -3.0 "), &json!(-3));
    becomes(&json!({"type": ["integer", "null"]}), &json!("3"), &json!(3));
    becomes(&json!({"type": "number"}), &json!("2.5"), &json!(2.5));
    becomes(&json!({"type": "number"}), &json!("3"), &json!(3));
    becomes(&json!({"type": "boolean"}), &json!("True"), &json!(true));
    becomes(&json!({"type": "boolean"}), &json!("false"), &json!(false));
    becomes(&json!({"type": "object"}), &json!(r#"{"a": [1]}"#), &json!({"a": [1]}));
    becomes(&json!({"type": "array"}), &json!("[1, 2]"), &json!([1, 2]));
    for text in
        ["", "3.5", "0x10", "1_000", "three", "NaN", "99999999999999999999999", "[3]", "true"]
    {
        stays(&json!({"type": "integer"}), &json!(text));
    }
    for text in ["yes", "1", "0", "on", ""] {
        stays(&json!({"type": "boolean"}), &json!(text));
    }
    stays(&json!({"type": "object"}), &json!("[1]"));
    stays(&json!({"type": "object"}), &json!("{broken"));
    stays(&json!({"type": "null"}), &json!("null"));
    stays(&json!({"type": "number"}), &json!("12345678901234567890123"));
}

#[test]
fn a_number_becomes_text_only_where_text_alone_is_admitted() {
    becomes(&json!({"type": "string"}), &json!(42), &json!("42"));
    becomes(&json!({"type": ["string", "null"]}), &json!(4.5), &json!("4.5"));
    becomes(&json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), &json!(42), &json!("42"));
    stays(&json!({"type": ["string", "boolean"]}), &json!(42));
    stays(&json!({"anyOf": [{"type": "string"}, {"type": "boolean"}]}), &json!(42));
    stays(&json!({"type": "string"}), &json!(true));
    stays(&json!({"type": "string"}), &json!({"a": 1}));
    stays(&json!({"type": "integer"}), &json!(true));
    stays(&json!({"type": "integer"}), &json!(3.5));
}

#[test]
fn a_scalar_becomes_a_list_of_one() {
    becomes(&json!({"type": "array", "items": {"type": "string"}}), &json!("a"), &json!(["a"]));
    becomes(&json!({"type": "array", "items": {"type": "integer"}}), &json!("3"), &json!([3]));
    becomes(&json!({"type": "array", "items": {"type": "integer"}}), &json!(3), &json!([3]));
    becomes(&json!({"type": "array", "items": {"type": "boolean"}}), &json!(true), &json!([true]));
    stays(&json!({"type": "array", "items": {"type": "integer"}}), &json!("x"));
    stays(&json!({"type": "array"}), &json!({"a": 1}));
    stays(&json!({"type": ["array", "object"]}), &json!(3));
}

#[test]
fn a_listed_value_is_recognised_without_case_and_blanks() {
    let units = json!({"type": "string", "enum": ["celsius", "Fahrenheit"]});
    becomes(&units, &json!("Celsius"), &json!("celsius"));
    becomes(&units, &json!(" FAHRENHEIT\n"), &json!("Fahrenheit"));
    becomes(&json!({"const": "on"}), &json!("ON"), &json!("on"));
    becomes(&json!({"type": "integer", "enum": [1, 2]}), &json!("2"), &json!(2));
    becomes(&json!({"type": "string", "enum": ["1", "2"]}), &json!(2), &json!("2"));
    stays(&units, &json!("kelvin"));
    stays(&json!({"enum": ["a", "A"]}), &json!(" a"));
}

#[test]
fn null_for_an_optional_argument_is_dropped() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}, "n": {"type": ["string", "null"]}},
        "required": ["a"],
    });
    let (value, notes) = coerced(&schema, &json!({"a": 1, "b": null, "n": null}));
    assert_eq!(value, json!({"a": 1, "n": null}));
    assert_eq!(notes, ["`/b`: dropped null"]);
    stays(&schema, &json!({"a": null, "b": "x"}));
    let open = json!({"additionalProperties": {"type": "string"}});
    stays(&open, &json!({"anything": null}));
}

#[test]
fn a_name_of_wrong_case_or_joint_is_put_right() {
    let schema = json!({
        "type": "object",
        "properties": {"start_date": {"type": "string"}, "max-results": {"type": "integer"}},
        "additionalProperties": false,
    });
    let (value, notes) = coerced(&schema, &json!({"startDate": "x", "MAX_RESULTS": "3"}));
    assert_eq!(value.to_string(), r#"{"start_date":"x","max-results":3}"#);
    assert_eq!(notes.len(), 3);
    assert_eq!(notes.first().unwrap(), r#"`/startDate`: took "startDate" as "start_date""#);
    stays(&schema, &json!({"start": "x"}));
    stays(&schema, &json!({"start_date": "x", "startDate": "y"}));
    stays(&schema, &json!({"start-date": "x", "startDate": "y"}));
    let open = json!({"properties": {"start_date": {"type": "string"}}});
    stays(&open, &json!({"startDate": "y"}));
    let twins = json!({"properties": {"a_b": {}, "aB": {}}, "additionalProperties": false});
    stays(&twins, &json!({"a-b": 1}));
}

#[test]
fn references_and_combinations_are_looked_through() {
    let schema = json!({
        "$defs": {
            "count": {"type": "integer", "minimum": 0},
            "page": {"type": "object", "properties": {"size": {"$ref": "#/$defs/count"}}},
        },
        "allOf": [{"properties": {"page": {"$ref": "#/$defs/page"}}}],
        "properties": {"limit": {"anyOf": [{"$ref": "#/$defs/count"}, {"type": "null"}]}},
    });
    let from = json!({"page": r#"{"size": "10"}"#, "limit": "5", "other": "7"});
    becomes(&schema, &from, &json!({"page": {"size": 10}, "limit": 5, "other": "7"}));
    stays(&schema, &json!({"limit": "-5"}));
}

#[test]
fn of_alternatives_exactly_one_must_take_the_value() {
    for keyword in ["anyOf", "oneOf"] {
        let schema = json!({keyword: [{"type": "integer"}, {"type": "boolean"}]});
        becomes(&schema, &json!("3"), &json!(3));
        becomes(&schema, &json!("true"), &json!(true));
        stays(&schema, &json!("x"));
        let pair = |name: &str| {
            json!({"type": "object", "required": [name],
            "properties": {name: {"type": "integer"}}})
        };
        let schema = json!({keyword: [pair("a"), pair("b"), {"type": "null"}]});
        becomes(&schema, &json!({"b": "3"}), &json!({"b": 3}));
        becomes(&schema, &json!(r#"{"b": 3}"#), &json!({"b": 3}));
        let (a, b) =
            (json!({"type": "array", "items": {"type": "integer"}}), json!({"type": "integer"}));
        stays(&json!({keyword: [a, b]}), &json!("3"));
    }
    becomes(&json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}), &json!("3"), &json!(3));
}

#[test]
fn nothing_is_changed_unless_all_is_mended() {
    let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
    stays(&schema, &json!({"a": "1", "b": "x"}));
    stays(&json!({"properties": {"a": {"default": 1}}, "required": ["a"]}), &json!({}));
}

#[test]
fn text_in_text_in_text_is_unwrapped_within_bounds() {
    let schema = json!({"$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}},
        "$ref": "#/$defs/n"});
    let wrap =
        |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"n": inner.to_string()}));
    becomes(&schema, &wrap(3), &json!({"n": {"n": {"n": {}}}}));
    let begun = std::time::Instant::now();
    stays(&schema, &wrap(12));
    assert!(begun.elapsed() < std::time::Duration::from_secs(1));
}
