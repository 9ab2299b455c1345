//! Runs of agents that go on by themselves: they wait for people, outlive the server, and are looked
//! at by whoever comes.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::support::{Answer, Serving, bearer, eventually, head};
use crate::keep::killed;

/// The desk of calendar, tasks and mail, where new tasks wait for a person.
const ASKS: &str = "allow = [\"*\"]\nask = [\"create_task\"]\n";
const DESK: &str = "[[source]]\nid = \"desk\"\nprefix = \"\"\ndesk = {}\n";
const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n";

fn run(serving: &Serving, body: &Value) -> Value {
    let told = serving.ask("POST", "/v1/runs", &body.to_string());
    assert!(told.status < 300, "{told:?}");
    told.json()
}

fn shown(serving: &Serving, id: &Value) -> Value {
    serving.ask("GET", &format!("/v1/runs/{}", id.as_str().unwrap()), "").json()
}

/// The events of a run, each with its number.
fn events(answer: &Answer) -> Vec<Value> {
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|event| serde_json::from_str(event).unwrap()).collect()
}

fn makes_a_task() -> ScriptedTurn {
    ScriptedTurn::call("create_task", json!({ "title": "Water the plants" }))
}

fn tasks(serving: &Serving) -> usize {
    let listed = serving.call(&json!({ "calls": [{ "name": "list_tasks", "arguments": {} }] }));
    listed["responses"][0]["text"].as_str().unwrap().matches("Water the plants").count()
}

