//! Fields that are changed over the file by way of REST, as the page does it: the same file, the
//! same checks and the same lock as those of `toolcrib overlay`.

use serde_json::{Value, json};

use super::page_events::Follower;
use super::support::{Answer, Serving, eventually, state};
use crate::process::Folder;

const FILE: &str = r#"allow = ["*"]
ask = ["uuid_new"]

[audit]
file = "audit.jsonl"

[[source]]
id = "basics"
prefix = ""
basics = ["text_count", "calculate", "uuid_new"]   # harmless
"#;

const HOSTILE: &str = "\"><img src=x onerror=alert(1)> \u{202e}gnp.exe {{7*7}} ```";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    folder
}

fn serving() -> Serving {
    Serving::start_in(folder(), &[])
}

fn post(serving: &Serving, body: &Value) -> Answer {
    serving.ask("POST", "/v1/overlay", &body.to_string())
}

/// Changes a field as whoever has just looked.
fn set(serving: &Serving, path: &str, value: &Value) -> Answer {
    let expect = now(serving)["version"].clone();
    post(serving, &json!({ "expect": expect, "changes": [{ "path": path, "value": value }] }))
}

fn now(serving: &Serving) -> Value {
    let answer = serving.ask("GET", "/v1/overlay", "");
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn tools(serving: &Serving) -> Vec<String> {
    let listed = serving.ask("GET", "/v1/tools", "").json();
    let names = listed["tools"].as_array().unwrap().iter();
    names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// What the record of decisions has of changes, each as its act and its path.
fn recorded(serving: &Serving) -> Vec<String> {
    let text = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_overlay = lines.filter(|line| line.to_string().contains("\"overlay\""));
    let told = of_overlay.filter_map(|line| {
        let record = if line["record"] == "overlay" { &line } else { &line["body"] };
        let act = record["act"].as_str()?;
        Some(format!("{act} {}", record["path"].as_str().unwrap_or_default()))
    });
    told.filter(|line| !line.starts_with("followed")).collect()
}

#[test]
fn a_field_is_changed_at_once_shown_by_the_command_and_taken_back() {
    let serving = serving();
    assert_eq!(tools(&serving), ["calculate", "text_count", "uuid_new"]);
    let mut told = Follower::of(&serving, &serving.token);
    assert_eq!(now(&serving), json!({ "version": 0, "rows": [] }));
    let body = json!({ "expect": 0, "why": HOSTILE, "until": "2031-01-31T12:00:00Z",
        "changes": [{ "path": "tool.calculate.enabled", "value": false }] });
    let made = post(&serving, &body);
    assert_eq!(made.status, 200, "{made:?}");
    let made = made.json();
    assert_eq!((&made["in_force"], &made["version"]), (&json!(true), &json!(1)), "{made}");
    let effects = json!({ "shown": [], "hidden": ["calculate"], "relaxed": [] });
    assert_eq!(made["effects"], effects);
    // Whoever is answered finds it so.
    assert_eq!(tools(&serving), ["text_count", "uuid_new"]);
    let row = &now(&serving)["rows"][0];
    let wanted = json!({ "id": 1, "path": "tool.calculate.enabled", "value": false, "was": null,
        "file": null, "by": "local", "at": row["at"], "why": HOSTILE,
        "until": "2031-01-31T12:00:00Z", "state": "in_force" });
    assert_eq!(row, &wanted);
    let shown = serving.folder.run(&["overlay", "show", "--json"]).json();
    let of_command = ["path", "value", "why", "state"].map(|name| shown["rows"][0][name].clone());
    assert_eq!(of_command, ["path", "value", "why", "state"].map(|name| row[name].clone()));
    told.until(|name, data| name == "overlay" && data["made"][0]["path"] == row["path"]);
    // It comes back by the undo, which says what becomes possible.
    let gone = serving.ask("DELETE", "/v1/overlay/1", "").json();
    let relaxed = json!([{ "tool": "calculate", "what": "it may be seen and called again" }]);
    let effects = json!({ "shown": ["calculate"], "hidden": [], "relaxed": relaxed });
    assert_eq!((&gone["effects"], &gone["rows"]), (&effects, &json!([])), "{gone}");
    assert_eq!(tools(&serving), ["calculate", "text_count", "uuid_new"]);
    let again = serving.ask("DELETE", "/v1/overlay/1", "");
    assert_eq!(again.problem(), "404 unknown-change");
    assert_eq!(serving.ask("DELETE", "/v1/overlay/x", "").problem(), "404 unknown-change");
    let acts = ["made tool.calculate.enabled", "taken_back tool.calculate.enabled"];
    assert!(eventually(|| recorded(&serving) == acts), "{:?}", recorded(&serving));
    assert_eq!(std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap(), FILE);
}

#[test]
fn a_change_of_what_is_no_more_so_is_refused_and_shown_what_is() {
    let serving = serving();
    assert_eq!(set(&serving, "tool.calculate.enabled", &json!(false)).status, 200);
    // The command changes the same file.
    let off = ["overlay", "set", "tool.text_count.enabled", "false"];
    assert_eq!(serving.folder.run(&off).code, 0);
    let stale = json!({ "expect": 1,
        "changes": [{ "path": "tool.calculate.enabled", "value": true }] });
    let refused = post(&serving, &stale);
    assert_eq!(refused.problem(), "409 version-conflict");
    let theirs = &refused.json()["overlay"];
    assert_eq!((&theirs["version"], theirs["rows"].as_array().unwrap().len()), (&json!(2), 2));
    assert_eq!(post(&serving, &json!({ "expect": 1, "changes": [], "dry_run": true })).status, 422);
    assert!(eventually(|| tools(&serving) == ["uuid_new"]));
}

#[test]
fn of_two_who_change_it_at_once_one_is_first_and_nothing_is_lost() {
    let serving = serving();
    for round in 0..10 {
        let before = now(&serving);
        let expect = before["version"].clone();
        let paths = ["tool.calculate.title", "tool.text_count.title"];
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let asking = paths.map(|path| {
                let body = json!({ "expect": expect,
                    "changes": [{ "path": path, "value": format!("title {round}") }] });
                let serving = &serving;
                scope.spawn(move || post(serving, &body).status)
            });
            asking.map(|one| one.join().unwrap()).to_vec()
        });
        let mut sorted = statuses.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [200, 409]);
        let after = now(&serving);
        assert_eq!(after["version"], json!(expect.as_u64().unwrap() + 1));
        let first = paths[statuses.iter().position(|status| *status == 200).unwrap()];
        let rows = after["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["path"] == first).unwrap();
        assert_eq!(row["value"], format!("title {round}"));
    }
}

