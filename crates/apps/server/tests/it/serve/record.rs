//! What outlives a server.

use serde_json::{Value, json};

use super::support::{Serving, bearer, head};
use crate::process::{Folder, run_in, shell};

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

const STATES: [&str; 6] =
    ["running", "succeeded", "failed", "not_executed", "outcome_unknown", "interrupted"];

#[test]
fn recorded_calls_are_found_by_how_they_ended() {
    let serving = Serving::start_in(folder(), &[]);
    let other = serving.token_of("other");
    let calculate = |expression: &str| {
        let call = json!({ "name": "calculate", "arguments": { "expression": expression } });
        json!({ "calls": [call] })
    };
    serving.call(&calculate("1/0"));
    for number in 0..5 {
        serving.call(&calculate(&format!("{number}+1")));
    }
    serving.ask_as(&other, "POST", "/v1/calls", &calculate("2/0").to_string());
    let states = |answer: &Value| -> Vec<Value> {
        let calls = answer["calls"].as_array().unwrap().iter();
        calls.map(|call| json!([call["state"], call["caller"], call["ending"]["kind"]])).collect()
    };
    let ask = |path: &str| serving.ask("GET", path, "").json();
    // The oldest is on the first page, although that has no room for those between.
    let failed = ask("/v1/calls?state=failed&limit=2");
    assert_eq!(
        (states(&failed), &failed["cursor"]),
        (vec![json!(["failed", null, "tool"])], &Value::Null)
    );
    assert_eq!(ask("/v1/calls?state=failed,succeeded")["calls"].as_array().unwrap().len(), 6);
    assert_eq!(ask("/v1/calls?state=interrupted,running")["calls"], json!([]));
    // Whoever runs the server sees those of all callers, and nobody else does.
    let all = ask("/v1/record?state=failed");
    let expected = ["other", "local"].map(|caller| json!(["failed", caller, "tool"]));
    assert_eq!(states(&all), expected);
    let first = ask("/v1/record?limit=1&state=failed");
    let cursor = first["cursor"].as_str().unwrap();
    let next = ask(&format!("/v1/record?limit=1&state=failed&cursor={cursor}"));
    assert_eq!([states(&first), states(&next)].concat(), expected);
    assert_eq!(serving.ask_as(&other, "GET", "/v1/record", "").problem(), "403 forbidden");
    for word in ["lost", "failed,lost", "", "failed,", "Failed"] {
        for route in ["calls", "record"] {
            let refused = serving.ask("GET", &format!("/v1/{route}?state={word}"), "");
            assert_eq!(refused.problem(), "400 invalid-query", "{word}");
            let detail = refused.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.ends_with(&format!("is none of [{}]", STATES.join(", "))), "{detail}");
        }
    }
}

#[test]
fn the_command_line_shows_what_is_recorded_by_how_it_ended() {
    let serving = Serving::start_in(folder(), &[]);
    let failing = json!({ "name": "calculate", "arguments": { "expression": "1/0" } });
    serving.call(&json!({ "calls": [failing, { "name": "uuid_new" }] }));
    let calls = |words: &str| {
        let (state, at) = (super::support::state(&serving.folder), &serving.address);
        let line = format!("XDG_STATE_HOME={state} toolcrib calls --url http://{at} {words}");
        shell(&serving.folder, &line)
    };
    let shown = calls("--state failed,interrupted");
    let lines: Vec<Vec<&str>> =
        shown.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 2, "{shown:?}");
    assert_eq!(lines[0], ["BEGAN", "TOOL", "SOURCE", "CALLER", "OUTCOME", "TOOK"]);
    assert_eq!(lines[1][1..6], ["calculate", "basics", "local/local", "failed:", "tool"]);
    let both = calls("--state failed --state succeeded --json").json();
    assert_eq!(both["calls"].as_array().unwrap().len(), 2, "{both}");
    let newest = calls("--state failed,succeeded --limit 1");
    assert!(newest.err.contains("these are the newest 1, and there may be more"), "{newest:?}");
    let refused = calls("--state lost");
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
    assert!(STATES.iter().all(|state| refused.err.contains(state)), "{refused:?}");
    assert_eq!(calls("--state failed --follow").code, 2);
    let completion = shell(&serving.folder, "toolcrib completion bash").out;
    assert!(completion.contains(&STATES.join(" ")), "{completion}");
}
