//! Values of strangers cost little, whatever the schema, and never exhaust the stack.
#![expect(clippy::print_stdout, reason = "the times are of interest")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_json::schema::Schema;

use crate::schema_bounds::doubling;

/// A value of nested objects `{"n": {"n": ..}}`.
fn chain(levels: usize) -> Value {
    (0..levels).fold(json!({"x": 1}), |inner, _| json!({"n": inner}))
}

/// Time that a check of an instance takes, in every way.
fn timed(schema: &Schema, instance: &Value) -> (bool, Duration) {
    let begun = Instant::now();
    let valid = schema.is_valid(instance);
    assert_eq!(schema.check(instance).is_ok(), valid);
    schema.coerce(instance.clone());
    (valid, begun.elapsed())
}

#[test]
fn recursion_that_doubles_at_every_level_of_a_value_is_bounded() {
    for keyword in ["anyOf", "allOf", "oneOf"] {
        let next = json!({"properties": {"n": {"$ref": "#"}}, "required": ["n"]});
        let source = json!({keyword: [next, next, {"required": ["x"]}]});
        let schema = Schema::compile(&source).unwrap();
        let (valid, _) = timed(&schema, &chain(3));
        assert_eq!(valid, keyword == "anyOf", "{keyword}");
        for levels in [20, 60, 100] {
            let (valid, taken) = timed(&schema, &chain(levels));
            println!("{keyword} {levels}: {taken:?}");
            assert!(!valid && taken < Duration::from_millis(500), "{keyword} {levels} {taken:?}");
        }
    }
    let chain_of_members = doubling(
        30,
        |next| json!({"allOf": [{"properties": {"n": {"$ref": next}}}, {"properties": {"n": {"$ref": next}}}]}),
    );
    let schema = Schema::compile(&chain_of_members).unwrap();
    let (valid, taken) = timed(&schema, &chain(30));
    assert!(!valid && taken < Duration::from_millis(500), "{taken:?}");
    assert!(schema.is_valid(&chain(5)));
}

#[test]
fn values_are_bounded_in_depth_and_size() {
    let schema = Schema::compile(&json!({"type": "object"})).unwrap();
    assert!(schema.is_valid(&chain(127)));
    assert!(!schema.is_valid(&chain(128)));
    assert_eq!(
        schema.check(&chain(128)).unwrap_err().to_string(),
        "expected a value that is smaller or less deep, got more than is checked"
    );
    let numbers =
        json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}});
    let numbers = Schema::compile(&numbers).unwrap();
    for count in [10_000, 1_000_000] {
        let (valid, taken) = timed(&numbers, &Value::from(vec![7; count]));
        println!("{count} items: {taken:?}");
        assert!(!valid && taken < Duration::from_secs(2), "{count} {taken:?}");
    }
    let mut options = String::new();
    for option in 0..20_000 {
        write!(options, "{option} ").unwrap();
    }
    let options: Vec<&str> = options.split_whitespace().collect();
    let listed = Schema::compile(&json!({"items": {"enum": options}})).unwrap();
    let (valid, taken) = timed(&listed, &Value::from(vec!["x"; 100_000]));
    assert!(!valid && taken < Duration::from_millis(500), "{taken:?}");
    assert!(listed.is_valid(&json!(["19999", "0"])));
}

#[test]
fn the_deepest_check_fits_a_small_stack() {
    let run = || {
        let node = json!({"anyOf": [{"allOf": [{"$ref": "#/$defs/a"}]}]});
        let source = json!({
            "$defs": {"a": {"properties": {"n": node}, "additionalProperties": {"$ref": "#/$defs/a"}}},
            "$ref": "#/$defs/a",
        });
        let schema = Schema::compile(&source).unwrap();
        assert!(schema.is_valid(&chain(100)));
        assert!(schema.is_valid(&chain(127)));
        let wrong = (0..90).fold(json!({"n": {"n": 5}}), |inner, _| json!({"n": inner}));
        assert!(schema.is_valid(&wrong));
        let typed = json!({"$defs": {"a": {"type": "object", "properties": {"n": node}}}, "$ref": "#/$defs/a"});
        let typed = Schema::compile(&typed).unwrap();
        assert!(typed.check(&wrong).is_err());
        assert_eq!(typed.coerce(wrong.clone()), (wrong, Vec::new()));
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn many_names_in_many_places_are_bounded() {
    let known = |index: usize| (format!("k{index}"), json!({"type": "string"}));
    let known: serde_json::Map<_, _> = (0..1_900).map(known).collect();
    let item = json!({"properties": known, "additionalProperties": {"not": {"type": "null"}}});
    let schema = Schema::compile(&json!({"items": item})).unwrap();
    let (valid, taken) = timed(&schema, &Value::from(vec![json!({"a": 1, "k1": "x"}); 200]));
    assert!(valid && taken < Duration::from_secs(1), "{taken:?}");
    let (_, taken) = timed(&schema, &Value::from(vec![json!({"a": null, "k1": 2}); 100_000]));
    println!("{taken:?}");
    assert!(taken < Duration::from_secs(10), "{taken:?}");
}

#[test]
fn many_wrong_names_are_told_at_once() {
    let name = |letter: &str, index: usize| format!("{}{index}", letter.repeat(60));
    let known = |index: usize| (name("k", index), json!({"type": "string"}));
    let known: serde_json::Map<_, _> = (0..1_900).map(known).collect();
    let source = json!({"properties": known, "additionalProperties": false});
    let schema = Schema::compile(&source).unwrap();
    let unknown = |index: usize| (name("K", index + 1_000), json!(1));
    let instance: Value = (0..5_000).map(unknown).collect::<serde_json::Map<_, _>>().into();
    let (valid, taken) = timed(&schema, &instance);
    println!("{taken:?}");
    assert!(!valid && taken < Duration::from_secs(3), "{taken:?}");
    let long = json!({"x".repeat(1_000_000): vec![1; 2_000]});
    let items = Schema::compile(&json!({"additionalProperties": {"items": {"type": "string"}}}));
    let (valid, taken) = timed(&items.unwrap(), &long);
    println!("{taken:?}");
    assert!(!valid && taken < Duration::from_secs(1), "{taken:?}");
}
