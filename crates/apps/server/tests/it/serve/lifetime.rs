//! From the start to the end of a server: slow sources, new configurations, signals.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::script::{says, server};
use super::support::{Serving, bearer, eventually, head, state};
use crate::process::{Folder, run_in};

const BASICS: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

/// A server that greets, and whose one tool sleeps until it is woken.
fn sleeper() -> String {
    let tools = r#"[{"name": "nap", "description": "Sleeps.", "annotations": {"readOnlyHint": True},
            "inputSchema": {"type": "object"}}]"#;
    let rest = "while not os.path.exists('woken'):\n    time.sleep(0.05)";
    server("import os", tools, &[rest, &says("'rested'")].join("\n"))
}

/// Lets every sleeper of a server end.
fn wake(serving: &Serving) {
    serving.folder.write("woken", "");
}

/// Begins a call of a sleeper, with these further lines, and waits until it runs.
fn nap(serving: &Serving, more: &[&str]) -> TcpStream {
    let token = bearer(&serving.token);
    let lines = [more, &[token.as_str(), "Content-Type: application/json"]].concat();
    let head = head("POST", "/v1/calls", serving, &lines);
    let mut stream = serving.connect();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{NAP}", NAP.len()).unwrap();
    assert!(eventually(|| running(serving)[0]["calls"].is_array()));
    stream
}

const NAP: &str = r#"{"calls":[{"name":"s__nap"}]}"#;

fn running(serving: &Serving) -> Value {
    serving.ask("GET", "/v1/calls", "").json()["running"].clone()
}

fn napping() -> Serving {
    let folder = Folder::new();
    folder.write("sleeper.py", &sleeper());
    folder.write(
        "crib.toml",
        &format!("{BASICS}[[source]]\nid = \"s\"\nmcp = {{ command = [\"python3\", \"./sleeper.py\"], cwd = \".\" }}\n"),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 1 tools");
    serving
}

#[test]
fn a_slow_source_keeps_nobody_waiting() {
    let folder = Folder::new();
    folder.write("slow.py", "import time\ntime.sleep(600)\n");
    let slow = "[[source]]\nid = \"slow\"\nmcp = { command = [\"python3\", \"./slow.py\"], cwd = \".\" }\n";
    let broken = "[[source]]\nid = \"broken\"\nmcp = { command = [\"./is-not-there\"] }\n";
    folder.write("crib.toml", &format!("{slow}{broken}{BASICS}"));
    let serving = Serving::starting_in(folder, &[]);
    let total = || serving.ask("GET", "/v1/tools", "").json()["total"].as_u64().unwrap();
    assert!(eventually(|| total() > 5));
    assert_eq!(serving.ask("GET", "/readyz", "").status, 503);
    serving.hears("the source `broken` gives no tools");
    let sources = serving.ask("GET", "/v1/sources", "").json();
    let error = |place: usize| sources["sources"][place]["error"].is_string();
    assert_eq!((error(0), error(1), error(2)), (false, true, false), "{sources}");
}

#[test]
fn a_new_configuration_comes_into_force_and_a_bad_one_does_not() {
    let folder = Folder::new();
    folder.write("crib.toml", BASICS);
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`basics`: ");
    let has = |name: &str| serving.ask("GET", &format!("/v1/tools/{name}"), "").status == 200;
    assert!(has("calculate"));
    serving.folder.write("crib.toml", &BASICS.replace("prefix = \"\"", "prefix = \"b\""));
    assert!(eventually(|| has("b__calculate")));
    assert!(!has("calculate"));
    serving.hears("is in force: refitted `basics`");
    serving.folder.write("crib.toml", "[[source]]\nid = \"basics\"\nbasic = true\n");
    serving.hears("stays as it was until this is put right");
    assert!(has("b__calculate"));
    std::fs::remove_file(serving.folder.path().join("crib.toml")).unwrap();
    serving.hears("the configuration is gone");
    assert!(has("b__calculate"));
    serving.folder.write("crib.toml", BASICS);
    assert!(eventually(|| has("calculate")));
}

#[test]
fn a_configuration_that_is_being_written_comes_into_force_as_a_whole() {
    let folder = Folder::new();
    folder.write("crib.toml", BASICS);
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`basics`: ");
    // The first half is a configuration as well, and lacks what the whole one forbids.
    let mut file = File::create(serving.folder.path().join("crib.toml")).unwrap();
    let mut write = |text: &str| file.write_all(text.as_bytes()).unwrap();
    write(&BASICS.replace("\"\"", "\"b\""));
    let (began, mut last, mut longest) = (Instant::now(), Instant::now(), Duration::ZERO);
    while began.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(50));
        write("# More is to come.\n");
        longest = longest.max(last.elapsed());
        last = Instant::now();
    }
    write("[profile.late]\ndeny = [\"*\"]\n");
    serving.hears("is in force: refitted `basics`");
    let late = || serving.ask("GET", "/v1/tools?profile=late", "").json()["total"].clone();
    assert!(eventually(|| late() == json!(0)));
    // Whoever pauses for longer than the server looks has written a file of its own.
    if longest < Duration::from_millis(900) {
        let told = serving.told.lock().unwrap().clone();
        assert_eq!(told.matches("is in force").count(), 1, "{told}");
    }
}

