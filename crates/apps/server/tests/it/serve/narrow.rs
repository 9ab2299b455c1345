//! Tokens of one person, of which some open less than others.

use serde_json::{Value, json};

use super::keys::{asked_for, make};
use super::support::{Answer, Serving, bearer, eventually, head};
use crate::process::Folder;

const CRIB: &str = "allow = [\"*\"]\n[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\
                    [tool.hash_text]\neffect = \"write\"\n\
                    [profile.careful]\nallow = [\"*\"]\nask = [\"hash_text\", \"calculate\"]\n\
                    [profile.small]\nallow = [\"calculate\"]\n";

/// A server that ann comes to with a key for everything and one that has this scope; and the file
/// where the first has only that, too.
fn serving(scope: &str) -> (Serving, [String; 2], String) {
    serving_with("", scope)
}

/// The same with these words before the others.
fn serving_with(words: &str, scope: &str) -> (Serving, [String; 2], String) {
    let folder = Folder::new();
    let ann = ["--tenant", "acme", "--subject", "ann", "--scope"];
    let made = |name, scope| make(&folder, &[&[name], &ann[..], &[scope]].concat());
    let ((all, first), (narrow, second)) = (made("all", "tools"), made("narrow", scope));
    folder.write("crib.toml", &format!("{words}{CRIB}{first}{second}"));
    let narrowed = first.replace("\"tools\"", &format!("\"{scope}\""));
    let narrowed = format!("{CRIB}{narrowed}{second}");
    (Serving::start_in(folder, &[]), [all, narrow], narrowed)
}

fn hash(serving: &Serving, key: &str, more: &Value) -> Answer {
    let mut body = json!({ "calls": [{ "name": "hash_text", "arguments": { "text": "a" } }] });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serving.ask_as(key, "POST", "/v1/calls", &body.to_string())
}

#[test]
fn a_plan_is_there_for_the_scopes_that_it_was_made_with() {
    for scope in ["tools:read", "profile:small"] {
        let (serving, [all, narrow], narrowed) = serving(scope);
        let plan = serving.ask_as(&all, "POST", "/v1/plan", "{}").json()["plan"].clone();
        let under = |key: &str| hash(&serving, key, &json!({ "plan": plan }));
        assert_eq!(under(&narrow).problem(), "404 unknown-plan");
        assert_eq!(under(&all).json()["responses"][0]["outcome"], "done");
        // A key that opens less than before has no plan from that time.
        serving.folder.write("crib.toml", &narrowed);
        assert!(eventually(|| under(&all).problem() == "404 unknown-plan"));
    }
}

fn park(serving: &Serving, key: &str, name: &str) -> String {
    let arguments = match name {
        "calculate" => json!({ "expression": "6*7" }),
        _ => json!({ "text": "a" }),
    };
    let body = json!({ "profile": "careful", "calls": [{ "name": name, "arguments": arguments }] });
    let answer = serving.ask_as(key, "POST", "/v1/calls", &body.to_string()).json();
    answer["tickets"][0]["ticket"].as_str().unwrap().to_owned()
}

fn decide(serving: &Serving, key: &str, ticket: &str, body: &Value) -> Answer {
    serving.ask_as(key, "POST", &format!("/v1/tickets/{ticket}"), &body.to_string())
}

#[test]
fn a_ticket_is_decided_and_used_up_by_a_token_that_could_have_made_the_call() {
    for (scope, seen) in [("tools:read", 1), ("profile:small", 0)] {
        let (serving, [all, narrow], _) = serving(scope);
        let ticket = park(&serving, &all, "hash_text");
        for more in [json!({}), json!({ "profile": "careful" }), json!({ "profile": "small" })] {
            for word in ["approve", "deny"] {
                let mut body = json!({ "decision": word });
                body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                let refused = decide(&serving, &narrow, &ticket, &body);
                assert_eq!(asked_for(&refused), "profile:careful", "{body}");
            }
        }
        let open = |key: &str| {
            let open = serving.ask_as(key, "GET", "/v1/tickets", "").json()["tickets"].clone();
            open.as_array().unwrap().len()
        };
        assert_eq!((open(&all), open(&narrow)), (1, seen), "{scope}");
        let approved = decide(&serving, &all, &ticket, &json!({ "decision": "approve" }));
        assert_eq!(approved.json()["response"]["outcome"], "done", "{approved:?}");
    }
}

#[test]
fn a_token_that_reads_decides_a_ticket_of_what_reads() {
    let (serving, [_, reads], _) = serving("tools:read");
    let ticket = park(&serving, &reads, "calculate");
    let approved = decide(&serving, &reads, &ticket, &json!({ "decision": "approve" }));
    assert_eq!(approved.json()["response"]["outcome"], "done", "{approved:?}");
}

