//! The same key: the same answer and no second run, through both doors, also after a kill.

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;

use super::doors::{DOORS, Door, act};
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::{Serving, bearer, eventually, head};

pub(crate) const STORE: &str = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n";

/// Kills a server and starts another in its folder.
pub(crate) fn killed(mut serving: Serving) -> Serving {
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    Serving::start_in(folder, &[])
}

#[test]
fn a_key_runs_once_through_both_doors_and_after_a_kill() {
    let upstream = Upstream::start();
    let mut serving = Serving::start_in(upstream.furnish(STORE), &[]);
    serving.hears("`child`: 1 tools");
    let cases: Vec<_> = DOORS
        .into_iter()
        .flat_map(|door| ["web__act", "child__act"].map(|tool| (door, tool)))
        .collect();
    let name = |door: Door, tool: &str| format!("{door:?}-{tool}");
    let mut first = Vec::new();
    for (door, tool) in &cases {
        let nonce = name(*door, tool);
        let told = door.call(&serving, &act(tool, "ok", &nonce).under(&nonce));
        assert!(!told.error && told.text.contains(&nonce), "{told:?}");
        let again = door.call(&serving, &act(tool, "ok", &nonce).under(&nonce));
        assert_eq!((&again.text, again.error), (&told.text, false));
        // Without a key, the same arguments are two calls.
        let free = format!("{nonce}-free");
        door.call(&serving, &act(tool, "ok", &free));
        door.call(&serving, &act(tool, "ok", &free));
        assert_eq!((upstream.oracle.count(&nonce), upstream.oracle.count(&free)), (1, 2));
        let other = door.call(&serving, &act(tool, "ok", "another").under(&nonce));
        assert!(other.error && other.text.contains("this key came with"), "{other:?}");
        first.push(told.text);
    }
    serving = killed(serving);
    serving.hears("`child`: 1 tools");
    for ((door, tool), first) in cases.iter().zip(first) {
        let nonce = name(*door, tool);
        let told = door.call(&serving, &act(tool, "ok", &nonce).under(&nonce));
        assert_eq!((told.text, upstream.oracle.count(&nonce)), (first, 1));
        // Somebody else's key is another one.
        let other = serving.token_of("other");
        let theirs = door.call_as(&serving, &other, &act(tool, "ok", &nonce).under(&nonce));
        assert!(!theirs.error, "{theirs:?}");
        assert_eq!(upstream.oracle.count(&nonce), 2);
    }
    assert_eq!(upstream.oracle.count("another"), 0);
}

#[test]
fn the_proposed_place_of_a_key_is_read_too_and_a_key_that_is_none_is_refused() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish(STORE), &[]);
    let wanted = act("web__act", "ok", "n");
    let send = |key: serde_json::Value| {
        let mut body: serde_json::Value = serde_json::from_str(&Door::Mcp.body(&wanted)).unwrap();
        body["params"]["idempotencyKey"] = key;
        let head = Door::Mcp.head(&serving, &serving.token, &wanted);
        super::doors::mcp(&serving.send(&head, &body.to_string()))
    };
    let (first, second) = (send(json!("k")), send(json!("k")));
    assert!(!first.error, "{first:?}");
    assert_eq!((first.text, upstream.oracle.count("n")), (second.text, 1));
    for wrong in [json!(7), json!(""), json!("x".repeat(256))] {
        let refused = send(wrong);
        assert_eq!(refused.whole["error"]["code"], -32602, "{refused:?}");
    }
    assert_eq!(upstream.oracle.count("n"), 1);
}

#[test]
fn who_goes_away_with_a_key_finds_the_answer_and_nobody_else_does() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish(STORE), &[]);
    serving.hears("`child`: 1 tools");
    for door in DOORS {
        for tool in ["web__act", "child__act"] {
            let nonce = format!("{door:?}-{tool}");
            let wanted = act(tool, "slow-1000", &nonce).under(&nonce);
            let body = door.body(&wanted);
            let head = door.head(&serving, &serving.token, &wanted);
            let mut stream = serving.connect();
            let length = body.len();
            let request = format!("{head}Content-Length: {length}\r\n\r\n{body}");
            stream.write_all(request.as_bytes()).unwrap();
            assert!(eventually(|| upstream.oracle.count(&nonce) == 1));
            std::thread::sleep(Duration::from_millis(5));
            drop(stream);
            let found = eventually(|| {
                let told = door.call(&serving, &wanted);
                !told.error && told.text.contains(&nonce)
            });
            assert!(found, "{door:?} {tool}: {:?}", door.call(&serving, &wanted));
            assert_eq!(upstream.oracle.count(&nonce), 1);
        }
    }
    let other = serving.token_of("other");
    let line = head("GET", "/v1/calls", &serving, &[&bearer(&other)]);
    assert_eq!(serving.send(&line, "").json()["calls"], json!([]));
}

#[test]
fn a_key_is_answered_from_the_record_although_the_plan_went_with_its_server() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    let plan = serving.ask("POST", "/v1/plan", "{}").json()["plan"].clone();
    let send = |serving: &Serving, key: &str, nonce: &str| {
        let call = json!({ "name": "web__act", "arguments": { "how": "ok", "nonce": nonce } });
        let body = json!({ "plan": plan, "calls": [call] }).to_string();
        let key = format!("Idempotency-Key: {key}");
        let lines = [&bearer(&serving.token), "Content-Type: application/json", &key];
        serving.send(&head("POST", "/v1/calls", serving, &lines), &body)
    };
    let first = send(&serving, "k", "planned");
    assert!(first.status == 200 && first.body.contains("planned"), "{first:?}");
    let serving = killed(serving);
    let again = send(&serving, "k", "planned");
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert!(again.head.to_lowercase().contains("idempotency-replayed: true"), "{again:?}");
    assert_eq!(send(&serving, "k", "other").problem(), "409 key-conflict");
    // A key that is new is not used up by a request that cannot run.
    for _ in 0..2 {
        assert_eq!(send(&serving, "new", "planned").problem(), "404 unknown-plan");
    }
    assert_eq!((upstream.oracle.count("planned"), upstream.oracle.count("other")), (1, 0));
}
