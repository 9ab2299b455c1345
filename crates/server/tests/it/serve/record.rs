//! What outlives a server.

use serde_json::{Value, json};

use super::support::{Serving, bearer, head};
use crate::process::{Folder, run_in};

const FILE: &str = "[store]\nurl = \"sqlite://crib.db\"\n\n\
                    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
                    [profile.careful]\nask = [\"calculate\"]\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    folder
}

/// Ends a server and starts another in its folder.
fn restarted(serving: &mut Serving) -> Serving {
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    Serving::start_in(folder, &[])
}

#[test]
fn calls_tickets_and_keys_outlive_the_process() {
    let mut first = Serving::start_in(folder(), &[]);
    assert!(first.folder.path().join("crib.db").exists());
    let calls = json!([{ "id": "c1", "name": "calculate", "arguments": { "expression": "6*7" } }]);
    let keyed = |serving: &Serving| {
        let token = bearer(&serving.token);
        let lines = [&token, "Content-Type: application/json", "Idempotency-Key: k"];
        let head = head("POST", "/v1/calls", serving, &lines);
        serving.send(&head, &json!({ "calls": [{ "name": "uuid_new" }] }).to_string())
    };
    let before = keyed(&first).json();
    first.call(&json!({ "calls": calls }));
    let waiting = first.call(&json!({ "profile": "careful", "calls": calls }));
    let ticket = waiting["tickets"][0]["ticket"].as_str().unwrap().to_owned();

    let second = restarted(&mut first);
    assert_eq!(second.token, first.token);
    assert_eq!(keyed(&second).json(), before);
    let page = second.ask("GET", "/v1/calls?tool=calculate", "").json();
    let recorded: Vec<_> = page["calls"].as_array().unwrap().iter().collect();
    assert_eq!(recorded.len(), 1, "{page}");
    assert_eq!(recorded[0]["ending"]["ending"], "succeeded");
    let key = recorded[0]["key"].as_str().unwrap();
    let one: Value = second.ask("GET", &format!("/v1/calls/{key}"), "").json();
    assert_eq!(&one, recorded[0]);
    let other = second.token_of("other");
    let of_other = second.ask_as(&other, "GET", &format!("/v1/calls/{key}"), "");
    assert_eq!(of_other.problem(), "404 unknown-call");
    let approve = r#"{"decision": "approve", "profile": "careful"}"#;
    let done = second.ask("POST", &format!("/v1/tickets/{ticket}"), approve).json();
    assert_eq!(done["response"]["structured"]["result"], "42", "{done}");
    let first_page = second.ask("GET", "/v1/calls?limit=1", "").json();
    let cursor = first_page["cursor"].as_str().unwrap();
    let next = second.ask("GET", &format!("/v1/calls?limit=1&cursor={cursor}"), "").json();
    assert_ne!(next["calls"][0]["key"], first_page["calls"][0]["key"]);
    assert_eq!(second.ask("GET", "/v1/calls?cursor=x", "").problem(), "404 unknown-cursor");
}

#[test]
fn a_store_that_cannot_be_opened_ends_the_start() {
    let folder = folder();
    folder.write("crib.db", "this is no database, and long enough to be looked at as one");
    let state = super::support::state(&folder);
    let ran = run_in(&folder, &["serve", "--listen", "127.0.0.1:0"], &[("XDG_STATE_HOME", &state)]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("cannot open the store"), "{ran:?}");
}

#[test]
fn without_a_word_about_it_the_record_is_kept_in_the_state_folder() {
    let mut first = Serving::start(&[]);
    first.call(&json!({ "calls": [{ "name": "uuid_new" }] }));
    let state = super::support::state(&first.folder);
    let beside =
        run_in(&first.folder, &["serve", "--listen", "127.0.0.1:0"], &[("XDG_STATE_HOME", &state)]);
    assert_eq!(beside.code, 2, "{beside:?}");
    assert!(beside.err.contains("in use by another process"), "{beside:?}");
    let second = restarted(&mut first);
    let page = second.ask("GET", "/v1/calls?tool=uuid_new", "").json();
    assert_eq!(page["calls"][0]["ending"]["ending"], "succeeded", "{page}");
}
