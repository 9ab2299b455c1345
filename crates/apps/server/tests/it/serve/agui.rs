//! AG-UI over a scripted model; its streams are judged by checkers that others wrote.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::stopping::worker;
use super::support::{Answer, Serving, bearer, eventually, head};
use crate::peers::{programs, python_clients};
use crate::process::Folder;

const CLIENT: &str = include_str!("sdks/agui.mjs");
/// The desk of calendar, tasks and mail, where new tasks wait for a person.
pub(super) const ASKS: &str = "allow = [\"*\"]\nask = [\"create_task\"]\n";
pub(super) const DESK: &str = "[[source]]\nid = \"desk\"\nprefix = \"\"\ndesk = {}\n";
/// The one rule that is left out: a stream that goes on with a run tells the result of a call that
/// the stream before began, which a checker of single streams has not seen.
pub(super) const OF_ONE_STREAM: &[&str] = &["--off", "AGUI207"];

pub(super) fn request(text: &str) -> Value {
    json!({
        "threadId": "window", "runId": "first",
        "messages": [{ "id": "u1", "role": "user", "content": text }],
    })
}

pub(super) fn with(mut request: Value, more: &Value) -> Value {
    let fields = more.as_object().unwrap().clone();
    request.as_object_mut().unwrap().extend(fields);
    request
}

pub(super) fn asks(serving: &Serving, body: &Value) -> Answer {
    serving.ask("POST", "/v1/agui", &body.to_string())
}

fn read(answer: &Answer) -> Vec<Value> {
    let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|event| serde_json::from_str(event).unwrap()).collect()
}

/// The events of a stream that both checkers find nothing against.
pub(super) fn streamed(serving: &Serving, body: &Value, leave_out: &[&str]) -> Vec<Value> {
    let answer = asks(serving, body);
    assert_eq!(answer.status, 200, "{answer:?}");
    let events = read(&answer);
    serving.folder.write("stream.sse", &answer.body);
    if let Some(python) = python_clients() {
        checked(serving, &python, leave_out);
    }
    if let Some(seen) = with_client(serving, &["judge", "stream.sse"]) {
        assert_eq!(seen, json!(events.len()));
    }
    events
}

#[expect(clippy::disallowed_methods, reason = "the checker is a program")]
fn checked(serving: &Serving, python: &Path, leave_out: &[&str]) {
    let mut checker = Command::new(python.with_file_name("ag-ui-validate"));
    checker.args(["stream.sse", "--max-warnings", "0"]).args(leave_out);
    let run = checker.current_dir(serving.folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{told}\n{}", String::from_utf8_lossy(&run.stderr));
}

/// What the script says with the client of the protocol, if that is installed.
#[expect(clippy::disallowed_methods, reason = "the client is a program")]
fn with_client(serving: &Serving, words: &[&str]) -> Option<Value> {
    let programs = programs()?;
    let found = serving.folder.path().join("node_modules");
    if !found.exists() {
        std::os::unix::fs::symlink(programs.parent().unwrap(), found).unwrap();
    }
    serving.folder.write("agui.mjs", CLIENT);
    let url = format!("http://{}/v1", serving.address);
    let mut client = Command::new(programs.join("node"));
    client.args(["agui.mjs", &url, &serving.token]).args(words);
    let run = client.current_dir(serving.folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    let told = serde_json::from_str(told.lines().last().unwrap_or_default());
    Some(told.unwrap_or_else(|_| unreachable!("{}", String::from_utf8_lossy(&run.stderr))))
}

pub(super) fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    // A text comes in as many pieces as the model likes.
    kinds.dedup();
    kinds
}

pub(super) fn text(events: &[Value]) -> String {
    let texts = events.iter().filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT");
    texts.map(|event| event["delta"].as_str().unwrap()).collect()
}

pub(super) fn outcome(events: &[Value]) -> &Value {
    &events.last().unwrap()["outcome"]
}

pub(super) fn makes_a_task() -> ScriptedTurn {
    ScriptedTurn::call("create_task", json!({ "title": "Water the plants" }))
}

pub(super) fn tasks(serving: &Serving) -> usize {
    let listed = serving.call(&json!({ "calls": [{ "name": "list_tasks", "arguments": {} }] }));
    listed["responses"][0]["text"].as_str().unwrap().matches("Water the plants").count()
}

#[test]
fn a_run_with_tools_is_told_turn_by_turn_and_a_second_turn_brings_its_history() {
    let calls = vec![("text_count".to_owned(), json!({ "text": "a b" }))];
    let turns = [
        ScriptedTurn::Calls("I count.".to_owned(), calls),
        ScriptedTurn::says("Two words."),
        ScriptedTurn::says("Yes."),
    ];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, ALL);
    let more = json!({
        "parentRunId": "none", "state": { "page": 3 },
        "context": [{ "description": "The page that is open", "value": "Counting" }],
    });
    let events = streamed(&serving, &with(request("Count `a b`."), &more), &[]);
    let wanted = [
        "RUN_STARTED",
        "STATE_SNAPSHOT",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "STEP_FINISHED",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ];
    assert_eq!(kinds(&events), wanted);
    assert_eq!(text(&events), "I count.Two words.");
    assert_eq!(
        events[0],
        json!({
            "type": "RUN_STARTED", "threadId": "window", "runId": "first",
            "protocolVersion": "1.0", "parentRunId": "none",
        })
    );
    let end = events.last().unwrap();
    assert_eq!(
        (outcome(&events), &end["result"]),
        (
            &json!({ "type": "success" }),
            &json!({
                "stop": "done"
            })
        )
    );
    assert_eq!(end["usage"][0]["totalTokens"], 220);
    let asked = model.asked()[0].body["messages"].to_string();
    assert!(asked.contains("The page that is open: Counting"), "{asked}");

    the_next_turn_brings_the_history(&serving, &model, &events);
}

