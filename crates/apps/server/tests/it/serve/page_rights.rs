//! What a session of the page may decide, and what an operator without tools is told.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::keys::make;
use super::page_events::Follower;
use super::support::{Answer, Serving, bearer, eventually, head};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";
const JSON: &str = "Content-Type: application/json";

/// A server with a key of each of these scopes.
pub(super) fn serving(file: &str, scopes: &[&[&str]]) -> (Serving, Vec<String>) {
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
pub(super) fn sign_in(serving: &Serving, token: &str) -> [String; 2] {
    let token = bearer(token);
    let signed = serving.send(&head("POST", "/v1/session", serving, &[&token, JSON]), "{}");
    let page = signed.json()["page_key"].as_str().unwrap().to_owned();
    let set = signed.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    [format!("Cookie: {}", set.split(';').next().unwrap()), format!("Toolcrib-Page: {page}")]
}

pub(super) fn asks(
    serving: &Serving,
    session: &[String; 2],
    line: (&str, &str),
    body: &str,
) -> Answer {
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
    let session = sign_in(&serving, approver);
    let decided = asks(&serving, &session, ("POST", &ticket), &approve);
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

#[test]
fn a_call_that_waits_tells_what_is_other_than_in_the_last_one_that_was_approved() {
    let file = FILE.replace("uuid_new", "text_count");
    let (serving, _) = serving(&file, &[]);
    sign_in(&serving, &serving.token);
    let waits = |arguments: Value| {
        let call = json!({ "calls": [{ "name": "text_count", "arguments": arguments }] });
        let waits = serving.call(&call);
        let path = format!("/v1/tickets/{}", waits["tickets"][0]["ticket"].as_str().unwrap());
        (serving.ask("GET", &path, "").json()["unlike_approved"].clone(), path)
    };
    let decide = |path: &str, word: &str| {
        let body = json!({ "decision": word }).to_string();
        assert_eq!(serving.ask("POST", path, &body).status, 200);
    };
    let (first, path) = waits(json!({ "text": "a" }));
    assert_eq!(first, Value::Null);
    decide(&path, "approve");
    let (same, path) = waits(json!({ "text": "a" }));
    assert_eq!(same["differs"], json!([]));
    decide(&path, "deny");
    let (other, _) = waits(json!({ "text": "b" }));
    let expected = json!([{ "name": "text", "before": "\"a\"", "after": "\"b\"" }]);
    assert_eq!(other["differs"], expected);
    // One of another caller is compared with its own.
    let call = json!({ "calls": [{ "name": "text_count", "arguments": { "text": "c" } }] });
    let token = serving.token_of("other");
    let waits = serving.ask_as(&token, "POST", "/v1/calls", &call.to_string()).json();
    let path = format!("/v1/tickets/{}", waits["tickets"][0]["ticket"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &path, "").json()["unlike_approved"], Value::Null);
}

#[test]
fn several_calls_are_denied_at_once_and_each_that_cannot_be_is_told() {
    let (serving, keys) = serving(FILE, &[&["tools", "page:view"]]);
    let name = |path: String| path.rsplit('/').next().unwrap().to_owned();
    let own: Vec<String> = (0..2).map(|_| name(waits(&serving, &serving.token))).collect();
    let hers = name(waits(&serving, &keys[0]));
    let deny = |tickets: &[&str]| json!({ "tickets": tickets, "reason": "not now" }).to_string();
    // Whoever only looks on denies none, and another one's are not there for it.
    let looks_on = sign_in(&serving, &keys[0]);
    let refused = asks(&serving, &looks_on, ("POST", "/v1/tickets/deny"), &deny(&[&hers, &own[0]]));
    let refused = refused.json();
    let kinds: Vec<_> =
        refused["refused"].as_array().unwrap().iter().map(|row| &row["type"]).collect();
    let kind = |name: &str| json!(format!("urn:toolcrib:problem:{name}"));
    assert_eq!(kinds, [&kind("insufficient-scope"), &kind("insufficient-scope")]);
    assert_eq!(refused["denied"], json!([]));
    let all = [own[0].as_str(), &own[1], &hers, "t_none"];
    let done = serving.ask("POST", "/v1/tickets/deny", &deny(&all)).json();
    assert_eq!(done["denied"], json!([own[0], own[1], hers]));
    let unknown = &done["refused"][0];
    assert_eq!((&unknown["ticket"], &unknown["type"]), (&json!("t_none"), &kind("unknown-ticket")));
    assert_eq!(serving.ask("GET", "/v1/tickets", "").json()["tickets"], json!([]));
    for bad in [json!([]), json!(vec!["x"; 101])] {
        let body = json!({ "tickets": bad }).to_string();
        assert_eq!(serving.ask("POST", "/v1/tickets/deny", &body).problem(), "422 invalid-body");
    }
}

#[test]
fn a_link_for_a_phone_is_made_where_one_reaches_the_page_over_https() {
    let link = |file: &str, words: &[&str]| {
        let folder = Folder::new();
        folder.write("crib.toml", file);
        let serving = Serving::start_in(folder, words);
        serving.ask("POST", "/v1/session/link", "{}").json()
    };
    let url = "[server]\nurl = \"https://crib.example.com:8443\"\n";
    let near = link(url, &[]);
    assert_eq!((&near["phone"]["url"], &near["phone"]["qr"]), (&Value::Null, &Value::Null));
    assert!(near["phone"]["why"].as_str().unwrap().contains("without TLS"), "{near}");
    let nameless = link("[page]\npublic = true\n", &["--behind-proxy"]);
    assert!(
        nameless["phone"]["why"].as_str().unwrap().contains("this machine alone"),
        "{nameless}"
    );
    let far = link(&format!("{url}[page]\npublic = true\n"), &["--behind-proxy"]);
    let code = far["url"].as_str().unwrap().split_once("#login=").unwrap().1;
    let url = far["phone"]["url"].as_str().unwrap();
    assert_eq!(url, format!("https://crib.example.com:8443/#login={code}"));
    // Version 5 of the code has 37 rows, and the corner is where a camera looks for it.
    let rows = far["phone"]["qr"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0].as_str().unwrap().len()), (37, 37));
    assert!(rows[0].as_str().unwrap().starts_with("11111110"), "{far}");
    assert_eq!(far["phone"]["why"], Value::Null);
}

#[test]
fn the_events_of_a_run_end_with_the_session_that_follows_them() {
    let model = ScriptedModel::of([ScriptedTurn::call("uuid_new", json!({}))]).unwrap();
    let serving = super::agents::serving(&model, "allow = [\"*\"]\nask = [\"uuid_new\"]\n");
    let body = json!({ "input": "Make one.", "wait": true }).to_string();
    let begun = serving.ask("POST", "/v1/runs", &body).json();
    assert_eq!(begun["state"], "waiting");
    let (ends, stays) = (sign_in(&serving, &serving.token), sign_in(&serving, &serving.token));
    let path = format!("/v1/runs/{}/events", begun["id"].as_str().unwrap());
    let open = |[cookie, page]: &[String; 2]| Follower::open(&serving, &path, &[cookie, page]);
    let (mut ended, mut other) = (open(&ends), open(&stays));
    for follower in [&mut ended, &mut other] {
        follower.until(|name, _| name == "call.waiting");
    }
    assert_eq!(asks(&serving, &ends, ("DELETE", "/v1/session"), "").status, 200);
    assert!(eventually(|| ended.is_over()));
    assert!(!other.is_over());
}
