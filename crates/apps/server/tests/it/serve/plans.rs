//! Plans that are kept for their callers, of which there is a bounded number.

use serde_json::json;

use super::keys::make;
use super::support::{Serving, bearer, head};
use crate::process::Folder;

/// More than are kept in all.
const MANY: usize = 1100;

fn plan(serving: &Serving, token: &str) -> String {
    let made = serving.ask_as(token, "POST", "/v1/plan", "{}").json();
    made["plan"].as_str().unwrap().to_owned()
}

/// Makes so many plans, some on each connection.
fn many(serving: &Serving, token: &str) {
    let lines = [&bearer(token), "Content-Type: application/json", "Content-Length: 2"];
    let request = head("POST", "/v1/plan", serving, &lines);
    let chunk = format!("{request}\r\n{{}}").repeat(49) + &request + "Connection: close\r\n\r\n{}";
    for _ in 0..MANY / 50 {
        let answered = serving.raw(chunk.as_bytes());
        assert!(answered.status == 200 && answered.body.matches("HTTP/1.1 200").count() == 49);
    }
}

#[test]
fn whoever_makes_many_plans_takes_nobody_elses_away() {
    let folder = Folder::new();
    let key =
        |name: &str, tenant: &str| make(&folder, &[name, "--tenant", tenant, "--scope", "tools"]);
    let keys = [key("ann", "acme"), key("bob", "acme"), key("cat", "umbrella")];
    let entries: String = keys.iter().map(|(_, entry)| entry.as_str()).collect();
    let source = "allow = [\"now\"]\n[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";
    folder.write("crib.toml", &format!("{source}{entries}"));
    let serving = Serving::start_in(folder, &[]);
    let [ann, bob, cat] = keys.map(|(key, _)| key);
    let other = serving.token_of("other");
    let is_there = |token: &str, plan: &str| {
        let body = json!({ "plan": plan, "calls": [] }).to_string();
        serving.ask_as(token, "POST", "/v1/calls", &body).status == 200
    };
    let [of_ann, of_cat, of_local] =
        [&ann, &cat, &serving.token].map(|token| plan(&serving, token));
    let of_bob = plan(&serving, &bob);
    // One of the same tenant, one of another, and one with a token of this machine.
    for token in [&bob, &cat, &other] {
        many(&serving, token);
        assert!(is_there(&ann, &of_ann) && is_there(&serving.token, &of_local));
    }
    // They made room for their own.
    assert!(!is_there(&bob, &of_bob) && !is_there(&cat, &of_cat));
    let newest = plan(&serving, &cat);
    assert!(is_there(&cat, &newest));
}
