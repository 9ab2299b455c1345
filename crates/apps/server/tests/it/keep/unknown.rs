//! A call whose outcome nobody knows: told plainly, never repeated, held back for a while.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use super::doors::{DOORS, Door, act};
use super::keys::{STORE, killed};
use super::upstream::Upstream;
use crate::process::shell;
use crate::serve::support::{Serving, eventually, state};

/// Gives up soon, so that what hangs has no known end.
fn impatient() -> String {
    let tools = ["web__act", "child__act"].map(|tool| format!("[tool.{tool}]\ntimeout = \"2s\"\n"));
    format!("{STORE}[limits]\nretries = 2\n{}", tools.concat())
}

#[test]
fn it_is_told_plainly_and_the_same_call_is_held_back_until_a_person_lets_it_run() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish(&impatient()), &[]);
    serving.hears("`child`: 1 tools");
    let cases = [
        ("web__act", "reset"),
        ("web__act", "hang"),
        ("web__act", "half"),
        ("web__act", "truncated"),
        ("web__act", "status-500"),
        ("web__act", "status-502"),
        ("web__act", "status-503"),
        ("web__act", "status-504"),
        ("child__act", "hang"),
        ("child__act", "die"),
    ];
    for door in DOORS {
        for (tool, how) in cases {
            let nonce = format!("{door:?}-{tool}-{how}");
            let keyed = act(tool, how, &nonce).under(&nonce);
            let told = door.call(&serving, &keyed);
            assert_eq!((told.error, told.status.as_str()), (true, "outcome_unknown"), "{told:?}");
            assert!(told.text.contains("may or may not have taken effect"), "{told:?}");
            let again = door.call(&serving, &keyed);
            let same = (&again.text, again.status.as_str());
            assert_eq!(same, (&told.text, "outcome_unknown"), "{tool} {how}");
            let new = format!("{nonce}-new");
            for held in [act(tool, how, &nonce), act(tool, how, &nonce).under(&new)] {
                let told = door.call(&serving, &held);
                assert_eq!(told.status, "duplicate_of_unknown", "{tool} {how}: {told:?}");
            }
            assert_eq!(upstream.oracle.count(&nonce), 1, "{nonce}");
        }
    }
}

#[test]
fn a_start_after_a_kill_says_how_many_calls_have_no_known_end() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    let serving = std::thread::scope(|scope| {
        for (door, nonce) in DOORS.into_iter().zip(["rest", "mcp"]) {
            let (head, wanted) = (Door::head, act("web__act", "late", nonce));
            let head = head(door, &serving, &serving.token, &wanted);
            let (body, mut stream) = (door.body(&wanted), serving.connect());
            scope.spawn(move || {
                let length = body.len();
                write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}").unwrap();
                let _ = stream.read(&mut [0]);
            });
            assert!(eventually(|| upstream.oracle.count(nonce) == 1));
        }
        killed(serving)
    });
    let told = "warning: 2 calls had no end when the server was last stopped, and may or may not \
                have taken effect: `";
    serving.hears(told);
    let line = serving.told.lock().unwrap().clone();
    let command = line.split_once(told).unwrap().1.split_once("` shows them\n").unwrap().0;
    assert_eq!(
        command,
        format!("toolcrib calls --state interrupted --url http://{}", serving.address)
    );
    // What it names is a command line, and shows them.
    let line = format!("XDG_STATE_HOME={} {command} --json", state(&serving.folder));
    let shown = shell(&serving.folder, &line);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    let calls = serving.ask("GET", "/v1/calls?state=interrupted", "").json()["calls"].clone();
    for calls in [&shown["calls"], &calls] {
        let interrupted = calls.as_array().unwrap().iter().map(|call| &call["interrupted"]);
        assert_eq!(interrupted.collect::<Vec<_>>(), [&json!(true), &json!(true)]);
    }
    let serving = killed(serving);
    serving.hears("`web`: ");
    assert!(!serving.told.lock().unwrap().contains("had no end"), "they have one now");
}

#[test]
fn a_person_may_let_the_same_call_run_again() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish(STORE), &[]);
    Door::Rest.call(&serving, &act("web__act", "reset", "twice"));
    let held = Door::Rest.call(&serving, &act("web__act", "reset", "twice"));
    let ticket = held.whole["structured"]["ticket"].as_str().unwrap();
    assert_eq!(upstream.oracle.count("twice"), 1);
    let path = format!("/v1/tickets/{ticket}");
    let approved = serving.ask("POST", &path, r#"{"decision": "approve"}"#).json();
    assert_eq!(approved["response"]["structured"]["status"], "outcome_unknown", "{approved}");
    assert_eq!(upstream.oracle.count("twice"), 2);
}

