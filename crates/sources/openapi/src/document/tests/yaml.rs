//! YAML by the core schema of YAML 1.2.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::settings;
use crate::document::parse::{ParsedDocument, parse};
use crate::document::{DocumentError, inspect};

fn parsed(text: &str) -> ParsedDocument {
    parse(text, 1 << 20).unwrap_or_else(|error| panic!("{error}"))
}

fn value(text: &str) -> Value {
    parsed(text).value
}

/// Words, and what the table of section 10.3.2 makes of each.
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn table() -> Vec<(&'static str, Value)> {
    let texts = [
        "y",
        "Y",
        "yes",
        "Yes",
        "YES",
        "n",
        "N",
        "no",
        "No",
        "NO",
        "on",
        "On",
        "ON",
        "off",
        "Off",
        "OFF",
        "tRUE",
        "nULL",
        "nil",
        "2026-01-31",
        "2026-01-31T10:00:00Z",
        "12:30:45",
        "1:30",
        "1_000",
        "0b101",
        "0o8",
        "0xg",
        "0o",
        "0x",
        "+0x1",
        "-0o7",
        "1e",
        "e1",
        ".",
        "+",
        "-.",
        "1.2.3",
        "+.e3",
        ".inf",
        "-.INF",
        ".nan",
        ".NaN",
        "1 2",
        "--1",
        "١",
    ];
    let mut table: Vec<(&str, Value)> =
        texts.into_iter().map(|text| (text, Value::from(text))).collect();
    table.extend([
        ("null", Value::Null),
        ("Null", Value::Null),
        ("NULL", Value::Null),
        ("~", Value::Null),
        ("true", json!(true)),
        ("True", json!(true)),
        ("TRUE", json!(true)),
        ("false", json!(false)),
        ("False", json!(false)),
        ("FALSE", json!(false)),
        ("0", json!(0)),
        ("-0", json!(0)),
        ("+12", json!(12)),
        ("-19", json!(-19)),
        ("0755", json!(755)),
        ("-007", json!(-7)),
        ("00", json!(0)),
        ("0o17", json!(15)),
        ("0o07", json!(7)),
        ("0x3A", json!(58)),
        ("0xff", json!(255)),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("0xffffffffffffffff", json!(u64::MAX)),
        ("0.", json!(0.0)),
        (".5", json!(0.5)),
        ("-0.0", json!(-0.0)),
        ("12e03", json!(12e3)),
        ("-2E+05", json!(-2e5)),
        ("+1.5", json!(1.5)),
        ("00.5", json!(0.5)),
        ("1.e2", json!(1e2)),
    ]);
    table
}

/// However a number with a fraction is written.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other || other.is_f64() && one.as_f64() == other.as_f64()
}

#[test]
fn a_plain_word_is_what_the_core_schema_says() {
    for (word, expected) in table() {
        for text in
            [format!("x-a: [{word}]"), format!("x-a:\n- {word}"), format!("x-a:\n- !a {word}")]
        {
            assert!(is_same(&value(&text)["x-a"][0], &expected), "{text}: {}", value(&text));
        }
        for text in [
            format!("x-a: ['{word}']"),
            format!("x-a: [\"{word}\"]"),
            format!("x-a: [!!str {word}]"),
        ] {
            assert_eq!(value(&text)["x-a"][0], json!(word), "{text}");
        }
        // As a key it is the text that is written.
        assert_eq!(value(&format!("x-a: {{? {word} : 1}}"))["x-a"], json!({ word: 1 }), "{word}");
    }
    assert_eq!(
        value("x-a: [!!int '12', !!float '1.5', !!bool 'yes']")["x-a"],
        json!([12, 1.5, "yes"])
    );
}

#[test]
fn words_are_text_wherever_only_text_may_stand() {
    let yaml = "
openapi: 3.1
info: {title: 12, version: 1.10}
paths:
  /on/{n}:
    parameters: [{name: n, in: path, required: true, schema: {type: string}}]
    post:
      operationId: on
      tags: [2024, no]
      description: ~
      summary: null
      parameters:
      - {name: y, in: query, required: true, schema: {type: string, enum: [on, off]}}
      - {name: 1, in: query, required: yes, schema: {type: integer, enum: [0755, 0o10]}}
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [x, on, no, 7]
              properties:
                x: {type: [number, null]}
                on: {type: number}
                no: {type: string, enum: [NO, SE], default: NO}
                7: {type: string, enum: [0755, 1.10, 0x1F, 12345678901234567890123]}
                day: {type: string, default: 2026-01-31}
      responses: {'200': {description: yes}}
";
    let (tools, report) = inspect(yaml, &settings()).unwrap();
    let spec = &tools[0];
    let input = spec.input.value();
    assert_eq!(
        (spec.name.as_str(), spec.tags.clone()),
        ("on", vec!["2024".to_owned(), "no".to_owned()])
    );
    assert_eq!(
        (report.title.as_str(), report.version.as_str(), report.format.as_str()),
        ("12", "1.10", "3.1")
    );
    assert_eq!(input["required"], json!(["n", "y", "x", "on", "no", "7"]));
    assert_eq!(spec.description, "POST /on/{n}");
    let of = |name: &str| input["properties"][name].clone();
    assert_eq!(of("y")["enum"], json!(["on", "off"]));
    assert_eq!(of("1")["enum"], json!([755, 8]));
    assert_eq!(of("x")["type"], json!(["number", "null"]));
    assert_eq!(of("no"), json!({ "type": "string", "enum": ["NO", "SE"], "default": "NO" }));
    assert_eq!(of("7")["enum"], json!(["0755", "1.10", "0x1F", "12345678901234567890123"]));
    assert_eq!(of("day")["default"], json!("2026-01-31"));
}

