//! Calls that only waited when the server was killed: nothing of them was sent, and they are told
//! so.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use super::doors::{Door, act};
use super::keys::{STORE, killed};
use super::upstream::Upstream;
use crate::process::{Folder, run_in};
use crate::serve::support::{Serving, bearer, eventually, head, state};

/// Sends a request whose answer nobody waits for, on a thread that ends with the server.
fn send(serving: &Serving, key: Option<&str>, body: &Value) {
    let key = key.map(|key| format!("Idempotency-Key: {key}"));
    let token = bearer(&serving.token);
    let mut lines = vec![token.as_str(), "Content-Type: application/json"];
    lines.extend(key.as_deref());
    let (head, body) = (head("POST", "/v1/calls", serving, &lines), body.to_string());
    let mut stream = serving.connect();
    std::thread::spawn(move || {
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let _ = stream.read(&mut [0]);
    });
}

fn one(how: &str, nonce: &str) -> Value {
    json!({ "id": nonce, "name": "web__act", "arguments": { "how": how, "nonce": nonce } })
}

/// How each call ended, by its name.
fn ends(serving: &Serving) -> Vec<(String, String)> {
    let page = serving.ask("GET", "/v1/calls?limit=500", "").json();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let calls = page["calls"].as_array().unwrap().iter();
    let mut ends: Vec<_> = calls.map(|call| (word(&call["id"]), word(&call["state"]))).collect();
    ends.sort();
    ends
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(id, state)| ((*id).to_owned(), (*state).to_owned())).collect()
}

#[test]
fn of_calls_that_wait_behind_one_that_was_sent_a_kill_makes_one_unknown() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    let calls: Vec<_> =
        [("late", "a"), ("ok", "b"), ("ok", "c"), ("ok", "d")].map(|(how, n)| one(how, n)).into();
    send(&serving, None, &json!({ "calls": calls }));
    assert!(eventually(|| upstream.oracle.count("a") == 1));
    assert!(eventually(|| ends(&serving).len() == 4));
    let serving = killed(serving);
    serving.hears("warning: 1 call had no end when the server was last stopped");
    let after =
        [("a", "interrupted"), ("b", "not_executed"), ("c", "not_executed"), ("d", "not_executed")];
    assert_eq!(ends(&serving), pairs(&after));
    // What was not sent is no reason to hold anything back; what was, is.
    for nonce in ["b", "c", "d"] {
        let told = Door::Rest.call(&serving, &act("web__act", "ok", nonce));
        assert!(!told.error && upstream.oracle.count(nonce) == 1, "{told:?}");
    }
    let held = Door::Rest.call(&serving, &act("web__act", "late", "a"));
    assert_eq!((held.status.as_str(), upstream.oracle.count("a")), ("duplicate_of_unknown", 1));
}

#[test]
fn a_call_that_waits_for_a_place_is_not_sent_and_its_key_is_free_after_a_kill() {
    let upstream = Upstream::start();
    let file = format!("{STORE}[limits]\nper_source = 1\n");
    let serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    send(&serving, Some("first"), &json!({ "calls": [one("late", "a")] }));
    assert!(eventually(|| upstream.oracle.count("a") == 1));
    let waits = json!({ "calls": [one("ok", "b")] });
    send(&serving, Some("second"), &waits);
    // The other door gives the key to the call itself.
    let wanted = act("web__act", "ok", "c").under("third");
    let (head, body) = (Door::Mcp.head(&serving, &serving.token, &wanted), Door::Mcp.body(&wanted));
    let mut stream = serving.connect();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    assert!(eventually(|| ends(&serving).len() == 3));
    let serving = killed(serving);
    let states: Vec<_> = ends(&serving).into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["interrupted", "not_executed", "not_executed"]);
    let again = Door::Rest.call(&serving, &act("web__act", "late", "a").under("first"));
    assert_eq!((again.error, upstream.oracle.count("a")), (true, 1), "{again:?}");
    let again = Door::Rest.call(&serving, &act("web__act", "ok", "b").under("second"));
    assert!(!again.error && upstream.oracle.count("b") == 1, "{again:?}");
    let again = Door::Mcp.call(&serving, &wanted);
    assert!(!again.error && upstream.oracle.count("c") == 1, "{again:?}");
    for (door, nonce, key) in [(Door::Rest, "b", "second"), (Door::Mcp, "c", "third")] {
        let same = door.call(&serving, &act("web__act", "ok", nonce).under(key));
        assert!(!same.error && upstream.oracle.count(nonce) == 1, "{same:?}");
    }
}

/// What an audit says of each call, by the digest of its arguments: every outcome, with its kind
/// and its reason.
fn audited(folder: &Folder) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines.filter(|line| line["call"].is_string()) {
        let told = calls.entry(line["call"].as_str().unwrap().to_owned()).or_default();
        if line["record"] == "outcome" {
            let words =
                ["outcome", "kind", "reason"].map(|name| line[name].as_str().unwrap_or("-"));
            told.push(words.join(" "));
        }
    }
    calls.into_values().collect()
}

const AUDIT: &str = "[audit]\nfile = \"audit.jsonl\"\n";

fn is_whole(folder: &Folder) {
    let state = state(folder);
    let ran = run_in(folder, &["audit", "verify"], &[("XDG_STATE_HOME", state.as_str())]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn the_audit_tells_an_end_of_each_call_that_a_kill_cut_off() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(&format!("{STORE}{AUDIT}")), &[]);
    let calls = [one("ok", "done"), one("late", "a"), one("ok", "b")];
    send(&serving, None, &json!({ "calls": calls }));
    assert!(eventually(|| upstream.oracle.count("a") == 1));
    assert!(eventually(|| ends(&serving).len() == 3));
    let serving = killed(serving);
    let expected = [
        vec!["done - -".to_owned()],
        vec!["failed unknown_outcome cut off by a restart".to_owned()],
        vec!["failed cancelled cut off by a restart".to_owned()],
    ];
    let ended = || audited(&serving.folder).iter().all(|told| !told.is_empty());
    assert!(eventually(ended));
    assert_eq!(audited(&serving.folder), expected);
    // Told once.
    let serving = killed(serving);
    Door::Rest.call(&serving, &act("web__act", "ok", "after"));
    assert!(eventually(|| audited(&serving.folder).len() == 4));
    assert_eq!(audited(&serving.folder)[..3], expected);
    is_whole(&serving.folder);
}

#[test]
fn the_audit_tells_the_end_of_a_call_that_never_came_to_the_ledger() {
    let upstream = Upstream::start();
    let folder = upstream.furnish_web(&format!("{STORE}{AUDIT}"));
    let mut serving = Serving::start_dying(folder, "admitted#1").unwrap_or_else(|_| unreachable!());
    let ready = || serving.send(&head("GET", "/readyz", &serving, &[]), "").status == 200;
    assert!(eventually(ready));
    send(&serving, None, &json!({ "calls": [one("ok", "a")] }));
    assert!(!serving.child.wait().unwrap().success());
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    let serving = Serving::start_in(folder, &[]);
    assert!(eventually(|| audited(&serving.folder).iter().all(|told| !told.is_empty())));
    let told = "failed cancelled cut off by a restart".to_owned();
    assert_eq!(audited(&serving.folder), [[told]]);
    assert_eq!(ends(&serving), []);
    assert_eq!(upstream.oracle.count("a"), 0);
    is_whole(&serving.folder);
}
