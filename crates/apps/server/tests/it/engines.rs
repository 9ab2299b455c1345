//! Workflows of engines of others whose steps call tools by the code of the book: their worker is
//! killed in the middle, and what the engine does again runs no second time.

mod servers;
mod worker;

use serde_json::{Value, json};

use self::servers::{Restate, Temporal};
use self::worker::Worker;
use crate::keep::postgres::cluster::Cluster;
use crate::keep::upstream::Upstream;
use crate::peers::{programs, python_engines};
use crate::serve::support::{Serving, eventually};

/// A person decides about what the child does, and about nothing else.
const FILE: &str = "allow = [\"*\"]\nask = [\"child__act\"]\n[store]\nurl = \"sqlite://crib.db\"\n";

/// The calls that wait for a person, by their names.
fn tickets(serving: &Serving) -> Vec<(String, String)> {
    let listed = serving.ask("GET", "/v1/tickets", "").json();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = listed["tickets"].as_array().unwrap().iter();
    rows.map(|row| (word(&row["arguments"]["nonce"]), word(&row["ticket"]))).collect()
}

fn decide(serving: &Serving, nonce: &str, decision: &Value) {
    let waiting = tickets(serving).into_iter().find(|(name, _)| name == nonce);
    let path = format!("/v1/tickets/{}", waiting.unwrap().1);
    let answer = serving.ask("POST", &path, &decision.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Four workflows of one engine: one whose worker is killed while its call runs, two that wait for
/// a person meanwhile, and one whose call has no known end. `start`: a worker, told to do so by an
/// address and a token.
fn every_call_runs_once(start: impl Fn(&str, &str) -> Worker) {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish(FILE), &[]);
    serving.hears("`child`: 1 tools");
    let url = format!("http://{}/mcp", serving.address);
    let began = [
        ("cut-off", "web__act", "late"),
        ("approved", "child__act", "ok"),
        ("denied", "child__act", "ok"),
        ("lost", "web__act", "reset"),
    ];
    let mut worker = start(&url, &serving.token);
    for (nonce, tool, how) in began {
        let arguments = json!({ "how": how, "nonce": nonce });
        worker.ask(&json!({ "do": "start", "id": nonce, "tool": tool, "arguments": arguments }));
    }
    let oracle = &upstream.oracle;
    assert!(eventually(|| oracle.count("cut-off") == 1 && tickets(&serving).len() == 2));
    worker.kill();
    let mut worker = start(&url, &serving.token);
    oracle.let_go("cut-off");
    decide(&serving, "approved", &json!({ "decision": "approve" }));
    decide(&serving, "denied", &json!({ "decision": "deny", "reason": "not on a Friday" }));
    for nonce in ["approved", "denied"] {
        worker.ask(&json!({ "do": "decided", "id": nonce }));
    }
    let ends = began.map(|(nonce, ..)| {
        let mut end = worker.ask(&json!({ "do": "result", "id": nonce }));
        // The words are for people, and may change.
        if let Some(words) = end["words"].as_str() {
            let told = ["It may or may not have taken effect", "not on a Friday"];
            end["words"] =
                told.into_iter().find(|part| words.contains(part)).unwrap_or(words).into();
        }
        end
    });
    let wanted = [
        json!({ "answer": { "did": "cut-off" } }),
        json!({ "answer": "did approved" }),
        json!({ "failed": "Refused", "words": "not on a Friday" }),
        json!({ "failed": "Unknown", "words": "It may or may not have taken effect" }),
    ];
    assert_eq!(ends, wanted);
    let counts = began.map(|(nonce, ..)| oracle.count(nonce));
    assert_eq!(counts, [1, 1, 0, 1]);
}

#[test]
fn a_step_of_temporal_that_is_done_again_runs_its_call_once() {
    let Some(python) = python_engines() else { return };
    let server = Temporal::start(&python);
    every_call_runs_once(|url, token| {
        Worker::start(&python, "on_temporal.py", &[&server.address], (url, token))
    });
}

#[test]
fn a_step_of_restate_that_is_done_again_runs_its_call_once() {
    let (Some(python), Some(modules)) = (python_engines(), programs()) else { return };
    let server = Restate::start(&modules);
    let Restate { admin, ingress, service, .. } = &server;
    every_call_runs_once(|url, token| {
        let words = [service.as_str(), admin, ingress];
        Worker::start(&python, "on_restate.py", &words, (url, token))
    });
}

#[test]
fn a_step_of_dbos_that_is_done_again_runs_its_call_once() {
    let Some(python) = python_engines() else { return };
    let Some(cluster) = Cluster::start_if_any("dbos") else { return };
    cluster.database("engine");
    let url = format!("postgresql://crib@/engine?host={}", cluster.folder().display());
    every_call_runs_once(|crib, token| {
        Worker::start(&python, "on_dbos.py", &[&url], (crib, token))
    });
}