fn the_next_turn_brings_the_history(serving: &Serving, model: &ScriptedModel, events: &[Value]) {
    let start = events.iter().find(|event| event["type"] == "TOOL_CALL_START").unwrap();
    let result = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    let call = json!({
        "id": start["toolCallId"], "type": "function",
        "function": { "name": "text_count", "arguments": "{\"text\":\"a b\"}" },
    });
    let history = json!([
        { "id": "u1", "role": "user", "content": "Count `a b`." },
        { "id": start["parentMessageId"], "role": "assistant", "content": "I count.",
            "toolCalls": [call] },
        { "id": result["messageId"], "role": "tool", "content": result["content"],
            "toolCallId": start["toolCallId"] },
        { "id": "a2", "role": "assistant", "content": "Two words." },
        { "id": "x1", "role": "activity", "activityType": "plan", "content": {} },
        { "id": "u2", "role": "user", "content": [{ "type": "text", "text": "Sure?" }] },
    ]);
    let second = with(request(""), &json!({ "runId": "second", "messages": history }));
    let events = streamed(serving, &second, &[]);
    assert_eq!(
        (text(&events).as_str(), outcome(&events)["type"].as_str()),
        ("Yes.", Some("success"))
    );
    let asked = model.asked().pop().unwrap().body["messages"].clone();
    let roles: Vec<_> = asked.as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(&roles[roles.len() - 5..], ["user", "assistant", "tool", "assistant", "user"]);
}