#[test]
fn a_run_that_waits_outlives_its_server_and_goes_on_with_whoever_decides() {
    let turns = [makes_a_task(), ScriptedTurn::says("The task is there.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{STORE}{DESK}"));
    let begun = run(&serving, &json!({ "input": "Water the plants.", "wait": true }));
    assert_eq!((&begun["state"], &begun["agent"]), (&json!("waiting"), &json!("assistant")));
    let ticket = begun["tickets"][0].as_str().unwrap().to_owned();
    let path = format!("/v1/responses/resp_{}", begun["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &path, "").json()["output"][0]["status"], "in_progress");

    let serving = killed(serving);
    assert_eq!(shown(&serving, &begun["id"])["state"], "waiting");
    assert_eq!(tasks(&serving), 0);
    let decision = json!({ "decision": "approve" }).to_string();
    let decided = serving.ask("POST", &format!("/v1/tickets/{ticket}"), &decision);
    assert_eq!(decided.status, 200, "{decided:?}");
    assert!(eventually(|| shown(&serving, &begun["id"])["state"] == "ended"));
    let ended = shown(&serving, &begun["id"]);
    assert_eq!((&ended["stop"], &ended["text"]), (&json!("done"), &json!("The task is there.")));
    assert_eq!((tasks(&serving), model.asked().len()), (1, 2));
    let asked = model.asked()[1].body["messages"].to_string();
    assert!(asked.contains("Water the plants"), "{asked}");

    // The same again, as the other doors tell it, after another kill.
    let serving = killed(serving);
    the_other_doors_tell_the_same(&serving, &begun);
}

fn the_other_doors_tell_the_same(serving: &Serving, begun: &Value) {
    let path = format!("/v1/responses/resp_{}", begun["id"].as_str().unwrap());
    let response = serving.ask("GET", &path, "").json();
    let kinds: Vec<_> = response["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        (kinds.as_slice(), &response["status"]),
        (["mcp_call", "message"].as_slice(), &json!("completed"))
    );
    let told =
        serving.ask("GET", &format!("/v1/runs/{}/events", begun["id"].as_str().unwrap()), "");
    let told = events(&told);
    let kinds: Vec<_> = told.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "turn.started",
            "calls",
            "call.done",
            "call.waiting",
            "call.done",
            "turn.started",
            "text.delta",
            "text.delta",
            "text.delta",
            "text.delta",
            "usage",
            "ended",
        ]
    );
    let numbers: Vec<_> = told.iter().map(|event| event["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    let path = format!("/v1/runs/{}/events", begun["id"].as_str().unwrap());
    let rest = serving
        .send(&head("GET", &path, serving, &["Last-Event-ID: 6", &bearer(&serving.token)]), "");
    assert_eq!(events(&rest), told[7..]);
    // A thread goes on, and has all of it.
    let more = json!({ "input": "Thanks.", "wait": true }).to_string();
    let input = format!("/v1/runs/{}/input", begun["id"].as_str().unwrap());
    let more = serving.ask("POST", &input, &more).json();
    assert_eq!((&more["thread"], &more["state"]), (&begun["thread"], &json!("ended")));
    let thread = format!("/v1/threads/{}", begun["thread"].as_str().unwrap());
    let thread = serving.ask("GET", &thread, "").json();
    let kinds: Vec<_> = thread["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["user", "assistant", "results", "assistant", "user", "assistant"]);
    assert_eq!(thread["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_run_that_is_cancelled_while_it_waits_lets_nobody_run_its_call_later() {
    let model = ScriptedModel::of([makes_a_task()]).unwrap();
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let begun = run(&serving, &json!({ "input": "Water the plants.", "wait": true }));
    let ticket = begun["tickets"][0].as_str().unwrap();
    let id = begun["id"].as_str().unwrap();
    let ended = serving.ask("POST", &format!("/v1/runs/{id}/cancel"), "{}").json();
    assert_eq!((&ended["state"], &ended["stop"]), (&json!("ended"), &json!("cancelled")));
    let decision = json!({ "decision": "approve" }).to_string();
    assert_eq!(serving.ask("POST", &format!("/v1/tickets/{ticket}"), &decision).status, 409);
    assert_eq!(tasks(&serving), 0);
}

#[test]
fn a_thread_has_one_run_at_a_time_and_the_other_is_told_which() {
    let slow =
        ScriptedTurn::Waits(Duration::from_millis(800), Box::new(ScriptedTurn::says("Slowly.")));
    let model = ScriptedModel::of([slow, ScriptedTurn::says("Fast.")]).unwrap();
    let serving = serving(&model, ALL);
    let body = json!({ "input": "Hello.", "thread": "kitchen" });
    let first = run(&serving, &body);
    let second = serving.ask("POST", "/v1/runs", &body.to_string());
    assert_eq!(second.problem(), "409 run-busy", "{second:?}");
    assert!(second.body.contains(first["id"].as_str().unwrap()), "{second:?}");
    let body = json!({ "model": "assistant", "input": "Hello.", "conversation": "kitchen" });
    let third = serving.ask("POST", "/v1/responses", &body.to_string());
    assert_eq!((third.status, &third.json()["error"]["code"]), (409, &json!("conversation_busy")));
    assert!(eventually(|| shown(&serving, &first["id"])["state"] == "ended"));
    let fourth = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    assert_eq!(fourth["output"][0]["content"][0]["text"], "Fast.");
    let asked = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains("Slowly."), "{asked}");
    let listed = serving.ask("GET", "/v1/runs?limit=1", "").json();
    assert_eq!(listed["runs"][0]["previous"], first["id"], "{listed}");
    let rest = format!("/v1/runs?cursor={}", listed["cursor"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &rest, "").json()["runs"][0]["id"], first["id"]);
}

#[test]
fn what_runs_when_the_server_dies_goes_on_or_ends_by_who_waits_for_it() {
    let slow =
        |text| ScriptedTurn::Waits(Duration::from_secs(2), Box::new(ScriptedTurn::says(text)));
    let model = ScriptedModel::by(move |_, body| {
        let said = body["messages"].to_string();
        if said.contains("Alone") { slow("Done alone.") } else { slow("For you.") }
    })
    .unwrap();
    let serving = serving(&model, &format!("{ALL}\n{STORE}"));
    let alone = run(&serving, &json!({ "input": "Alone." }));
    let body = json!({ "model": "assistant", "input": "With me.", "stream": true }).to_string();
    let (kind, token) = ("Content-Type: application/json", bearer(&serving.token));
    let length = format!("Content-Length: {}", body.len());
    let request = head("POST", "/v1/responses", &serving, &[kind, &length, &token]);
    let mut stream = serving.connect();
    std::io::Write::write_all(&mut stream, format!("{request}\r\n{body}").as_bytes()).unwrap();
    assert!(eventually(|| model.asked().len() == 2));
    let serving = killed(serving);
    assert!(eventually(|| shown(&serving, &alone["id"])["state"] == "ended"));
    assert_eq!(shown(&serving, &alone["id"])["text"], "Done alone.");
    let runs = serving.ask("GET", "/v1/runs", "").json();
    let left: Vec<_> = runs["runs"].as_array().unwrap().iter().collect();
    assert_eq!(left.len(), 2, "{runs}");
    let other = left.iter().find(|run| run["id"] != alone["id"]).unwrap();
    assert!(eventually(|| shown(&serving, &other["id"])["stop"] == "cancelled"));
    // One whose model had not answered goes on when somebody says so.
    let resume = format!("/v1/runs/{}/resume", other["id"].as_str().unwrap());
    let resumed = serving.ask("POST", &resume, "{}").json();
    assert!(eventually(|| shown(&serving, &resumed["id"])["text"] == "For you."));
    let again = format!("/v1/runs/{}/resume", alone["id"].as_str().unwrap());
    assert_eq!(serving.ask("POST", &again, "{}").problem(), "409 run-busy");
}

#[test]
fn a_run_waits_for_hours_where_its_model_says_so_over_a_kill_too() {
    let hours = vec![("retry-after".to_owned(), "7200".to_owned())];
    let model = ScriptedModel::of([ScriptedTurn::Refuses(429, hours, String::new())]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{STORE}"));
    let begun = run(&serving, &json!({ "input": "Hello.", "wait": true }));
    assert_eq!((&begun["state"], &begun["tickets"]), (&json!("waiting"), &json!([])));
    let serving = killed(serving);
    let path = format!("/v1/runs/{}", begun["id"].as_str().unwrap());
    assert_eq!(shown(&serving, &begun["id"])["state"], "waiting");
    let cancelled = serving.ask("POST", &format!("{path}/cancel"), "{}");
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    assert!(eventually(|| shown(&serving, &begun["id"])["stop"] == "cancelled"));
    assert_eq!(model.asked().len(), 1);
    let told = serving.ask("GET", &format!("{path}/events"), "").body;
    assert!(told.contains("it is asked again in 7200 s, at "), "{told}");
}

#[test]
fn the_runs_of_others_are_not_there() {
    let model = ScriptedModel::of([ScriptedTurn::says("Hello.")]).unwrap();
    let serving = serving(&model, ALL);
    let begun = run(&serving, &json!({ "input": "Hello.", "wait": true, "thread": "mine" }));
    let other = serving.token_of("other");
    let id = begun["id"].as_str().unwrap();
    for (method, path, body) in [
        ("GET", format!("/v1/runs/{id}"), ""),
        ("GET", format!("/v1/runs/{id}/events"), ""),
        ("POST", format!("/v1/runs/{id}/cancel"), "{}"),
        ("POST", format!("/v1/runs/{id}/input"), "{\"input\": \"x\"}"),
        ("POST", format!("/v1/runs/{id}/resume"), "{}"),
        ("GET", "/v1/threads/mine".to_owned(), ""),
    ] {
        let answer = serving.ask_as(&other, method, &path, body);
        assert_eq!(answer.problem(), "404 unknown-run", "{path}");
    }
    assert_eq!(serving.ask_as(&other, "GET", "/v1/runs", "").json()["runs"], json!([]));
}

#[test]
fn a_decision_after_the_answer_is_told_to_the_next_turn_once() {
    let turns = ["It waits.", "It is there.", "Yes."].map(ScriptedTurn::says);
    let model = ScriptedModel::of([makes_a_task()].into_iter().chain(turns)).unwrap();
    let serving = serving(&model, &format!("{ASKS}{STORE}{DESK}"));
    let mut body = json!({ "model": "assistant", "input": "Water the plants." });
    let first = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    let open = serving.ask("GET", "/v1/tickets", "").json();
    let ticket = open["tickets"][0]["ticket"].as_str().unwrap().to_owned();
    let decision = json!({ "decision": "approve" }).to_string();
    assert_eq!(serving.ask("POST", &format!("/v1/tickets/{ticket}"), &decision).status, 200);
    let mut before = first["id"].clone();
    for _ in 0..2 {
        body["previous_response_id"] = before;
        let next = serving.ask("POST", "/v1/responses", &body.to_string()).json();
        assert_eq!(next["status"], "completed", "{next}");
        before = next["id"].clone();
        let asked = model.asked().pop().unwrap().body["messages"].to_string();
        assert_eq!(asked.matches("waits no more").count(), 1, "{asked}");
        assert!(asked.contains("What came of it"), "{asked}");
    }
    assert_eq!(tasks(&serving), 1);
}
