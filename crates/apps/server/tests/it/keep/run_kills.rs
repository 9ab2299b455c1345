//! Runs of agents over a server that is killed at any moment: each of them ends with the truth, and
//! nothing that may change something happened twice.
//!
//! `TOOLCRIB_TEST_KILLS` says how often each moment comes; once if it is not set.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::kills::{OF_A_FILE, exchange};
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::{Serving, bearer, eventually, head};

/// Moments of the server, as `toolcrib_core::failpoint` names them, and which time it dies there.
const MOMENTS: [(&str, u32); 14] = [
    ("before commit", 2),
    ("committed", 2),
    ("run written", 1),
    ("run written", 2),
    ("run written", 3),
    ("admitted", 1),
    ("key begun", 1),
    ("planned", 1),
    ("dispatched", 1),
    ("answered", 1),
    ("end recorded", 1),
    ("key settled", 1),
    ("ticket claimed", 1),
    ("committed", 5),
];

/// One that calls once with what it is asked for, and then says that it has.
fn model() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let last = messages.last().cloned().unwrap_or_default();
        if last["role"] == "user" {
            let nonce = last["content"].as_str().unwrap_or_default();
            return ScriptedTurn::call("web__act", json!({ "how": "ok", "nonce": nonce }));
        }
        ScriptedTurn::says("It is over.")
    })
    .unwrap()
}

fn ask(serving: &Serving, method: &str, path: &str, body: &Value) -> Option<Value> {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let token = bearer(&serving.token);
    let kind = "Content-Type: application/json";
    let headers = if body.is_null() { vec![token.as_str()] } else { vec![token.as_str(), kind] };
    let answer = exchange(&serving.address, &head(method, path, serving, &headers), &text)?;
    Some(answer.json())
}

/// Approves all that waits.
fn approve(serving: &Serving) {
    let open = ask(serving, "GET", "/v1/tickets", &Value::Null).unwrap_or_default();
    for ticket in open["tickets"].as_array().into_iter().flatten() {
        let path = format!("/v1/tickets/{}", ticket["ticket"].as_str().unwrap());
        ask(serving, "POST", &path, &json!({ "decision": "approve" }));
    }
}

/// Drives a run over a server until that is dead, or the run is over.
fn drive(serving: &mut Serving, agent: &str, nonce: &str) {
    // Its tools must be there, or it dies before.
    let is_ready = || {
        let ready = exchange(&serving.address, &head("GET", "/readyz", serving, &[]), "");
        ready.is_none_or(|ready| ready.status == 200)
    };
    assert!(eventually(is_ready));
    let body = json!({ "agent": agent, "input": nonce });
    let Some(run) = ask(serving, "POST", "/v1/runs", &body) else { return };
    let path = format!("/v1/runs/{}", run["id"].as_str().unwrap_or_default());
    for _ in 0..400 {
        let Some(run) = ask(serving, "GET", &path, &Value::Null) else { return };
        match run["state"].as_str() {
            Some("ended") => return,
            Some("waiting") => approve(serving),
            _ => {}
        }
        if serving.child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a server that was started anew makes of it.
fn examine(folder: Folder, upstream: &Upstream, nonce: &str, what: &str) -> Folder {
    let mut serving = Serving::start_in(folder, &[]);
    let is_over = || {
        approve(&serving);
        let runs = ask(&serving, "GET", "/v1/runs?limit=100", &Value::Null).unwrap();
        runs["runs"].as_array().unwrap().iter().all(|run| run["state"] == "ended")
    };
    assert!(eventually(is_over), "{what}: {:?}", ask(&serving, "GET", "/v1/runs", &Value::Null));
    let runs = ask(&serving, "GET", "/v1/runs?limit=100", &Value::Null).unwrap();
    let count = upstream.oracle.count(nonce);
    assert!(count <= 1, "{what}: it happened {count} times");
    let mut was_begun = false;
    for run in runs["runs"].as_array().unwrap() {
        let thread = format!("/v1/threads/{}", run["thread"].as_str().unwrap());
        let items = ask(&serving, "GET", &thread, &Value::Null).unwrap()["items"].clone();
        if items[0]["parts"][0]["text"] != nonce {
            continue;
        }
        was_begun = true;
        let whole = ask(
            &serving,
            "GET",
            &format!("/v1/runs/{}", run["id"].as_str().unwrap()),
            &Value::Null,
        );
        let whole = whole.unwrap();
        assert_eq!(
            (&whole["stop"], &whole["text"]),
            (&json!("done"), &json!("It is over.")),
            "{what}: {whole}"
        );
        let result = &items[2]["results"][0];
        let told = result["text"].as_str().unwrap();
        // What is told as done is done; what is told as unknown may be.
        if result["is_error"] != true {
            assert_eq!(count, 1, "{what}: {told}");
        } else if count == 1 {
            assert!(told.contains("may"), "{what}: {told}");
        }
    }
    assert!(was_begun || count == 0, "{what}: it happened, and no run says so");
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    std::mem::replace(&mut serving.folder, Folder::new())
}

#[test]
fn a_run_whose_server_is_killed_at_any_moment_ends_with_the_truth() {
    kill_with_runs(OF_A_FILE);
}

/// Over a store at this address.
#[expect(clippy::disallowed_methods, reason = "how long a test takes is for its caller to say")]
pub(super) fn kill_with_runs(store: &str) {
    let times = std::env::var("TOOLCRIB_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let (model, upstream) = (model(), Upstream::start());
    let file = format!(
        "allow = [\"*\"]\n[store]\nurl = \"{store}\"\n[model]\nurl = \"{}\"\nname = \"m\"\n\
         [agent.free]\n[agent.careful]\nprofile = \"careful\"\n\
         [profile.careful]\nask = [\"*__act\"]\n",
        model.url()
    );
    let mut folder = upstream.furnish_web(&file);
    let mut reached = Vec::new();
    for round in 0..times.unwrap_or(1) {
        for (number, (moment, time)) in MOMENTS.iter().enumerate() {
            let what = format!("{moment}#{time}");
            let nonce = format!("run-{round}-{number}");
            // The ticket is there for careful ones alone.
            let is_careful = *moment == "ticket claimed" || (number + round) % 2 == 0;
            let agent = if is_careful { "careful" } else { "free" };
            let own = match Serving::start_dying(folder, &what) {
                Err(own) => own,
                Ok(mut serving) => {
                    drive(&mut serving, agent, &nonce);
                    let _ = serving.child.kill();
                    serving.child.wait().unwrap();
                    let says_so =
                        || serving.told.lock().unwrap().contains("dies at a moment of a test");
                    if says_so() || (std::thread::sleep(Duration::from_millis(20)), says_so()).1 {
                        reached.push(what.clone());
                    }
                    std::mem::replace(&mut serving.folder, Folder::new())
                }
            };
            folder = examine(own, &upstream, &nonce, &what);
        }
    }
    assert!(reached.len() >= 10 * times.unwrap_or(1), "only {reached:?} were reached");
}