#[test]
fn what_only_reads_is_tried_again_and_its_attempts_are_on_record() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish(&impatient()), &[]);
    let told = Door::Rest.call(&serving, &act("web__see", "reset", "r"));
    assert_eq!((told.error, told.status.as_str()), (true, ""));
    let key = told.whole["debug"]["key"].as_str().unwrap();
    let call = serving.ask("GET", &format!("/v1/calls/{key}"), "").json();
    let attempts = call["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3, "{call}");
    assert!(attempts.iter().all(|attempt| attempt["ended"] == "network"), "{call}");
    assert_eq!(call["ending"], json!({ "ending": "failed", "kind": "network" }));
    let done = Door::Rest.call(&serving, &act("web__act", "ok", "one"));
    let key = done.whole["debug"]["key"].as_str().unwrap();
    let call = serving.ask("GET", &format!("/v1/calls/{key}"), "").json();
    let ended: Vec<_> = call["attempts"].as_array().unwrap().iter().collect();
    assert_eq!(
        (ended.len(), &ended[0]["ended"], &ended[0]["sent"]),
        (1, &json!("done"), &json!(true))
    );
}

/// The body of a call that says that it is meant once more.
fn meant_again(door: Door, body: &str) -> String {
    let mut body: Value = serde_json::from_str(body).unwrap();
    match door {
        Door::Rest => body["again"] = json!(true),
        Door::Mcp => body["params"]["_meta"]["toolcrib/again"] = json!(true),
    }
    body.to_string()
}

#[test]
fn what_its_own_caller_gave_up_is_made_again_by_who_says_so() {
    let upstream = Upstream::start();
    let mut serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    for (door, nonce) in DOORS.into_iter().zip(["rest", "mcp"]) {
        let wanted = act("web__act", "late", nonce);
        let (head, body) = (door.head(&serving, &serving.token, &wanted), door.body(&wanted));
        let mut stream = serving.connect();
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        assert!(eventually(|| upstream.oracle.count(nonce) == 1));
        drop(stream);
        let state = || {
            let page = serving.ask("GET", "/v1/calls?tool=web__act", "").json();
            page["calls"][0]["state"].clone()
        };
        assert!(eventually(|| state() == "outcome_unknown"), "{door:?}: {}", state());
        upstream.oracle.let_go(nonce);
        let refused = door.call(&serving, &wanted);
        assert_eq!(refused.status, "duplicate_of_unknown", "{refused:?}");
        let ways = ["`\"toolcrib/again\": true`", "`\"again\": true`", "a new idempotency key"];
        assert!(ways.iter().all(|way| refused.text.contains(way)), "{refused:?}");
        // The record knows it after a restart too.
        if door == Door::Mcp {
            serving = killed(serving);
        }
        let again = meant_again(door, &body);
        let head = door.head(&serving, &serving.token, &wanted);
        let done = door.told(&serving.send(&head, &again));
        assert_eq!((done.error, upstream.oracle.count(nonce)), (false, 2), "{done:?}");
        let refused = door.call(&serving, &wanted);
        assert_eq!(refused.status, "duplicate_of_unknown", "{refused:?}");
        let keyed = door.call(&serving, &act("web__act", "late", nonce).under("another"));
        assert_eq!((keyed.error, upstream.oracle.count(nonce)), (false, 3), "{keyed:?}");
    }
}

#[test]
fn what_went_wrong_by_itself_is_held_back_whatever_its_caller_says() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    for (door, nonce) in DOORS.into_iter().zip(["rest", "mcp"]) {
        let wanted = act("web__act", "reset", nonce);
        assert_eq!(door.call(&serving, &wanted).status, "outcome_unknown");
        let (head, body) = (door.head(&serving, &serving.token, &wanted), door.body(&wanted));
        let refused = door.told(&serving.send(&head, &meant_again(door, &body)));
        assert_eq!(refused.status, "duplicate_of_unknown", "{refused:?}");
        assert!(!refused.text.contains("toolcrib/again"), "{refused:?}");
        assert_eq!(upstream.oracle.count(nonce), 1);
    }
}

#[test]
fn an_answer_that_comes_too_late_gives_the_call_its_end_and_the_same_call_is_held_back_still() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish(&impatient()), &[]);
    serving.hears("`child`: 1 tools");
    for (door, tool) in [(Door::Rest, "web__act"), (Door::Mcp, "child__act")] {
        let wanted = act(tool, "late", tool).under(tool);
        let told = door.call(&serving, &wanted);
        assert_eq!(told.status, "outcome_unknown", "{told:?}");
        let calls = || -> Vec<Value> {
            let page = serving.ask("GET", &format!("/v1/calls?tool={tool}"), "").json();
            page["calls"].as_array().unwrap().clone()
        };
        assert_eq!(calls()[0]["ending"]["ending"], "unknown");
        upstream.oracle.let_go(tool);
        assert!(eventually(|| calls()[0]["ending"]["ending"] == "succeeded"), "{:?}", calls());
        let rows = calls();
        assert!(rows.len() == 1 && rows[0]["resolved"].is_string(), "{rows:?}");
        // A request of the REST door keeps the reply that it had; a call has its late answer.
        let again = || door.call(&serving, &wanted);
        match door {
            Door::Rest => assert_eq!(again().text, told.text),
            Door::Mcp => assert!(eventually(|| !again().error), "{:?}", again()),
        }
        // Whoever made it was told that nobody knows, and may make it again.
        let bare = door.call(&serving, &act(tool, "late", tool));
        assert_eq!(bare.status, "duplicate_of_unknown", "{bare:?}");
        assert_eq!(upstream.oracle.count(tool), 1);
    }
}