#[test]
fn what_the_file_could_not_say_is_refused_in_its_words_at_its_place() {
    let serving = serving();
    let problems = |path: &str, value: Value| {
        let refused = set(&serving, path, &value);
        assert_eq!(refused.problem(), "409 change-refused", "{refused:?}");
        refused.json()["problems"][0].clone()
    };
    let told = problems("tool.calculate.efect", json!("read"));
    assert_eq!(told["path"], "tool.calculate.efect");
    assert!(told["message"].as_str().unwrap().contains("did you mean `effect`?"), "{told}");
    let told = problems("server.listen", json!("0.0.0.0:1"));
    assert!(told["message"].as_str().unwrap().contains("cannot be changed over the file"));
    let told = problems("source.none.enabled", json!(false));
    assert!(told["message"].as_str().unwrap().contains("no source or profile"), "{told}");
    problems(HOSTILE, json!(1));
    problems("tool.calculate.timeout", json!({ "deep": [HOSTILE] }));
    // A trial says the same, and tells what would come of what may be.
    let tried = |changes: Value| {
        let body = json!({ "expect": 0, "dry_run": true, "changes": changes });
        let answer = post(&serving, &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let wrong = tried(json!([{ "path": "tool.calculate.efect", "value": "read" }]));
    assert_eq!(wrong["problems"][0]["path"], "tool.calculate.efect");
    let neither = tried(json!([{ "path": "tool.calculate.effect" }]));
    assert!(neither["problems"].to_string().contains("either `value` or `unset`"), "{neither}");
    let laxer = tried(json!([
        { "path": "tool.uuid_new.approval", "value": "" },
        { "path": "tool.calculate.timeout", "value": "10m" },
        { "path": "allow", "value": ["x_*"] },
        { "path": "deny", "value": ["text_*"] },
    ]));
    let relaxed = laxer["effects"]["relaxed"].as_array().unwrap().iter();
    let relaxed: Vec<_> = relaxed.map(|row| row["tool"].as_str().unwrap()).collect();
    assert_eq!(relaxed, ["uuid_new", "calculate", "allow"], "{laxer}");
    assert_eq!(laxer["effects"]["hidden"], json!(["text_count"]), "{laxer}");
    assert_eq!((&laxer["in_force"], &laxer["rows"]), (&Value::Null, &json!([])));
    assert_eq!(now(&serving), json!({ "version": 0, "rows": [] }));
    let bad_time = json!({ "expect": 0, "until": "soon",
        "changes": [{ "path": "tool.calculate.enabled", "value": false }] });
    assert_eq!(post(&serving, &bad_time).problem(), "422 invalid-body");
    let past = json!({ "expect": 0, "until": "2020-01-01T00:00:00Z",
        "changes": [{ "path": "tool.calculate.enabled", "value": false }] });
    assert_eq!(post(&serving, &past).problem(), "409 change-refused");
    let long = json!({ "expect": 0, "why": "x".repeat(501),
        "changes": [{ "path": "tool.calculate.enabled", "value": false }] });
    assert_eq!(post(&serving, &long).problem(), "422 invalid-body");
}

#[test]
fn many_fields_are_changed_together_or_not_at_all_and_taken_back_by_their_places() {
    let serving = serving();
    let off = |name: &str| json!({ "path": format!("tool.{name}.enabled"), "value": false });
    let bad = json!({ "path": "tool.uuid_new.effect", "value": "none" });
    let body = json!({ "expect": 0, "changes": [off("calculate"), bad, off("text_count")] });
    assert_eq!(post(&serving, &body).problem(), "409 change-refused");
    assert_eq!(tools(&serving).len(), 3);
    let body = json!({ "expect": 0, "changes": [off("calculate"), off("text_count")] });
    let made = post(&serving, &body).json();
    assert_eq!((&made["made"], &made["version"]), (&json!([1, 2]), &json!(2)), "{made}");
    assert_eq!(tools(&serving), ["uuid_new"]);
    let unset = |name: &str| json!({ "path": format!("tool.{name}.enabled"), "unset": true });
    let back = json!({ "expect": 2, "changes": [unset("calculate"), unset("text_count")] });
    assert_eq!(post(&serving, &back).json()["rows"], json!([]));
    assert_eq!(tools(&serving).len(), 3);
    // Of rules each row is one of several at the same place.
    assert_eq!(set(&serving, "deny", &json!(["calculate"])).status, 200);
    assert_eq!(set(&serving, "deny", &json!(["text_count"])).status, 200);
    assert_eq!(tools(&serving), ["uuid_new"]);
    let one = json!({ "expect": 6, "changes": [{ "path": "deny", "unset": true, "row": 5 }] });
    let back = post(&serving, &one).json();
    assert_eq!(back["effects"]["shown"], json!(["calculate"]), "{back}");
    assert_eq!(tools(&serving), ["calculate", "uuid_new"]);
    let none = json!({ "expect": 7, "changes": [unset("calculate")] });
    assert_eq!(post(&serving, &none).problem(), "409 change-refused");
}

#[test]
fn the_states_of_rows_follow_the_file_and_the_export_is_a_patch_of_it() {
    let serving = serving();
    assert_eq!(set(&serving, "tool.calculate.title", &json!("Sums")).status, 200);
    assert_eq!(set(&serving, "source.basics.exclude", &json!(["text_count"])).status, 200);
    let export = |form: &str| {
        let told = serving.ask("GET", &format!("/v1/overlay/export?form={form}"), "").json();
        assert_eq!(told["masked"], false);
        told["text"].as_str().unwrap().to_owned()
    };
    let file = export("file");
    assert_eq!(serving.folder.run(&["overlay", "export"]).out.trim_end(), file.trim_end());
    let patch = export("patch");
    assert!(patch.starts_with("--- a/crib.toml\n+++ b/crib.toml\n@@ "), "{patch}");
    assert!(patch.contains("\n+[tool.calculate]\n+title = \"Sums\"\n"), "{patch}");
    let fragment = export("toml");
    assert!(fragment.starts_with("[tool.calculate]\ntitle = \"Sums\"\n"), "{fragment}");
    assert!(fragment.contains("# exclude = [\"text_count\"]"), "{fragment}");
    assert_eq!(
        serving.ask("GET", "/v1/overlay/export?form=html", "").problem(),
        "400 invalid-query"
    );
    let states = || {
        let rows = now(&serving)["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states(), ["in_force", "in_force"]);
    serving.folder.write("crib.toml", &file);
    assert_eq!(states(), ["landed", "landed"]);
    let other = FILE.replace("id = \"basics\"", "id = \"other\"");
    serving.folder.write("crib.toml", &format!("{other}\n[tool.calculate]\ntitle = \"Other\"\n"));
    assert_eq!(states(), ["file_differs", "orphan"]);
    serving.folder.write("crib.toml", "[");
    assert_eq!(now(&serving)["rows"][0]["state"], Value::Null);
}

#[test]
fn nobody_but_the_operator_sees_or_changes_it_and_without_it_all_is_said_so() {
    let serving = serving();
    let other = serving.token_of("other");
    let body = json!({ "expect": 0,
        "changes": [{ "path": "tool.calculate.enabled", "value": false }] });
    for (method, path, body) in [
        ("GET", "/v1/overlay", String::new()),
        ("POST", "/v1/overlay", body.to_string()),
        ("DELETE", "/v1/overlay/1", String::new()),
        ("GET", "/v1/overlay/export", String::new()),
    ] {
        assert_eq!(serving.ask_as(&other, method, path, &body).problem(), "403 forbidden");
    }
    assert_eq!(now(&serving)["version"], 0);
    let without = Serving::start_in(folder(), &["--no-overlay"]);
    assert_eq!(without.ask("GET", "/v1/overlay", "").problem(), "409 overlay-off");
    assert_eq!(post(&without, &body).problem(), "409 overlay-off");
    assert_eq!(without.ask("DELETE", "/v1/overlay/1", "").problem(), "409 overlay-off");
    assert_eq!(without.ask("GET", "/v1/overlay/export", "").problem(), "409 overlay-off");
}

#[test]
fn a_server_that_dies_while_it_writes_a_change_has_it_whole_or_not_at_all() {
    let folder = folder();
    assert_eq!(folder.run(&["overlay", "set", "tool.text_count.enabled", "false"]).code, 0);
    let dying = Serving::start_dying(folder, "kept file written");
    let dying = dying.unwrap_or_else(|_| unreachable!("it never served"));
    let body = json!({ "expect": 1,
        "changes": [{ "path": "tool.calculate.enabled", "value": false }] });
    assert_eq!(post(&dying, &body).status, 0);
    let mut dying = dying;
    dying.child.wait().unwrap();
    let folder = std::mem::replace(&mut dying.folder, Folder::new());
    let again = Serving::start_in(folder, &[]);
    assert_eq!(now(&again)["version"], 1);
    assert_eq!(tools(&again), ["calculate", "uuid_new"]);
    // What is left of the attempt is in nobody's way.
    assert_eq!(set(&again, "tool.calculate.enabled", &json!(false)).status, 200);
    assert_eq!(tools(&again), ["uuid_new"]);
}

#[test]
fn a_change_that_cannot_be_kept_is_refused_and_nothing_of_it_holds() {
    let serving = serving();
    assert_eq!(set(&serving, "tool.text_count.enabled", &json!(false)).status, 200);
    let kept = std::fs::read_dir(format!("{}/toolcrib/overlays", state(&serving.folder))).unwrap();
    let mut kept = kept.map(|file| file.unwrap().path());
    let file = kept.find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, "{").unwrap();
    let refused = serving.ask("GET", "/v1/overlay", "");
    assert_eq!(refused.problem(), "503 unavailable");
    let body = json!({ "expect": 1,
        "changes": [{ "path": "tool.calculate.enabled", "value": false }] });
    assert_eq!(post(&serving, &body).problem(), "503 unavailable");
    // What was in force stays so.
    assert_eq!(tools(&serving), ["calculate", "uuid_new"]);
    std::fs::write(&file, good).unwrap();
    assert_eq!(post(&serving, &body).status, 200);
    assert_eq!(tools(&serving), ["uuid_new"]);
}

#[test]
fn an_export_shows_no_secret_that_is_written_out_in_the_file() {
    let folder = folder();
    let more = "[[source]]\nid = \"off\"\nenabled = false   # for now\n\
        mcp = { command = [\"x\", \"--token=hunter22x\", \"--key\", \"hunter23x\"], env = { API_KEY = \"hunter24x\", MODE = \"fast\" } }\n\n\
        [[source]]\nid = \"far\"\nenabled = false\n\
        openapi = { document = \"https://example.com/api.json?api_key=hunter25x\" }\n";
    folder.write("crib.toml", &format!("{FILE}\n{more}"));
    let serving = Serving::start_in(folder, &[]);
    assert_eq!(set(&serving, "source.off.timeout", &json!("9s")).status, 200);
    let export = |form: &str| {
        let told = serving.ask("GET", &format!("/v1/overlay/export?form={form}"), "").json();
        (told["text"].as_str().unwrap().to_owned(), told["masked"] == true)
    };
    let (file, is_masked) = export("file");
    assert!(is_masked && !file.contains("hunter2"), "{file}");
    let shown = "mcp = { command = [\"x\", \"[secret]\", \"--key\", \"[secret]\"], env = { API_KEY = \"[secret]\", MODE = \"fast\" } }\n";
    assert!(file.contains("enabled = false   # for now\n") && file.contains(shown), "{file}");
    let (patch, is_masked) = export("patch");
    assert!(
        is_masked && patch.contains("+timeout = \"9s\"") && !patch.contains("hunter2"),
        "{patch}"
    );
    let (fragment, is_masked) = export("toml");
    assert!(!is_masked && fragment.contains("timeout"), "{fragment}");
}