#[test]
fn what_the_model_thinks_is_told_apart_from_what_it_says() {
    let piece = |delta: Value, reason: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let body = [
        piece(json!({ "reasoning_content": "A greeting. " }), None),
        piece(json!({ "reasoning_content": "I greet." }), None),
        piece(json!({ "content": "Hello." }), None),
        piece(json!({}), Some("stop")),
        "data: [DONE]\n\n".to_owned(),
    ];
    let model = ScriptedModel::of([ScriptedTurn::Writes(body.concat())]).unwrap();
    let serving = serving(&model, ALL);
    let events = streamed(&serving, &request("Hello."), &[]);
    let wanted = [
        "RUN_STARTED",
        "STEP_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ];
    assert_eq!(kinds(&events), wanted);
    assert_eq!(
        (events[4]["delta"].as_str(), text(&events).as_str()),
        (Some("A greeting. "), "Hello.")
    );
}

#[test]
fn tools_of_the_client_are_handed_back_to_it() {
    let model =
        ScriptedModel::of([ScriptedTurn::call("paint", json!({ "color": "red" }))]).unwrap();
    let serving = serving(&model, ALL);
    let tools = json!([{
        "name": "paint", "description": "Paints the page.", "parameters": { "type": "object" },
    }]);
    let events = streamed(&serving, &with(request("Red."), &json!({ "tools": tools })), &[]);
    let wanted = [
        "RUN_STARTED",
        "STEP_STARTED",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ];
    assert_eq!(kinds(&events), wanted);
    let call = &events[2];
    assert_eq!(call["toolCallName"], "paint");
    let pending = json!({ "type": "success", "pendingToolCallIds": [call["toolCallId"]] });
    assert_eq!(outcome(&events), &pending);
}

#[test]
fn what_breaks_is_told_once_and_what_is_taken_back_is_marked() {
    let whole = ScriptedTurn::says("Hello to you.");
    let broken = ScriptedTurn::BreaksOff(Box::new(whole.clone()), 420);
    let model = ScriptedModel::of([broken, whole]).unwrap();
    let serving_whole = serving(&model, ALL);
    let events = streamed(&serving_whole, &request("Hello."), &[]);
    let taken = events.iter().find(|event| event["name"] == "toolcrib.retracted").unwrap();
    let said = events.iter().find(|event| event["type"] == "TEXT_MESSAGE_START").unwrap();
    assert_eq!(taken["value"]["messageIds"], json!([said["messageId"]]));
    assert!(text(&events).ends_with("Hello to you."), "{events:?}");
    assert_eq!(outcome(&events)["type"], "success");

    let down = || ScriptedTurn::Refuses(500, Vec::new(), String::new());
    let model = ScriptedModel::of([down(), down(), down()]).unwrap();
    let serving_broken = serving(&model, ALL);
    let events = streamed(&serving_broken, &request("Hello."), &[]);
    assert_eq!(kinds(&events), ["RUN_STARTED", "STEP_STARTED", "STEP_FINISHED", "RUN_ERROR"]);
    assert_eq!(events.last().unwrap()["code"], "unavailable", "{events:?}");
}

#[test]
fn a_client_that_goes_away_gives_its_run_up() {
    let slow = ScriptedTurn::Waits(Duration::from_mins(1), Box::new(ScriptedTurn::says("Late.")));
    let model = ScriptedModel::of([slow]).unwrap();
    let serving = serving(&model, ALL);
    let body = request("Hello.").to_string();
    let head = head(
        "POST",
        "/v1/agui",
        &serving,
        &[
            &bearer(&serving.token),
            "Content-Type: application/json",
            &format!("Content-Length: {}", body.len()),
        ],
    );
    let mut client = serving.connect();
    std::io::Write::write_all(&mut client, format!("{head}\r\n{body}").as_bytes()).unwrap();
    assert!(eventually(|| model.asked().len() == 1));
    drop(client);
    let runs = || serving.ask("GET", "/v1/runs", "").json()["runs"].clone();
    assert!(eventually(|| runs()[0]["state"] == "ended"), "{}", runs());
    assert_eq!(runs()[0]["thread"], "agui_window");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let model = ScriptedModel::of([]).unwrap();
    let two = "[agent.one]\n[agent.two]\n";
    let serving = serving(&model, &format!("{ALL}\n{two}"));
    let said = |more: Value| {
        let answer = asks(&serving, &with(request("Hello."), &more));
        (answer.problem(), answer.json()["detail"].as_str().unwrap().to_owned())
    };
    let agent = json!({ "agent": "one" });
    let of = |more: Value| with(more, &json!({ "forwardedProps": agent }));
    let message = |message: Value| of(json!({ "messages": [message] }));
    for (more, kind, place) in [
        (json!({ "threadId": 7 }), "422 invalid-body", "`threadId`"),
        (json!({ "runId": "" }), "422 invalid-body", "`runId`"),
        (json!({}), "422 invalid-body", "`forwardedProps.agent`: one of [one, two]"),
        (json!({ "forwardedProps": { "agent": 1 } }), "422 invalid-body", "`forwardedProps.agent`"),
        (json!({ "forwardedProps": { "agent": "x" } }), "404 unknown-agent", "`x`"),
        (of(json!({ "messages": {} })), "422 invalid-body", "`messages`"),
        (of(json!({ "messages": [] })), "422 invalid-body", "`messages`"),
        (message(json!({ "role": "robot" })), "422 invalid-body", "`messages[0].role`"),
        (message(json!({ "role": "user" })), "422 invalid-body", "`messages[0].content`"),
        (
            message(json!({ "role": "user", "content": [{ "type": "audio" }] })),
            "422 invalid-body",
            "`messages[0].content[0]`",
        ),
        (of(json!({ "tools": {} })), "422 invalid-body", "`tools`"),
        (of(json!({ "tools": [{}] })), "422 invalid-body", "`tools[0]`"),
        (of(json!({ "context": [1] })), "422 invalid-body", "`context[0]`"),
        (json!({ "resume": [{ "interruptId": "x" }] }), "404 unknown-run", "`threadId`"),
    ] {
        let (problem, detail) = said(more.clone());
        assert_eq!(problem, kind, "{more}: {detail}");
        assert!(detail.contains(place), "{more}: {detail}");
    }
    assert_eq!(model.asked().len(), 0);
}

#[test]
fn the_client_of_the_protocol_holds_a_conversation() {
    let turns = [
        makes_a_task(),
        ScriptedTurn::call("paint", json!({ "color": "green" })),
        ScriptedTurn::says("The task is there."),
    ];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ASKS}{DESK}"));
    let Some(told) = with_client(&serving, &["talk"]) else { return };
    assert_eq!(told["outcomes"], json!(["interrupt", "success", "success"]), "{told}");
    let roles: Vec<_> =
        told["messages"].as_array().unwrap().iter().map(|message| &message[0]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "tool", "assistant"]);
    assert_eq!(told["messages"][5][1], "The task is there.");
    assert_eq!(tasks(&serving), 1);
    let asked = model.asked().pop().unwrap().body["messages"].clone();
    let roles: Vec<_> = asked.as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(&roles[roles.len() - 5..], ["user", "assistant", "tool", "assistant", "tool"]);
}

