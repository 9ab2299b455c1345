//! Clients of agents in JavaScript, over a scripted model.

use std::path::Path;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving, talking};
use super::support::{Serving, eventually};
use crate::keep::killed;
use crate::peers::Peers;

const WAITING: &str = include_str!("sdks/waiting.mjs");
const CLIENTS: &str = include_str!("sdks/agents.mjs");

/// Runs a client with the modules of the peers, and reads the one line that it says at its end.
pub(super) fn run(modules: &Path, serving: &Serving, script: &str, words: &[&str]) -> Value {
    let found = serving.folder.path().join("node_modules");
    if !found.exists() {
        std::os::unix::fs::symlink(modules, found).unwrap();
    }
    serving.folder.write("clients.mjs", script);
    let url = format!("http://{}/v1", serving.address);
    #[expect(clippy::disallowed_methods, reason = "the clients are a program")]
    let mut clients = std::process::Command::new(modules.join(".bin/node"));
    clients.args(["clients.mjs", &url, &serving.token]).args(words);
    let run = clients.current_dir(serving.folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    serde_json::from_str(told.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| unreachable!("{told}\n{}", String::from_utf8_lossy(&run.stderr)))
}

/// What the model says of the count of `a b`, as it was given to it.
fn counted() -> String {
    let count = json!({ "characters": 3, "words": 2, "lines": 1, "bytes": 3 });
    format!("It says {}.", Value::from(count.to_string()))
}

/// What each way of the client of `OpenAI` itself was answered.
fn of_openai() -> Vec<(String, Value)> {
    let (count, weather) = (counted(), "It says \"11 degrees\".");
    [
        ("responses", json!([count, ["mcp_call", "message"]])),
        ("responses stream", json!([count, ["mcp_call", "message"]])),
        ("responses helper", json!([count, ["mcp_call", "message"]])),
        ("responses weather", json!([weather, ["message"]])),
        ("responses background", json!([count, ["mcp_call", "message"]])),
        ("chat", json!([count])),
        ("chat stream", json!([count])),
        ("chat weather", json!([weather])),
    ]
    .map(|(way, answer)| (format!("openai {way}"), answer))
    .into()
}

/// What each way of a client that runs its own tools was answered, and what it shows of a tool that
/// ran here and of one of its own.
fn of_loop(client: &str, ours: &[&str], own: &[&str]) -> Vec<(String, Value)> {
    let (count, weather) = (counted(), "It says \"11 degrees in Paris\".");
    let counts = ["", " stream", " second turn", " turn after weather"];
    let weathers = [" weather", " weather stream"];
    let counts = counts.map(|way| (format!("{client}{way}"), json!([count, ours])));
    let weathers = weathers.map(|way| (format!("{client}{way}"), json!([weather, own])));
    counts.into_iter().chain(weathers).collect()
}

#[test]
fn clients_in_javascript_hold_a_conversation() {
    let Some(peers) = Peers::find() else { return };
    let model = talking();
    let serving = serving(&model, ALL);
    let seen = run(&peers.modules, &serving, CLIENTS, &[]);
    let agents = ["tool_call_item", "tool_call_output_item", "message_output_item"];
    let vercel = ["tool-call", "tool-result", "text"];
    let (said, text) = (["message_output_item"], ["text"]);
    let wanted = [
        of_openai(),
        of_loop("agents responses", &["tool_call_item", "message_output_item"], &agents),
        of_loop("agents chat", &said, &agents),
        of_loop("vercel openai", &vercel, &vercel),
        of_loop("vercel openai chat", &text, &vercel),
        of_loop("vercel open-responses", &text, &vercel),
        of_loop("vercel compatible", &text, &vercel),
    ];
    let mut wanted: Value = wanted.into_iter().flatten().collect();
    // This one begins a text at the first piece of a stream, whatever comes.
    wanted["vercel openai chat weather stream"][1] =
        json!(["text", "tool-call", "tool-result", "text"]);
    assert_eq!(seen, wanted, "{seen:#}");
}

const DESK: &str = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n\
                    [[source]]\nid = \"desk\"\nprefix = \"\"\ndesk = {}\n";

/// One that looks for an event, moves it and deletes it.
fn mover() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let results: Vec<_> = messages.iter().filter(|one| one["role"] == "tool").collect();
        let found = results.first().and_then(|one| one["content"].as_str()).unwrap_or_default();
        let id = found.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next());
        match results.len() {
            0 => ScriptedTurn::call("search_calendar_events", json!({ "query": "budget" })),
            1 => ScriptedTurn::call(
                "update_calendar_event",
                json!({ "event_id": id, "start": "tomorrow 3pm" }),
            ),
            2 => ScriptedTurn::call("delete_calendar_event", json!({ "event_id": id })),
            _ => ScriptedTurn::says("The review is gone."),
        }
    })
    .unwrap()
}

/// What the calendar has of the event.
fn events(serving: &Serving) -> String {
    let search = json!({ "name": "search_calendar_events", "arguments": { "query": "budget" } });
    let found = serving.call(&json!({ "calls": [search] }));
    found["responses"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_that_waits_for_a_person_reaches_its_client_after_a_kill() {
    let Some(peers) = Peers::find() else { return };
    let model = mover();
    let serving = serving(&model, DESK);
    let new = json!({ "title": "Budget review", "start": "tomorrow 2pm", "duration": "30 min" });
    let new = json!({ "name": "add_calendar_event", "arguments": new });
    serving.call(&json!({ "calls": [new] }));
    let id = run(&peers.modules, &serving, WAITING, &[]);
    let open = |serving: &Serving| serving.ask("GET", "/v1/tickets", "").json()["tickets"].clone();
    assert!(eventually(|| open(&serving)[0]["ticket"].is_string()), "{:?}", open(&serving));

    let serving = killed(serving);
    let left = events(&serving);
    assert!(left.contains("T15:00:00"), "moved and not deleted: {left}");
    let ticket = open(&serving)[0]["ticket"].as_str().unwrap().to_owned();
    let decision = json!({ "decision": "approve" }).to_string();
    let decided = serving.ask("POST", &format!("/v1/tickets/{ticket}"), &decision);
    assert_eq!(decided.status, 200, "{decided:?}");
    let seen = run(&peers.modules, &serving, WAITING, &[id.as_str().unwrap()]);
    let wanted = json!({
        "last": "response.completed",
        "calls": [
            ["search_calendar_events", "completed"], ["update_calendar_event", "completed"],
            ["delete_calendar_event", "completed"],
        ],
        "text": "The review is gone.",
    });
    assert_eq!(seen, wanted);
    let left = events(&serving);
    assert!(!left.contains("Budget review"), "{left}");
    // Each turn of the model was asked for once.
    assert_eq!(model.asked().len(), 4);
    assert_eq!(open(&serving), json!([]));
}
