//! Single fields that hold over a file.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_config::{Config, Overlay, OverlayPath, OverlayRow, OverlayStanding};

const FILE: &str = r#"# The tools of the office.
allow = ["*"]  # for now

[[source]]
id = "clock"   # tells the time
prefix = ""
basics = ["time_now", "calculate"]

[tool.calculate]
timeout = "5s"   # it is quick
description = "Does sums."
"#;

const NOW: u64 = 1_800_000_000;

fn path(text: &str) -> OverlayPath {
    text.parse().unwrap()
}

fn over(rows: &[(&str, Value)]) -> Overlay {
    let row = |(place, (text, value)): (usize, &(&str, Value))| OverlayRow {
        id: place as u64 + 1,
        path: path(text),
        value: value.clone(),
        was: Overlay::said(&path(text), FILE, "crib.toml"),
        by: "ann".to_owned(),
        at: NOW - 60,
        why: None,
        until: None,
    };
    Overlay { version: rows.len() as u64, rows: rows.iter().enumerate().map(row).collect() }
}

#[test]
fn a_row_changes_its_field_and_nothing_else_of_the_text() {
    let overlay = over(&[
        ("tool.calculate.timeout", json!("1s")),
        ("tool.calculate.description", Value::Null),
        ("tool.time_now.enabled", json!(false)),
        ("tool.\"a/b\".guidance.system", json!("Say \"please\".")),
        ("source.clock.exclude", json!(["calculate"])),
        ("deny", json!(["time_*"])),
        ("allow", json!(["x"])),
    ]);
    let folded = overlay.folded(FILE, "crib.toml", NOW);
    let wanted = r#"# The tools of the office.
allow = ["*", "x"]  # for now
deny = ["time_*"]

[[source]]
id = "clock"   # tells the time
prefix = ""
basics = ["time_now", "calculate"]
exclude = ["calculate"]

[tool.calculate]
timeout = "1s"   # it is quick

[tool.time_now]
enabled = false

[tool."a/b"]

[tool."a/b".guidance]
system = 'Say "please".'
"#;
    assert_eq!(folded, wanted);
    assert_eq!(overlay.standings(FILE, "crib.toml", NOW), [OverlayStanding::InForce; 7]);
}

#[test]
fn a_row_tells_what_it_comes_to_when_the_file_moves_beneath_it() {
    let mut overlay = over(&[
        ("tool.calculate.timeout", json!("1s")),
        ("tool.calculate.description", json!("Adds.")),
        ("source.clock.enabled", json!(false)),
        ("profile.quiet.max_calls", json!(3)),
        ("deny", json!(["time_*"])),
        ("tool.time_now.enabled", json!(false)),
    ]);
    overlay.rows[5].until = Some(NOW);
    let moved = "deny = [\"a\", \"time_*\"]\n[[source]]\nid = \"other\"\nbasics = true\n\
                 [tool.calculate]\ntimeout = \"2s\"\ndescription = \"Adds.\"\n";
    let standings = overlay.standings(moved, "crib.toml", NOW);
    let [differs, landed, orphan, over] = [
        OverlayStanding::FileDiffers,
        OverlayStanding::Landed,
        OverlayStanding::Orphan,
        OverlayStanding::Over,
    ];
    assert_eq!(standings, [differs, landed, orphan, orphan, landed, over]);
    assert_eq!(overlay.folded(moved, "crib.toml", NOW), moved.replace("\"2s\"", "\"1s\""));
    assert_eq!(overlay.next_end(NOW - 1), Some(NOW));
    assert_eq!(overlay.next_end(NOW), None);
}