#[test]
fn what_older_readers_read_otherwise_is_told_once_a_word() {
    let parsed = parsed(
        "info: {version: 2026-01-31}\na: [no, 'no', no]\nno: 1\nb: [0755, 1_000, 0o7, 1:30, 1e3, 10, yes]\n\
         example: [off]\nx-c: on\n",
    );
    let told: Vec<(&str, &str)> = parsed
        .words
        .iter()
        .map(|note| {
            let (word, rest) = note.split_once(" is read").unwrap();
            let taken = rest.split_once("take it for ").unwrap().1;
            (word, taken.strip_suffix(": quote it if it is text").unwrap())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("`2026-01-31` (line 1)", "a date"),
            ("`no` (line 2 and 2 more)", "`false`"),
            ("`0755` (line 4)", "an octal number"),
            ("`1_000` (line 4)", "a number"),
            ("`0o7` (line 4)", "text"),
            ("`1:30` (line 4)", "a number of base 60"),
            ("`1e3` (line 4)", "text"),
            ("`yes` (line 4)", "`true`"),
        ]
    );
}

#[test]
fn aliases_are_as_many_as_they_like_and_unfold_to_what_is_bounded() {
    let many = format!("t: &t {{type: string}}\nx: [{}]", "*t, ".repeat(20_000));
    assert_eq!(value(&many)["x"].as_array().unwrap().len(), 20_000);
    let chain = (1..60).map(|at| format!("a{at}: &a{at} {{n: *a{}}}\n", at - 1));
    let chain = chain.collect::<Vec<_>>().concat();
    assert!(value(&format!("a0: &a0 {{n: 1}}\n{chain}"))["a59"]["n"].is_object());
    let error = |text: &str| parse(text, 1 << 20).unwrap_err().to_string();
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        writeln!(laughs, "a{level}: &a{level} [{}]", format!("*a{}, ", level - 1).repeat(10))
            .unwrap();
    }
    assert!(error(&laughs).contains("unfold to more than"), "{}", error(&laughs));
    let long = format!("a: &a {}\nb: [{}]", "x".repeat(10_000), "*a, ".repeat(1_000));
    assert!(error(&long).contains("unfold to more than"), "{}", error(&long));
    let deep = (1..200).map(|at| format!("a{at}: &a{at} [*a{}]\n", at - 1));
    let deep = deep.collect::<Vec<_>>().concat();
    assert!(error(&format!("a0: &a0 [1]\n{deep}")).contains("nests too deep"));
    assert!(error("a: &a [*a]").contains("stands within what it means"));
    assert!(error("a: *b").contains("line 1"), "{}", error("a: *b"));
    assert!(error("a: 1\n--- \nb: 2").contains("another document"), "{}", error("a: 1\n---\nb: 2"));
}

#[test]
fn merged_keys_give_way_to_those_that_stand_there() {
    let text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 9}\nd:\n  <<: *a\n  w: 5\ne: {<<: 1}";
    let value = value(text);
    assert_eq!(value["c"], json!({ "x": 9, "y": 2, "z": 4 }));
    assert_eq!(value["d"], json!({ "w": 5, "x": 1, "y": 2 }));
    assert_eq!(value["e"], json!({ "<<": 1 }));
}

#[test]
fn yaml_may_look_like_json_and_json_tells_its_own_faults() {
    let flow = "{openapi: 3.1.0, paths: {/a: {get: {operationId: no}}}} # a comment";
    assert_eq!(inspect(flow, &settings()).unwrap().0[0].name.as_str(), "no");
    let error = inspect("{\"openapi\": \"3.1.0\",, }", &settings()).unwrap_err();
    assert!(matches!(error, DocumentError::Unreadable { format: "JSON", .. }), "{error}");
}
