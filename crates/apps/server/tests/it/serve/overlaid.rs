//! Single fields that are changed over the configuration while it is served.

use serde_json::{Value, json};

use super::support::{Serving, eventually, state};
use crate::process::{Folder, Ran};

const FILE: &str = r#"allow = ["*"]

[[source]]
id = "basics"
prefix = ""
basics = ["text_count", "calculate"]   # harmless
"#;

fn serving(words: &[&str]) -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    Serving::start_in(folder, words)
}

fn change(serving: &Serving, words: &[&str]) -> Ran {
    serving.folder.run(&[&["overlay"], words].concat())
}

fn tools(serving: &Serving) -> Vec<String> {
    let listed = serving.ask("GET", "/v1/tools", "").json();
    let names = listed["tools"].as_array().unwrap().iter();
    names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_tool_that_is_switched_off_over_the_file_is_gone_at_once_and_comes_back_with_the_undo() {
    let serving = serving(&[]);
    assert_eq!(tools(&serving), ["calculate", "text_count"]);
    let off = change(&serving, &["set", "tool.calculate.enabled", "false", "--why", "it is slow"]);
    assert_eq!(off.code, 0, "{off:?}");
    assert!(off.err.contains("`toolcrib overlay undo 1` takes it back"), "{off:?}");
    assert!(eventually(|| tools(&serving) == ["text_count"]));
    // Every command heeds it.
    let call = ["call", "calculate", "{\"expression\": \"1\"}"];
    assert_ne!(serving.folder.run(&call).code, 0);
    let shown = change(&serving, &["show", "--json"]).json();
    let row = &shown["rows"][0];
    let told = (&row["path"], &row["value"], &row["was"], &row["state"], &row["why"]);
    let wanted = (
        &json!("tool.calculate.enabled"),
        &json!(false),
        &Value::Null,
        &json!("in_force"),
        &json!("it is slow"),
    );
    assert_eq!(told, wanted, "{shown}");
    let exported = change(&serving, &["export"]).out;
    assert_eq!(exported, format!("{FILE}\n[tool.calculate]\nenabled = false\n"));
    assert_eq!(std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap(), FILE);
    assert_eq!(change(&serving, &["undo", "1"]).code, 0);
    assert!(eventually(|| tools(&serving) == ["calculate", "text_count"]));
    let again = change(&serving, &["undo", "1"]);
    assert!(again.code == 2 && again.err.contains("there is no change 1"), "{again:?}");
}

#[test]
fn a_change_outlives_the_server_ends_with_its_time_and_is_left_out_on_demand() {
    let first = serving(&[]);
    assert_eq!(change(&first, &["set", "deny", "[\"text_*\"]"]).code, 0);
    let off = ["set", "tool.calculate.enabled", "false", "--for", "12s"];
    assert_eq!(change(&first, &off).code, 0);
    assert!(eventually(|| tools(&first).is_empty()));
    assert!(eventually(|| tools(&first) == ["calculate"]), "it never ends");
    let second = crate::keep::killed(first);
    assert_eq!(tools(&second), ["calculate"]);
    let mut second = second;
    let _ = (second.child.kill(), second.child.wait());
    let folder = std::mem::replace(&mut second.folder, Folder::new());
    let third = Serving::start_in(folder, &["--no-overlay"]);
    assert_eq!(tools(&third), ["calculate", "text_count"]);
}

#[test]
fn what_the_file_could_not_say_is_refused_and_what_cannot_be_read_keeps_a_server_from_starting() {
    let serving = serving(&[]);
    let refused = |words: &[&str]| {
        let ran = change(&serving, words);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.err
    };
    let told = refused(&["set", "tool.calculate.efect", "read"]);
    assert!(told.contains("did you mean `effect`?"), "{told}");
    let told = refused(&["set", "server.listen", "0.0.0.0:1"]);
    assert!(told.contains("cannot be changed over the file"), "{told}");
    let told = refused(&["set", "tool.calculate.timeout", "5s", "--for", "soon"]);
    assert!(told.contains("30m, 2h or 7d"), "{told}");
    assert_eq!(change(&serving, &["show", "--json"]).json()["rows"], json!([]));
    assert_eq!(change(&serving, &["set", "tool.calculate.enabled", "false"]).code, 0);
    assert!(eventually(|| tools(&serving) == ["text_count"]));
    let kept = std::fs::read_dir(format!("{}/toolcrib/overlays", state(&serving.folder))).unwrap();
    let mut kept = kept.map(|file| file.unwrap().path());
    let file = kept.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    std::fs::write(file, "{").unwrap();
    // What cannot be read changes nothing of what is in force.
    serving.hears("what was changed over `crib.toml` cannot be read");
    assert_eq!(tools(&serving), ["text_count"]);
    let mut serving = serving;
    let _ = (serving.child.kill(), serving.child.wait());
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    let Err((_, told)) = Serving::starting_or_refused(folder, &[]) else { panic!("it serves") };
    assert!(told.contains("`serve --no-overlay` does without it"), "{told}");
}

#[test]
fn what_a_change_only_takes_away_needs_no_new_trust() {
    let folder = Folder::new();
    let source =
        |id: &str| format!("[[source]]\nid = \"{id}\"\nmcp = {{ command = [\"{id}\"] }}\n");
    folder.write("crib.toml", &format!("{FILE}{}{}", source("one"), source("two")));
    assert_eq!(folder.run(&["trust", "crib.toml"]).code, 0);
    let serving = Serving::starting_found(folder);
    let on = |serving: &Serving| {
        let listed = serving.ask("GET", "/v1/sources", "").json();
        let ids = listed["sources"].as_array().unwrap().iter();
        ids.map(|source| source["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(on(&serving), ["basics", "one", "two"]);
    assert_eq!(change(&serving, &["set", "source.one.enabled", "false"]).code, 0);
    assert!(eventually(|| on(&serving) == ["basics", "two"]), "{:?}", on(&serving));
}

#[test]
fn a_change_that_would_do_nothing_is_no_change() {
    let serving = serving(&[]);
    let rows = || change(&serving, &["show", "--json"]).json()["rows"].as_array().unwrap().len();
    let typo = change(&serving, &["set", "source.basic.enabled", "false"]);
    assert!(typo.code == 2 && typo.err.contains("no source or profile"), "{typo:?}");
    let text = change(&serving, &["set", "deny", "text_count"]);
    assert!(text.code == 2 && text.err.contains("deny"), "{text:?}");
    assert_eq!(change(&serving, &["set", "source.basics.exclude", "[\"text_count\"]"]).code, 0);
    assert_eq!(rows(), 1);
    let same = change(&serving, &["set", "allow", "[\"*\"]"]);
    assert!(same.code == 0 && same.err.contains("in the file already"), "{same:?}");
    assert_eq!(rows(), 1);
    assert_eq!(change(&serving, &["set", "deny", "[\"a\"]"]).code, 0);
    assert_eq!(change(&serving, &["set", "deny", "[\"b\"]"]).code, 0);
    assert_eq!(rows(), 3);
}

#[test]
fn the_file_of_another_program_is_changed_as_well() {
    let folder = Folder::new();
    folder.write(
        "mcp.json",
        r#"{"mcpServers": {"one": {"command": "one"}, "two": {"command": "two"}}}"#,
    );
    let serving = Serving::starting_at(folder, &["mcp.json", "--listen", "127.0.0.1:0"]);
    let count =
        || serving.ask("GET", "/v1/sources", "").json()["sources"].as_array().unwrap().len();
    assert_eq!(count(), 2);
    let off = ["--config", "mcp.json", "overlay", "set", "source.one.enabled", "false"];
    assert_eq!(serving.folder.run(&off).code, 0);
    assert!(eventually(|| count() == 1));
}