/// A request to `/v1/responses` may answer for long what was put to its client, before its run stands
/// in the record.
#[test]
fn a_thread_to_which_somebody_adds_takes_no_other_request_and_nothing_runs_for_nobody() {
    let turns = [ScriptedTurn::call("w__work", json!({})), ScriptedTurn::says("It worked.")];
    let model = ScriptedModel::of(turns).unwrap();
    let folder = Folder::new();
    folder.write("worker.py", &worker("1.5"));
    let url = model.url();
    folder.write(
        "crib.toml",
        &format!(
            "{ALL}\n[model]\nurl = \"{url}\"\nname = \"m\"\n[[source]]\nid = \"w\"\n\
             mcp = {{ command = [\"python3\", \"./worker.py\"], cwd = \".\" }}\n"
        ),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`w`: 1 tools");
    let ask = |input: Value| {
        let tools = json!([{ "type": "mcp", "server_label": "w" }]);
        let body = json!({
            "model": "assistant", "conversation": "agui_window", "input": input, "tools": tools,
        });
        serving.ask("POST", "/v1/responses", &body.to_string())
    };
    let first = ask(json!("Work.")).json();
    let id = &first["output"][0]["id"];
    let yes = json!([{
        "type": "mcp_approval_response", "approval_request_id": id, "approve": true,
    }]);
    let runs = || serving.ask("GET", "/v1/activity", "").json()["running"][0].is_object();
    let (refused, answer) = std::thread::scope(|scope| {
        let answer = scope.spawn(|| ask(yes.clone()));
        assert!(eventually(runs));
        (asks(&serving, &request("Hello.")), answer.join().unwrap())
    });
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("another request adds to the conversation now"), "{refused:?}");
    let output = answer.json()["output"].clone();
    assert_eq!(
        (&output[0]["status"], &output[1]["type"]),
        (&json!("completed"), &json!("message"))
    );
    assert_eq!(asks(&serving, &request("Hello.")).status, 200);
}
