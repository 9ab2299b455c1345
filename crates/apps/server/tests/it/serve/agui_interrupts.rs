//! Runs under AG-UI that wait for a person: who answers, and what is told after it.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::agui::{
    ASKS, DESK, OF_ONE_STREAM, asks, kinds, makes_a_task, outcome, request, streamed, tasks, text,
    with,
};
use super::questions;
use super::support::{Serving, bearer, eventually, head, read};
use crate::keep::killed;
use crate::process::Folder;

const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n";

/// A request that answers interrupts.
fn resumes(entries: &Value) -> Value {
    with(request("Water the plants."), &json!({ "runId": "second", "resume": entries }))
}

fn approves(ids: &[&Value]) -> Value {
    let payload = json!({ "approved": true });
    let entry =
        |id: &&Value| json!({ "interruptId": id, "status": "resolved", "payload": payload });
    resumes(&ids.iter().map(entry).collect())
}

fn interrupts(events: &[Value]) -> Vec<&Value> {
    outcome(events)["interrupts"].as_array().unwrap().iter().map(|one| &one["id"]).collect()
}

/// The calls whose results a stream tells.
fn results(events: &[Value]) -> Vec<&Value> {
    let results = events.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT");
    results.map(|event| &event["toolCallId"]).collect()
}

fn decides(serving: &Serving, ticket: &Value) {
    let path = format!("/v1/tickets/{}", ticket.as_str().unwrap());
    let decided = serving.ask("POST", &path, &json!({ "decision": "approve" }).to_string());
    assert_eq!(decided.status, 200, "{decided:?}");
}

#[test]
fn a_call_that_waits_interrupts_the_stream_and_the_answer_goes_on_after_a_restart() {
    let turns = [makes_a_task(), ScriptedTurn::says("The task is there.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{STORE}{DESK}"));
    let events = streamed(&serving, &request("Water the plants."), &[]);
    assert_eq!(outcome(&events)["type"], "interrupt", "{events:?}");
    let interrupt = &outcome(&events)["interrupts"][0];
    let call = events.iter().find(|event| event["type"] == "TOOL_CALL_START").unwrap();
    assert_eq!(
        (&interrupt["reason"], &interrupt["toolCallId"]),
        (&json!("tool_approval"), &call["toolCallId"])
    );
    assert!(interrupt["expiresAt"].as_str().unwrap().ends_with('Z'), "{interrupt}");
    let busy = asks(&serving, &request("Something else."));
    assert_eq!(busy.problem(), "409 run-busy", "{busy:?}");

    let serving = killed(serving);
    let answer = |status: &str, payload: Value| {
        let entry = json!({
            "interruptId": interrupt["id"], "status": status, "payload": payload,
        });
        with(request("Water the plants."), &json!({ "runId": "second", "resume": [entry] }))
    };
    let vague = asks(&serving, &answer("resolved", json!({ "answer": "yes" })));
    assert_eq!(vague.problem(), "422 invalid-body");
    assert!(vague.body.contains("resume[0].payload.approved"), "{vague:?}");
    assert_eq!(tasks(&serving), 0);
    let approved = answer("resolved", json!({ "approved": true }));
    let events = streamed(&serving, &approved, OF_ONE_STREAM);
    let wanted = [
        "RUN_STARTED",
        "TOOL_CALL_RESULT",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ];
    assert_eq!(kinds(&events), wanted);
    assert_eq!(text(&events), "The task is there.");
    assert_eq!((events[0]["runId"].as_str(), tasks(&serving)), (Some("second"), 1));
    // Whoever has lost the answer asks once more, and nothing runs again.
    assert_eq!(streamed(&serving, &approved, OF_ONE_STREAM), events);
    assert_eq!((tasks(&serving), model.asked().len()), (1, 2));
}

