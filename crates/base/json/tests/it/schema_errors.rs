//! Errors say the path, what is expected and what is there.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use serde_json::{Value, json};
use toolcrib_json::schema::{Schema, Violation, Violations};

/// What is told about a wrong value.
fn told(schema: &Value, instance: &Value) -> String {
    Schema::compile(schema).unwrap().check(instance).unwrap_err().to_string()
}

fn event() -> Value {
    json!({
        "$defs": {"when": {"type": "string", "format": "date-time"}},
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 20},
            "start": {"$ref": "#/$defs/when"},
            "duration": {"type": "string", "enum": ["30m", "1h"]},
            "guests": {"type": "array", "items": {"type": "string", "pattern": "@"}, "maxItems": 2,
                       "uniqueItems": true},
            "seats": {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 10},
        },
        "required": ["title", "start"],
        "additionalProperties": false,
    })
}

#[test]
fn every_place_is_told_at_once() {
    let found = Schema::compile(&event()).unwrap();
    let found = found.check(&json!({"titel": "x", "start": 5})).unwrap_err();
    let violation = |path: &str, expected: &str, got: &str| Violation {
        path: path.to_owned(),
        expected: expected.to_owned(),
        got: got.to_owned(),
    };
    let places = vec![
        violation("/start", "a string (date-time)", "5"),
        violation("/title", "a required argument", "nothing"),
        violation("/titel", "not a known argument, did you mean `title`?", ""),
    ];
    let mut sorted = found.places.clone();
    sorted.sort_by_key(|place| places.iter().position(|other| other == place));
    assert_eq!((sorted, found.more), (places, 0));
    assert!(found.to_string().contains("`/start`: expected a string (date-time), got 5"));
    assert!(found.to_string().contains("`/titel`: not a known argument, did you mean `title`?"));
}

#[test]
fn common_keywords_are_told_in_words() {
    for (name, value, expected) in [
        ("title", json!(""), r#"expected at least 1 character, got """#),
        (
            "title",
            json!("x".repeat(21)),
            r#"expected at most 20 characters, got "xxxxxxxxxxxxxxxxxxxxx""#,
        ),
        ("duration", json!("2h"), r#"expected one of "30m", "1h", got "2h""#),
        ("duration", json!(2), r#"expected one of "30m", "1h", got 2"#),
        ("guests", json!("a@b"), r#"expected an array, got "a@b""#),
        ("guests", json!(["a@b", "a@b"]), r#"expected items that all differ, got ["a@b","a@b"]"#),
        ("guests", json!(["@a", "@b", "@c"]), r#"expected at most 2 items, got ["@a","@b","@c"]"#),
        ("seats", json!(0), "expected at least 1, got 0"),
        ("seats", json!(10), "expected less than 10, got 10"),
        ("seats", json!(1.5), "expected an integer or null, got 1.5"),
    ] {
        let mut arguments = json!({"title": "t", "start": "s"});
        arguments.as_object_mut().unwrap().insert(name.to_owned(), value);
        assert_eq!(told(&event(), &arguments), format!("`/{name}`: {expected}"));
    }
    let pattern = json!({"title": "t", "start": "s", "guests": ["a"]});
    let expected = r#"`/guests/0`: expected text that matches `@`, got "a""#;
    assert_eq!(told(&event(), &pattern), expected);
    assert_eq!(told(&json!({"const": {"a": 1}}), &json!(2)), r#"expected {"a":1}, got 2"#);
    assert_eq!(told(&json!({"multipleOf": 3}), &json!(4)), "expected a multiple of 3, got 4");
    let not = told(&json!({"not": {"type": "string"}}), &json!("x"));
    assert_eq!(not, r#"expected nothing of {"type":"string"}, got "x""#);
    assert_eq!(told(&json!(false), &json!(1)), "expected nothing here, got 1");
}

#[test]
fn long_listings_are_cut() {
    let options: Vec<u32> = (0..20).collect();
    let expected = "expected one of 0, 1, 2, 3, 4, 5, 6, 7, … (20 in all), got 99";
    assert_eq!(told(&json!({"enum": options}), &json!(99)), expected);
    let names: Vec<String> = (0..20).map(|index| format!("champion_{index}")).collect();
    let found = told(&json!({"enum": names}), &json!("CHAMPION 19"));
    assert!(found.contains(r#""champion_7", … "champion_19", (20 in all)"#), "{found}");
    let many = told(&json!({"items": {"type": "null"}}), &json!([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
    assert_eq!(many.matches("expected null").count(), Violations::MOST);
    assert!(many.ends_with("; and 2 more"), "{many}");
}

#[test]
fn values_are_shown_on_one_short_line() {
    let got = |value: Value| {
        let found = Schema::compile(&json!({"type": "null"})).unwrap();
        found.check(&value).unwrap_err().places.remove(0).got
    };
    assert_eq!(got(json!("a\nb\u{1b}[31m\u{202e}")), r#""a\nb\u001b[31m\u{202e}""#);
    assert_eq!(got(json!("x".repeat(100_000))).chars().count(), 61);
    assert_eq!(got(json!({"k": "x".repeat(1_000)})).chars().count(), 61);
    assert_eq!(got(Value::from(vec![0; 100_000])).chars().count(), 61);
}

#[test]
fn an_unknown_argument_hears_of_the_known_ones() {
    let schema = json!({"properties": {"path": {}, "limit": {}}, "additionalProperties": false});
    for (name, expected) in [
        ("Path", "did you mean `path`?"),
        ("limits", "did you mean `limit`?"),
        ("pahts", "did you mean `path`?"),
        ("verbose", "known are `path`, `limit`"),
    ] {
        let expected = format!("`/{name}`: not a known argument, {expected}");
        assert_eq!(told(&schema, &json!({name: 1})), expected);
    }
    let none = told(&json!({"additionalProperties": false}), &json!({"a": 1}));
    assert_eq!(none, "`/a`: not a known argument: leave it out");
}

#[test]
fn of_alternatives_the_one_that_was_meant_is_told() {
    let shape = |kind: &str, size: &str| {
        json!({
            "type": "object",
            "properties": {"kind": {"const": kind}, size: {"type": "number"}},
            "required": ["kind", size],
        })
    };
    for keyword in ["anyOf", "oneOf"] {
        let schema = json!({"properties": {"shape": {
            keyword: [shape("circle", "radius"), shape("square", "side"), {"type": "null"}]}}});
        let found = told(&schema, &json!({"shape": {"kind": "square", "side": "2"}}));
        assert_eq!(found, r#"`/shape/side`: expected a number, got "2""#);
        let found = told(&schema, &json!({"shape": 3}));
        assert_eq!(found, "`/shape`: expected an object or null, got 3");
    }
    let optional = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
    assert_eq!(told(&optional, &json!("x")), r#"expected an integer or null, got "x""#);
    let both = told(&json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}), &json!(1));
    assert_eq!(both, "expected a value that fits only one of the alternatives, got 1");
}

#[test]
fn names_of_members_are_told_where_they_stand() {
    let schema = json!({"propertyNames": {"pattern": "^[a-z]+$"}});
    let expected = r#"`/A~1b`: expected a name that is text that matches `^[a-z]+$`, got "A/b""#;
    assert_eq!(told(&schema, &json!({"A/b": 1})), expected);
}