#[test]
fn what_is_wrong_with_a_row_is_told_with_its_number_and_nothing_comes_into_force() {
    let told = |rows: &[(&str, Value)]| {
        let read = Config::read_over(FILE, "crib.toml", &over(rows), NOW);
        assert!(read.config.is_none());
        read.problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let told = told(&[
        ("tool.time_now.enabled", json!(false)),
        ("tool.calculate.timeout", json!(true)),
        ("tool.calculate.efect", json!("read")),
        ("source.clock.timeout", json!("soon")),
    ]);
    let start = |text: &str| told.iter().any(|line| line.starts_with(text));
    assert!(start("overlay:2:1: tool.calculate.timeout: "), "{told:#?}");
    assert!(
        start("overlay:3:1: tool.calculate.efect: unknown key; did you mean `effect`?"),
        "{told:#?}"
    );
    assert!(start("overlay:4:1: source.clock.timeout: "), "{told:#?}");
    assert_eq!(told.len(), 3, "{told:#?}");
}

#[test]
fn rules_that_are_no_list_are_refused_and_lists_of_several_rows_are_all_in_force() {
    let no_lists = [json!("text_*"), Value::Null, json!({ "a": 1 })];
    for value in no_lists {
        let overlay = over(&[("deny", value)]);
        let read = Config::read_over(FILE, "crib.toml", &overlay, NOW);
        let told: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].starts_with("overlay:1:1: deny: "), "{told:?}");
    }
    let overlay = over(&[("deny", json!(["a"])), ("deny", json!(["b"]))]);
    let folded = overlay.folded(FILE, "crib.toml", NOW);
    assert_eq!(Overlay::said(&path("deny"), &folded, "crib.toml"), json!(["a", "b"]));
}

#[test]
fn the_file_of_another_program_is_changed_in_our_words() {
    let file = r#"{"mcpServers": {"clock": {"command": "clock"}}}"#;
    let overlay = over(&[("source.clock.enabled", json!(false))]);
    assert_eq!(overlay.standings(file, "mcp.json", NOW), [OverlayStanding::InForce]);
    let read = Config::read_over(file, "mcp.json", &overlay, NOW);
    assert!(read.config.is_some(), "{:?}", read.problems);
    let folded = overlay.folded(file, "mcp.json", NOW);
    assert!(folded.contains("enabled = false"), "{folded}");
}

#[test]
fn a_problem_of_the_file_has_its_own_place_whatever_holds_over_it() {
    let wrong = format!("{FILE}color = 1\n");
    let overlay = over(&[("tool.calculate.title", json!("Sums")), ("deny", json!(["a"]))]);
    let read = Config::read_over(&wrong, "crib.toml", &overlay, NOW);
    let alone = Config::read(&wrong, "crib.toml");
    assert!(!alone.problems.is_empty());
    assert_eq!(read.problems, alone.problems);
}

#[test]
fn what_may_not_be_changed_over_a_file_is_refused_with_what_may() {
    for text in
        ["server.listen", "source.clock.mcp", "store.url", "profile.x.sources", "tool.x", ""]
    {
        let error = text.parse::<OverlayPath>().unwrap_err();
        assert!(error.contains("tool."), "{text}: {error}");
    }
    let long = format!("tool.{}.enabled", "x".repeat(2_000));
    assert!(long.parse::<OverlayPath>().unwrap_err().contains("1024 bytes"));
    for text in ["tool.x.enabled", "tool.\"a/b\".effect", "allow", "source.s.enabled"] {
        assert_eq!(path(text).to_string(), text);
        assert_eq!(path(&path(text).to_string()), path(text));
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[a-z]{1,5}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// What TOML can say of it: it has no null.
fn without_null(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            items.iter().filter(|item| !item.is_null()).map(without_null).collect()
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(members.map(|(key, value)| (key.clone(), without_null(value))).collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            plain.clone()
        }
    }
}

proptest! {
    #[test]
    fn what_a_row_says_is_what_the_text_says_then(name in ".{1,12}", value in value()) {
        let text = format!("tool.{}.title", toml_key(&name));
        let row = over(&[(&text, value.clone())]);
        let folded = row.folded(FILE, "crib.toml", NOW);
        prop_assert_eq!(Overlay::said(&path(&text), &folded, "crib.toml"), without_null(&value));
        // The rest of the file is as it was.
        prop_assert_eq!(Overlay::said(&path("tool.calculate.timeout"), &folded, "crib.toml"), json!("5s"));
        let kept = serde_json::to_string(&row).unwrap();
        prop_assert_eq!(serde_json::from_str::<Overlay>(&kept).unwrap(), row);
    }
}

/// A key in quotes.
fn toml_key(name: &str) -> String {
    let escaped = name.chars().map(|letter| match letter {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        letter if letter.is_control() => format!("\\U{:08X}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