#[test]
fn a_cancelled_interrupt_is_a_no_and_the_model_is_told() {
    let turns = [makes_a_task(), ScriptedTurn::says("Then not.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let events = streamed(&serving, &request("Water the plants."), &[]);
    let id = &outcome(&events)["interrupts"][0]["id"];
    let entry = json!({ "interruptId": id, "status": "cancelled" });
    let resumed = with(request("Water the plants."), &json!({ "resume": [entry] }));
    let events = streamed(&serving, &resumed, OF_ONE_STREAM);
    assert_eq!((text(&events).as_str(), tasks(&serving)), ("Then not.", 0));
    let asked = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains("a person said no"), "{asked}");
}

#[test]
fn what_somebody_decided_elsewhere_is_told_to_the_client_that_comes_later() {
    let turns = [makes_a_task(), ScriptedTurn::says("The task is there.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let events = streamed(&serving, &request("Water the plants."), &[]);
    let ids = interrupts(&events);
    decides(&serving, ids[0]);
    let runs = || serving.ask("GET", "/v1/runs", "").json()["runs"].clone();
    assert!(eventually(|| runs()[0]["state"] == "ended"), "{}", runs());
    let events = streamed(&serving, &approves(&ids), OF_ONE_STREAM);
    assert_eq!((results(&events).len(), text(&events).as_str()), (1, "The task is there."));
    assert_eq!(tasks(&serving), 1);
    // The other doors show the same run.
    let id = runs()[0]["id"].as_str().unwrap().to_owned();
    let response = serving.ask("GET", &format!("/v1/responses/resp_{id}"), "").json();
    assert_eq!(response["status"], "completed", "{response}");
    let thread = serving.ask("GET", "/v1/threads/agui_window", "").json();
    assert_eq!(thread["items"].as_array().unwrap().len(), 4, "{thread}");
}

#[test]
fn of_two_calls_that_wait_each_is_answered_when_its_answer_comes() {
    let task = |title: &str| ("create_task".to_owned(), json!({ "title": title }));
    let two = vec![task("Water the plants"), task("Water the plants in the yard")];
    let turns = [ScriptedTurn::Calls(String::new(), two), ScriptedTurn::says("Both are there.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let events = streamed(&serving, &request("Water the plants."), &[]);
    let ids = interrupts(&events);
    assert_eq!(ids.len(), 2, "{events:?}");
    let twice = asks(&serving, &approves(&[ids[0], ids[0]]));
    assert_eq!(twice.problem(), "422 invalid-body", "{twice:?}");
    let other = asks(&serving, &approves(&[&json!("t_other")]));
    assert!(other.body.contains("`resume[0].interruptId`"), "{other:?}");

    let first = streamed(&serving, &approves(&ids[..1]), OF_ONE_STREAM);
    assert_eq!(kinds(&first), ["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    assert_eq!(interrupts(&first), ids[1..]);
    let result = first.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    // What the client has of it is not told again.
    let messages = json!([
        { "id": "u1", "role": "user", "content": "Water the plants." },
        { "id": result["messageId"], "role": "tool", "content": result["content"],
            "toolCallId": result["toolCallId"] },
    ]);
    let rest = with(approves(&ids[1..]), &json!({ "messages": messages }));
    let second = streamed(&serving, &rest, OF_ONE_STREAM);
    assert_eq!((results(&second).len(), text(&second).as_str()), (1, "Both are there."));
    assert_ne!(results(&second), results(&first));
    assert_eq!(tasks(&serving), 2);
}

#[test]
fn a_question_of_a_call_is_answered_with_the_fields_that_it_asks_for() {
    let turns = [ScriptedTurn::call("new__invite", json!({})), ScriptedTurn::says("Bob comes.")];
    let model = ScriptedModel::of(turns).unwrap();
    let folder = Folder::new();
    folder.write("asks.py", questions::ASKS);
    let source = "[[source]]\nid = \"new\"\nmcp = { command = [\"python3\", \"./asks.py\", \
                  \"new\"], cwd = \".\" }\n";
    let text_of = format!("{ALL}\n[model]\nurl = \"{}\"\nname = \"m\"\n{source}", model.url());
    folder.write("crib.toml", &text_of);
    let serving = Serving::start_in(folder, &[]);
    let events = streamed(&serving, &request("Who comes?"), &[]);
    let interrupt = &outcome(&events)["interrupts"][0];
    assert_eq!(interrupt["reason"], "input_required", "{interrupt}");
    assert_eq!(interrupt["responseSchema"]["required"], json!(["name"]));
    let answer = |payload: &str, status: &str| {
        let entry = json!({
            "interruptId": interrupt["id"], "status": status,
            "payload": serde_json::from_str::<Value>(payload).unwrap(),
        });
        resumes(&json!([entry]))
    };
    let unfit = asks(&serving, &answer("{\"name\": 7, \"meal\": \"stone\"}", "resolved"));
    assert_eq!(unfit.problem(), "422 invalid-body", "{unfit:?}");
    let bob = answer("{\"name\": \"Bob\", \"guests\": 2}", "resolved");
    let events = streamed(&serving, &bob, OF_ONE_STREAM);
    assert_eq!(text(&events), "Bob comes.", "{events:?}");
    let asked = model.asked().pop().unwrap().body["messages"].to_string();
    assert!(asked.contains("Bob"), "{asked}");
}

#[test]
fn threads_of_others_are_not_there_and_stand_in_nobodys_way() {
    let turns = [makes_a_task(), ScriptedTurn::says("Hello.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let events = streamed(&serving, &request("Water the plants."), &[]);
    let other = serving.token_of("other");
    let body = approves(&interrupts(&events)).to_string();
    let resumed = serving.ask_as(&other, "POST", "/v1/agui", &body);
    assert_eq!(resumed.problem(), "404 unknown-run", "{resumed:?}");
    let own = serving.ask_as(&other, "POST", "/v1/agui", &request("Hello.").to_string());
    assert!(own.status == 200 && own.body.contains("Hello."), "{own:?}");
    assert_eq!(tasks(&serving), 0);
}

#[test]
fn a_server_that_stops_tells_its_clients_that_their_runs_are_cancelled() {
    let slow = ScriptedTurn::Waits(Duration::from_mins(1), Box::new(ScriptedTurn::says("Late.")));
    let model = ScriptedModel::of([slow]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{STORE}"));
    let body = request("Hello.").to_string();
    let (kind, token) = ("Content-Type: application/json", bearer(&serving.token));
    let length = format!("Content-Length: {}", body.len());
    let head = head("POST", "/v1/agui", &serving, &[kind, &length, &token, "Connection: close"]);
    let mut client = serving.connect();
    std::io::Write::write_all(&mut client, format!("{head}\r\n{body}").as_bytes()).unwrap();
    assert!(eventually(|| model.asked().len() == 1));
    serving.signal("TERM");
    let mut told = String::new();
    std::io::Read::read_to_string(&mut client, &mut told).unwrap();
    let told = read(&told).body;
    let last = told.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["outcome"], json!({ "type": "cancelled" }), "{told}");
}