/// Asks under a key of the caller.
fn keyed(serving: &Serving, token: &str, (key, body): (&str, &Value)) -> Answer {
    let (token, key) = (bearer(token), format!("Idempotency-Key: {key}"));
    let lines = [&*token, "Content-Type: application/json", &*key];
    serving.send(&head("POST", "/v1/calls", serving, &lines), &body.to_string())
}

#[test]
fn the_reply_under_a_key_is_for_a_token_that_could_make_its_calls() {
    for scope in ["tools:read", "profile:small"] {
        let (serving, [all, narrow], _) = serving(scope);
        let plan = serving.ask_as(&all, "POST", "/v1/plan", "{}").json()["plan"].clone();
        let call = |name: &str, arguments: Value| json!([{ "name": name, "arguments": arguments }]);
        let hash = json!({ "text": "a" });
        let relayed = json!({ "name": "hash_text", "arguments": hash });
        let bodies = [
            json!({ "calls": call("hash_text", hash.clone()) }),
            json!({ "calls": call("invoke_tool", relayed) }),
            json!({ "profile": "careful", "calls": call("hash_text", hash.clone()) }),
            json!({ "plan": plan, "calls": call("hash_text", hash.clone()) }),
        ];
        for (body, key) in bodies.iter().zip(["a", "b", "c", "d"]) {
            let first = keyed(&serving, &all, (key, body));
            assert_eq!(first.status, 200, "{first:?}");
            let theirs = keyed(&serving, &narrow, (key, body));
            assert!([403, 404].contains(&theirs.status), "{scope} {key}: {theirs:?}");
            let same = keyed(&serving, &all, (key, body));
            assert_eq!((same.status, &same.body), (200, &first.body));
        }
        // What it may do itself it may hear, whichever of them asked.
        let body = json!({ "calls": call("calculate", json!({ "expression": "6*7" })) });
        let first = keyed(&serving, &all, ("e", &body));
        let theirs = keyed(&serving, &narrow, ("e", &body));
        match scope {
            "tools:read" => assert_eq!((theirs.status, &theirs.body), (200, &first.body)),
            _ => assert_eq!(theirs.status, 403, "{theirs:?}"),
        }
    }
}

#[test]
fn a_call_through_another_tool_is_read_as_the_gate_reads_it() {
    let words = "discovery = \"lazy\"\n";
    let (serving, [all, narrow], _) = serving_with(words, "tools:read");
    let deep: Value =
        serde_json::from_str(&format!("{}{}", "[".repeat(60), "]".repeat(60))).unwrap();
    let relayed = |name: &str| {
        let deep = json!({ "name": name, "parameters": { "text": "a", "more": deep } });
        let broken = format!("{{'name': '{name}', 'parameters': {{'text': 'a'}},}}");
        [broken, json!(deep.to_string()).to_string()]
    };
    let mut keys = ["a", "b", "c", "d"].into_iter();
    for (name, status) in [("text_count", 200), ("hash_text", 403)] {
        for arguments in relayed(name) {
            let call = json!([{ "name": "invoke_tool", "arguments": arguments }]);
            let body = json!({ "calls": call });
            let key = keys.next().unwrap();
            let first = keyed(&serving, &all, (key, &body));
            assert!(first.status == 200 && first.body.contains(name), "{first:?}");
            let theirs = keyed(&serving, &narrow, (key, &body));
            assert_eq!(theirs.status, status, "{name}, {arguments:.60}: {theirs:?}");
        }
    }
}

#[test]
fn a_reply_under_a_key_outlives_its_plan_for_a_token_of_one_profile() {
    let (mut serving, [all, narrow], _) = serving("profile:small");
    let planned = |serving: &Serving, token: &str, wishes: &Value, call: Value| {
        let plan = serving.ask_as(token, "POST", "/v1/plan", &wishes.to_string()).json();
        json!({ "plan": plan["plan"], "calls": [call] })
    };
    let small = json!({ "profile": "small" });
    let sum = json!({ "name": "calculate", "arguments": { "expression": "6*7" } });
    let hash = json!({ "name": "hash_text", "arguments": { "text": "a" } });
    let own = planned(&serving, &narrow, &small, sum);
    let wider = planned(&serving, &all, &json!({}), hash);
    let first = keyed(&serving, &narrow, ("own", &own));
    assert!(first.status == 200 && first.body.contains("42"), "{first:?}");
    assert_eq!(keyed(&serving, &all, ("wider", &wider)).status, 200);
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let serving = Serving::start_in(std::mem::replace(&mut serving.folder, Folder::new()), &[]);
    let again = keyed(&serving, &narrow, ("own", &own));
    assert_eq!((again.status, &again.body), (200, &first.body), "{again:?}");
    // What it could not do itself it does not hear.
    assert_eq!(keyed(&serving, &narrow, ("wider", &wider)).problem(), "404 unknown-plan");
    assert_eq!(keyed(&serving, &narrow, ("new", &own)).problem(), "404 unknown-plan");
}
