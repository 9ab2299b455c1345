//! Single fields that hold over a file.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_config::{AddedSource, Config, Overlay, OverlayPath, OverlayRow, OverlayStanding};

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
fn a_source_that_a_row_adds_stands_behind_those_of_the_file_until_the_file_has_it() {
    let overlay = over(&[
        ("source.web.timeout", json!("9s")),
        ("source.web", json!({ "mcp": { "url": "https://x.example/\u{202e}" }, "prefix": "w" })),
        ("source.one.enabled", json!(false)),
    ]);
    let [in_force, landed, orphan] =
        [OverlayStanding::InForce, OverlayStanding::Landed, OverlayStanding::Orphan];
    // A field of it holds, whichever came first.
    assert_eq!(overlay.standings(FILE, "crib.toml", NOW), [in_force, in_force, orphan]);
    let folded = overlay.folded(FILE, "crib.toml", NOW);
    let added = "basics = [\"time_now\", \"calculate\"]\n\n[[source]]\nid = \"web\"\n\
                 prefix = \"w\"\ntimeout = \"9s\"\n\n[source.mcp]\n\
                 url = \"https://x.example/\\U0000202E\"\n";
    assert!(folded.contains(added), "{folded}");
    let ids = |overlay: &Overlay, text: &str| -> Vec<String> {
        overlay.sources(text, "crib.toml", NOW).iter().map(|row| row.path.to_string()).collect()
    };
    assert_eq!(ids(&overlay, FILE), ["source.web"]);
    // Sources may also stand in a list on one line, or not at all.
    for text in ["source = [{ id = \"one\", basics = true }]\n", ""] {
        let read = Config::read(&overlay.folded(text, "crib.toml", NOW), "crib.toml");
        let config = read.config.unwrap_or_else(|| unreachable!("{:?}", read.problems));
        assert_eq!(config.sources().last().map(ToString::to_string).as_deref(), Some("web"));
    }
    // The file holds, whatever it says of that id; the field holds over it then.
    let has_it = format!("{FILE}\n[[source]]\nid = \"web\"\nbasics = true\n");
    let differs = OverlayStanding::FileDiffers;
    let standings = overlay.standings(&has_it, "crib.toml", NOW);
    assert!(standings[0] == in_force || standings[0] == differs, "{standings:?}");
    assert_eq!(standings[1..], [landed, orphan]);
    assert_eq!(ids(&overlay, &has_it), Vec::<String>::new());
    let gone = Overlay { rows: overlay.rows[..1].to_vec(), ..overlay };
    assert_eq!(gone.standings(FILE, "crib.toml", NOW), [orphan]);
}

#[test]
fn what_is_wrong_with_an_added_source_is_told_at_its_place_within_it() {
    let rows = [
        ("source.web", json!({ "mcp": { "comand": ["x"] } })),
        ("source.two", json!({ "basics": true, "mcp": { "url": "https://x.example" } })),
        ("source.\"a b\"", json!({ "basics": true })),
    ];
    let read = Config::read_over(FILE, "crib.toml", &over(&rows), NOW);
    let told: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
    for start in [
        "overlay:1:1: source.web.mcp.comand: unknown key; did you mean `command`?",
        "overlay:2:1: source.two.basics: a source is one thing",
        "overlay:3:1: source.\"a b\".id: this cannot name a source",
    ] {
        assert!(told.iter().any(|line| line.starts_with(start)), "{start}: {told:#?}");
    }
}

#[test]
fn secrets_and_ways_to_this_machine_are_found_in_an_added_source() {
    let secrets = |value: Value| AddedSource::of(&value).unwrap().literal_secrets();
    let local = |value: Value| AddedSource::of(&value).unwrap().uses_machine();
    let harmless = json!({ "timeout": "5s", "include": ["get_*"], "mcp": {
        "url": "https://x.example/mcp?page=1", "bearer": "${env:A}",
        "headers": { "Authorization": "Bearer ${env:A}", "Accept": "text/plain" },
        "oauth": { "client_id": "q7Zr2Kp9Lx4Tn8Vb3Ws6", "client_secret": "${env:B}" },
        "limits": { "message": "1MiB" },
    } });
    // What a reference stands for would be sent to wherever the source is.
    assert_eq!((secrets(harmless.clone()), local(harmless)), (vec![], true));
    let public = json!({ "timeout": "5s", "include": ["get_*"], "mcp": {
        "url": "https://x.example/mcp?page=1", "headers": { "Accept": "text/plain" },
        "oauth": { "client_id": "crib", "scopes": ["a"] }, "limits": { "message": "1MiB" },
    } });
    assert_eq!((secrets(public.clone()), local(public)), (vec![], false));
    let api = json!({ "openapi": { "document": "https://x.example/api.json", "auth": {
        "client_credentials": { "token_url": "https://x.example/token", "client_id": "crib",
            "client_secret": "${env:A}" } } } });
    assert_eq!((secrets(api.clone()), local(api)), (vec![], true));
    let public = json!({ "openapi": { "document": "https://x.example/api.json" } });
    assert_eq!((secrets(public.clone()), local(public)), (vec![], false));
    // A harmless name makes no secret harmless.
    let named = json!({ "mcp": { "url": "https://x.example/", "env": { "keys": "ghp_0123456789abcdefghij" } } });
    assert_eq!(secrets(named), ["mcp.env.keys"]);
    let hidden = json!({ "mcp": {
        "command": ["x", "--token", "hunter22x", "--port", "80", "--key=hunter22x"],
        "env": { "API_KEY": "hunter22x", "MODE": "fast", "MIXED": "ghp_0123456789abcdefghij${env:A}" },
        "oauth": { "client_secret": "hunter22x" },
    }, "a2a": { "card": "https://ann:hunter22x@x.example", "auth": { "basic": { "password": "hunter22x" } } } });
    assert_eq!(
        secrets(hidden),
        [
            "mcp.command[2]",
            "mcp.command[5]",
            "mcp.env.API_KEY",
            "mcp.env.MIXED",
            "mcp.oauth.client_secret",
            "a2a.card",
            "a2a.auth.basic.password",
        ]
    );
    for value in [
        json!({ "mcp": { "command": ["x"] } }),
        json!({ "mcp": { "url": "https://x.example", "command": ["x"] } }),
        json!({ "mcp": { "url": "https://x.example", "bearer": "${file:/etc/key}" } }),
        json!({ "mcp": { "url": "https://x.example", "private": ["10.0.0.0/8"] } }),
        json!({ "mcp": { "url": "https://x.example", "oauth": { "tokens": "t.json" } } }),
        json!({ "openapi": { "document": "api.json" } }),
        json!({ "a2a": { "card": "https://x.example", "headers": { "X": "${file:k}" } } }),
        json!({ "desk": {} }),
        json!({ "other": 1 }),
    ] {
        assert!(local(value.clone()), "{value}");
    }
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