#[test]
fn a_signal_lets_what_runs_end_and_leaves_no_child() {
    for signal in ["TERM", "INT"] {
        let mut serving = napping();
        let child = children(&serving);
        assert_eq!(child.len(), 1);
        let mut stream = nap(&serving, &[]);
        serving.signal(signal);
        // Nobody new is let in while it waits for what runs.
        assert!(eventually(|| TcpStream::connect(&serving.address).is_err()));
        wake(&serving);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("rested"), "{answer}");
        assert_eq!(serving.child.wait().unwrap().code(), Some(0));
        assert!(TcpStream::connect(&serving.address).is_err());
        assert!(eventually(|| !std::path::Path::new(&format!("/proc/{}", child[0])).exists()));
    }
}

#[test]
fn a_batch_can_be_cancelled_by_its_caller_alone() {
    let serving = napping();
    let mut stream = nap(&serving, &["Connection: close"]);
    let path = format!("/v1/calls/{}", running(&serving)[0]["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &path, "").status, 200);
    let other = serving.token_of("other");
    assert_eq!(serving.ask_as(&other, "DELETE", &path, "").problem(), "404 unknown-call");
    assert_eq!(serving.ask("DELETE", &path, "").json()["cancelled"], true);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\"error\":true"), "{answer}");
    assert!(eventually(|| running(&serving) == json!([])));
}

#[test]
fn an_answer_is_kept_for_whoever_left_with_a_key() {
    let serving = napping();
    let key = "Idempotency-Key: left";
    let stream = nap(&serving, &[key]);
    let id = running(&serving)[0]["id"].clone();
    drop(stream);
    let token = bearer(&serving.token);
    let head =
        head("POST", "/v1/calls", &serving, &[key, &token, "Content-Type: application/json"]);
    let again = || serving.send(&head, NAP);
    assert_eq!(again().problem(), "409 key-in-use");
    wake(&serving);
    assert!(eventually(|| again().status == 200));
    assert_eq!((again().json()["id"].clone(), again().body.contains("rested")), (id, true));
}

/// The processes that a server started.
fn children(serving: &Serving) -> Vec<String> {
    let id = serving.child.id();
    let text = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let mut children: Vec<_> = text.split_whitespace().map(ToOwned::to_owned).collect();
    for task in std::fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(text.split_whitespace().map(ToOwned::to_owned));
    }
    children.sort();
    children.dedup();
    children
}

#[test]
fn a_second_server_is_told_of_all_that_the_first_one_has() {
    let folder = Folder::new();
    folder.write("crib.toml", BASICS);
    let first = Serving::start_in(folder, &[]);
    let second = |folder: &Folder, address: &str| {
        let words = ["serve", "--listen", address];
        let ran = run_in(folder, &words, &[("XDG_STATE_HOME", &state(folder))]);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.err
    };
    let (place, record) = (format!("listens on {}", first.address), "another process");
    let both = second(&first.folder, &first.address);
    assert!(
        both.contains(&place) && both.contains("`--listen`") && both.contains(record),
        "{both}"
    );
    let elsewhere = second(&first.folder, "127.0.0.1:0");
    assert!(!elsewhere.contains("--listen") && elsewhere.contains(record), "{elsewhere}");
    let other = Folder::new();
    other.write("crib.toml", BASICS);
    let taken = second(&other, &first.address);
    assert!(taken.contains(&place) && taken.contains("`--listen`"), "{taken}");
    assert!(!taken.contains(record), "{taken}");
    // Where the decisions are recorded is looked at first.
    other.write("crib.toml", &format!("[audit]\nfile = \"audit.jsonl\"\n{BASICS}"));
    let audited = Serving::start_in(other, &[]);
    let both = second(&audited.folder, &audited.address);
    let place = format!("listens on {}", audited.address);
    assert!(both.contains(&place) && both.contains("audit.jsonl"), "{both}");
}
