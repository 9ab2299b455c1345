//! Several callers at one server.

use serde_json::json;

use super::support::{Serving, eventually, state};
use crate::process::Folder;

#[cfg(unix)]
#[test]
fn the_token_is_made_for_its_owners_eyes_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let serving = Serving::start(&[]);
    let keys = serving.folder.path().join("state/toolcrib/keys");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&keys), mode(&keys.join("local"))), (0o700, 0o600));
    assert_eq!(serving.token.len(), 67);
    let told = serving.told.lock().unwrap().clone();
    assert!(!told.contains(&serving.token[3..]), "{told}");
    let words = ["token", "../x"];
    let state = state(&serving.folder);
    let ran = crate::process::run_in(&serving.folder, &words, &[("XDG_STATE_HOME", &state)]);
    assert_eq!(ran.code, 2);
}

#[test]
fn what_is_one_callers_is_not_there_for_another() {
    let serving = Serving::start(&[]);
    let other = serving.token_of("other");
    let plan = serving.ask("POST", "/v1/plan", "{}").json();
    let body = json!({ "plan": plan["plan"], "calls": [{ "name": "time_now" }] }).to_string();
    assert_eq!(serving.ask("POST", "/v1/calls", &body).status, 200);
    let problem =
        |method, path: &str, body: &str| serving.ask_as(&other, method, path, body).problem();
    assert_eq!(problem("POST", "/v1/calls", &body), "404 unknown-plan");
    assert_eq!(problem("GET", "/v1/sources", ""), "403 forbidden");
    assert_eq!(problem("POST", "/v1/sources/basics/reload", "{}"), "403 forbidden");
    assert_eq!(problem("GET", "/v1/results/r_1", ""), "404 unknown-result");
    assert_eq!(serving.ask("POST", "/v1/sources/basics/reload", "{}").status, 200);
}

#[test]
fn a_removed_token_ends_within_seconds() {
    let serving = Serving::start(&[]);
    let other = serving.token_of("other");
    let status = || serving.ask_as(&other, "GET", "/v1/tools", "").status;
    assert_eq!(status(), 200);
    std::fs::remove_file(serving.folder.path().join("state/toolcrib/keys/other")).unwrap();
    assert!(eventually(|| status() == 401));
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
}

#[test]
fn the_same_key_of_two_callers_is_two_keys() {
    let serving = Serving::start(&[]);
    let other = serving.token_of("other");
    let body = json!({ "calls": [{ "name": "uuid_new" }] }).to_string();
    let ask = |token: &str| {
        let lines = [
            super::support::bearer(token),
            "Content-Type: application/json".to_owned(),
            "Idempotency-Key: 1".to_owned(),
        ];
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let head = super::support::head("POST", "/v1/calls", &serving, &lines);
        serving.send(&head, &body).json()["id"].clone()
    };
    let (one, two) = (ask(&serving.token), ask(&other));
    assert_ne!(one, two);
    assert_eq!((ask(&serving.token), ask(&other)), (one, two));
}

#[test]
fn further_rules_hold_beside_those_of_the_file_and_of_its_profiles() {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        "allow = [\"*\"]\ndeny = [\"uuid_new\"]\n\
         [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\
         [profile.small]\nallow = [\"calculate\", \"hash_text\"]\n",
    );
    folder.write("rules.toml", "allow = [\"*\"]\ndeny = [\"hash_text\"]\n");
    let serving = Serving::start_in(folder, &["--policy", "rules.toml"]);
    let names = |query: &str| serving.ask("GET", &format!("/v1/tools{query}"), "").body;
    let (all, small) = (names(""), names("?profile=small"));
    for name in ["uuid_new", "hash_text"] {
        assert!(!all.contains(name) && !small.contains(name), "{name}: {all} {small}");
    }
    assert!(all.contains("time_now") && !small.contains("time_now"), "{small}");
    assert!(small.contains("calculate"), "{small}");
}
