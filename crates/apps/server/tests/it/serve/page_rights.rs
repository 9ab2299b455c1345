//! What a session of the page may decide, and what an operator without tools is told.

use serde_json::{Value, json};

use super::keys::make;
use super::page_events::Follower;
use super::support::{Answer, Serving, bearer, head};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";
const JSON: &str = "Content-Type: application/json";

/// A server with a key of each of these scopes.
fn serving(file: &str, scopes: &[&[&str]]) -> (Serving, Vec<String>) {
    let folder = Folder::new();
    let (mut file, mut keys) = (file.to_owned(), Vec::new());
    for (number, scopes) in scopes.iter().enumerate() {
        let name = format!("ann{number}");
        let mut words = vec![name.as_str(), "--tenant", "acme"];
        words.extend(scopes.iter().flat_map(|scope| ["--scope", *scope]));
        let (key, entry) = make(&folder, &words);
        keys.push(key);
        file += &entry;
    }
    folder.write("crib.toml", &file);
    (Serving::start_in(folder, &[]), keys)
}

/// Both halves of a session that this token begins.
fn sign_in(serving: &Serving, token: &str) -> [String; 2] {
    let token = bearer(token);
    let signed = serving.send(&head("POST", "/v1/session", serving, &[&token, JSON]), "{}");
    let page = signed.json()["page_key"].as_str().unwrap().to_owned();
    let set = signed.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    [format!("Cookie: {}", set.split(';').next().unwrap()), format!("Toolcrib-Page: {page}")]
}

fn asks(serving: &Serving, session: &[String; 2], line: (&str, &str), body: &str) -> Answer {
    let headers = [session[0].as_str(), session[1].as_str(), JSON];
    serving.send(&head(line.0, line.1, serving, &headers), body)
}

/// A call of this caller that waits.
fn waits(serving: &Serving, token: &str) -> String {
    let call = json!({ "calls": [{ "name": "uuid_new" }] }).to_string();
    let waits = serving.ask_as(token, "POST", "/v1/calls", &call).json();
    format!("/v1/tickets/{}", waits["tickets"][0]["ticket"].as_str().unwrap())
}

#[test]
fn a_session_decides_about_calls_with_the_scope_for_it_alone() {
    let (serving, keys) =
        serving(FILE, &[&["tools", "page:view"], &["tools", "page:view", "page:approve"]]);
    let (viewer, approver) = (&keys[0], &keys[1]);
    let ticket = waits(&serving, viewer);
    let looks_on = sign_in(&serving, viewer);
    assert_eq!(asks(&serving, &looks_on, ("GET", &ticket), "").status, 200);
    for decision in ["approve", "deny"] {
        let body = json!({ "decision": decision }).to_string();
        let refused = asks(&serving, &looks_on, ("POST", &ticket), &body);
        assert_eq!(refused.problem(), "403 insufficient-scope");
        assert!(refused.body.contains("`page:approve`"), "{refused:?}");
    }
    // A program with the same token decides about its own calls, as before.
    let approve = json!({ "decision": "approve" }).to_string();
    assert_eq!(serving.ask_as(viewer, "POST", &ticket, &approve).status, 200);
    let ticket = waits(&serving, approver);
    let decides = sign_in(&serving, approver);
    let decided = asks(&serving, &decides, ("POST", &ticket), &approve);
    assert_eq!(decided.json()["response"]["outcome"], "done");
    // The person at the machine is an admin, and whoever got a token of it looks on.
    let other = serving.token_of("other");
    let ticket = waits(&serving, &other);
    let refused = asks(&serving, &sign_in(&serving, &other), ("POST", &ticket), &approve);
    assert_eq!(refused.problem(), "403 insufficient-scope");
    let local = sign_in(&serving, &serving.token);
    assert_eq!(asks(&serving, &local, ("POST", &ticket), &approve).status, 200);
}

#[test]
fn an_operator_without_tools_is_told_what_happens_and_what_needs_a_person() {
    let (serving, keys) = serving(FILE, &[&["operator"], &["page:view"]]);
    let operator = &keys[0];
    let now = serving.ask_as(operator, "GET", "/v1/now", "").json();
    assert_eq!((&now["sources"]["well"], &now["tickets"]["rows"]), (&json!(1), &json!([])));
    let mut follower = Follower::of(&serving, operator);
    let sum = json!({ "calls": [{ "name": "calculate", "arguments": { "expression": "1+1" } }] });
    serving.call(&sum);
    let is_last = |name: &str, data: &Value| name == "call" && data["phase"] == "ended";
    let told = follower.until(is_last);
    assert_eq!(told.last().unwrap(), "call ended local calculate done");
    let session = sign_in(&serving, operator);
    assert_eq!(asks(&serving, &session, ("GET", "/v1/session"), "").json()["role"], "admin");
    assert_eq!(asks(&serving, &session, ("DELETE", "/v1/session"), "").status, 200);
    // It opens no more than that, and nobody else gets in by it.
    assert_eq!(
        serving.ask_as(operator, "GET", "/v1/tools", "").problem(),
        "403 insufficient-scope"
    );
    for path in ["/v1/now", "/v1/events"] {
        let refused = serving.ask_as(&keys[1], "GET", path, "");
        assert_eq!(refused.problem(), "403 insufficient-scope", "{path}");
    }
}

#[test]
fn whoever_follows_is_told_when_the_time_of_a_call_that_waits_is_up() {
    let (serving, _) = serving(&format!("{FILE}\n[limits]\nticket_lifetime = \"1s\"\n"), &[]);
    let other = serving.token_of("other");
    let (mut all, mut own) =
        (Follower::of(&serving, &serving.token), Follower::of(&serving, &other));
    waits(&serving, &other);
    let decided = waits(&serving, &serving.token);
    assert_eq!(serving.ask("POST", &decided, r#"{"decision":"deny"}"#).status, 200);
    let is_last = |name: &str, data: &Value| name == "ticket" && data["phase"] == "expired";
    let of_tickets = |told: Vec<String>| -> Vec<String> {
        told.into_iter().filter(|line| line.starts_with("ticket")).collect()
    };
    let expected = ["ticket new other uuid_new", "ticket expired other uuid_new"];
    assert_eq!(of_tickets(own.until(is_last)), expected);
    let told = of_tickets(all.until(is_last));
    assert_eq!(told.iter().filter(|line| line.contains("expired")).count(), 1, "{told:?}");
    assert_eq!(told.last().unwrap(), expected[1]);
}
