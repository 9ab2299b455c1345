//! Agents that work for another one, over a server: a planner with two specialists.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agui::{DESK, OF_ONE_STREAM, outcome, request, streamed, tasks, text, with};
use super::support::{Serving, eventually};
use crate::keep::killed;
use crate::peers::Peers;
use crate::process::{Folder, run_in};

const TEAM: &str = r#"
allow = ["*"]
ask = ["create_task"]

[store]
url = "sqlite://crib.db"

[toolset.office]
tools = ["source:desk"]
summary = "Tasks and appointments."

[agent.boss]
description = "Plans."
specialists = ["shop", "office"]

[agent.shop]
description = "Knows the pets that are for sale."
tools = ["source:shop"]

[[source]]
id = "counter"
prefix = ""
basics = true
"#;

/// The shop, where no server of the pets is installed: text tools under its name.
const STAND_IN: &str = "[[source]]\nid = \"shop\"\nbasics = true\n";

const PETS: &str = "[[source]]\nid = \"shop\"\nopenapi = { document = \"petstore3.yaml\", \
     base_url = \"http://127.0.0.1:4010\" }\n";

/// One model for all three: what it is shown says which of them asks.
fn model(look_up: (&'static str, Value)) -> ScriptedModel {
    ScriptedModel::by(move |_, body| {
        let tools = body["tools"].to_string();
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let results = messages.iter().filter(|message| message["role"] == "tool").count();
        if tools.contains("ask_shop") {
            return match results {
                0 => ScriptedTurn::calls(&[
                    ("ask_shop", json!({ "task": "Who is ann?" })),
                    ("ask_office", json!({ "task": "Make a task: Water the plants." })),
                ]),
                2 => ScriptedTurn::calls(&[("text_count", json!({ "text": "a b" }))]),
                _ => ScriptedTurn::says("All three parts are done."),
            };
        }
        let (call, says) = if tools.contains("create_task") {
            (("create_task", json!({ "title": "Water the plants" })), "The task is there.")
        } else {
            (look_up.clone(), "It is known.")
        };
        if results == 0 { ScriptedTurn::calls(&[call]) } else { ScriptedTurn::says(says) }
    })
    .unwrap()
}

fn serving(model: &ScriptedModel, shop: &str) -> Serving {
    let folder = Folder::new();
    if shop == PETS {
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/openapi");
        let pets = std::fs::read_to_string(format!("{data}/petstore3.yaml")).unwrap();
        folder.write("petstore3.yaml", &pets);
    }
    let model = format!("[model]\nurl = \"{}\"\nname = \"m\"\n", model.url());
    folder.write("crib.toml", &format!("{TEAM}{model}{DESK}{shop}"));
    Serving::start_in(folder, &[])
}

fn run(serving: &Serving, id: &str) -> Value {
    serving.ask("GET", &format!("/v1/runs/{id}"), "").json()
}

fn answers(model: &ScriptedModel) -> Vec<Value> {
    let asked = model.asked();
    let last =
        asked.iter().rev().find(|asked| asked.body["tools"].to_string().contains("ask_shop"));
    let messages = last.unwrap().body["messages"].as_array().cloned().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let texts = results.filter_map(|message| message["content"].as_str());
    texts.filter_map(|text| serde_json::from_str(text).ok()).collect()
}

/// The pets are served where the program for it is installed; else text tools stand in.
fn solved(shop: &str, look_up: (&'static str, Value)) {
    let evidence = look_up.0;
    let model = model(look_up);
    let serving = serving(&model, shop);
    let body = json!({ "agent": "boss", "input": "Three things, please." });
    let begun = serving.ask("POST", "/v1/runs", &body.to_string()).json();
    let id = begun["id"].as_str().unwrap().to_owned();
    assert!(eventually(|| run(&serving, &id)["state"] == "waiting"), "{}", run(&serving, &id));
    let waiting = run(&serving, &id);
    let ticket = waiting["tickets"][0].as_str().unwrap().to_owned();
    assert_eq!(waiting["children"].as_array().unwrap().len(), 2, "{waiting}");

    // Each specialist is a run of its own, which nobody drives but the one above it.
    let child = waiting["children"][1]["run"].as_str().unwrap().to_owned();
    let office = run(&serving, &child);
    assert_eq!((&office["agent"], &office["parent"]), (&json!("office"), &json!(id)));
    let cancelled = serving.ask("POST", &format!("/v1/runs/{child}/cancel"), "{}");
    assert_eq!(cancelled.problem(), "409 run-busy", "{cancelled:?}");

    let serving = killed(serving);
    assert_eq!(tasks(&serving), 0);
    let path = format!("/v1/tickets/{ticket}");
    let decided = serving.ask("POST", &path, &json!({ "decision": "approve" }).to_string());
    assert_eq!(decided.status, 200, "{decided:?}");
    assert!(eventually(|| run(&serving, &id)["state"] == "ended"), "{}", run(&serving, &id));
    let ended = run(&serving, &id);
    assert_eq!(
        (&ended["stop"], &ended["text"]),
        (&json!("done"), &json!("All three parts are done."))
    );
    assert_eq!(tasks(&serving), 1);
    // Three turns of the planner, and two of each specialist.
    assert_eq!(model.asked().len(), 7);
    assert_eq!(ended["usage"]["input_tokens"], 700, "{ended}");
    let answers = answers(&model);
    assert_eq!(answers[0]["answer"], "It is known.");
    assert_eq!(answers[0]["evidence"][0]["tool"], evidence);
    assert_eq!(answers[1]["evidence"][0]["tool"], "create_task");
    let listed = serving.ask("GET", "/v1/runs", "").json();
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(3), "{listed}");
}

#[test]
fn a_planner_solves_three_parts_and_an_approval_of_a_specialist_outlives_a_restart() {
    if let Some(peers) = Peers::find() {
        let folder = Folder::new();
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/openapi");
        let Ok(pets) = std::fs::read_to_string(format!("{data}/petstore3.yaml")) else { return };
        folder.write("petstore3.yaml", &pets);
        let _mock = peers.mock(&folder, "petstore3.yaml");
        return solved(PETS, ("shop__getUserByName", json!({ "username": "ann" })));
    }
    solved(STAND_IN, ("shop__text_count", json!({ "text": "seven" })));
}

#[test]
fn a_stream_for_a_page_tells_which_specialist_says_and_calls_what() {
    let model = model(("shop__text_count", json!({ "text": "seven" })));
    let serving = serving(&model, STAND_IN);
    let body = with(request("Three things."), &json!({ "forwardedProps": { "agent": "boss" } }));
    let events = streamed(&serving, &body, &["--off", "AGUI207"]);
    let of = |kind: &str| -> Vec<Value> {
        events.iter().filter(|event| event["type"] == kind).cloned().collect()
    };
    let started = of("SUBAGENT_STARTED");
    assert_eq!(started.len(), 2, "{events:?}");
    assert_eq!((&started[0]["name"], &started[1]["name"]), (&json!("shop"), &json!("office")));
    let call = of("TOOL_CALL_START");
    let own = call.iter().find(|call| call["toolCallName"] == "ask_shop").unwrap();
    assert_eq!(started[0]["parentToolCallId"], own["toolCallId"]);
    let looked = call.iter().find(|call| call["toolCallName"] == "shop__text_count").unwrap();
    assert_eq!(looked["subagentRunId"], started[0]["subagentRunId"]);
    assert_eq!(outcome(&events)["type"], "interrupt", "{events:?}");
    let finished = of("SUBAGENT_FINISHED");
    let ends: Vec<_> = finished.iter().map(|end| &end["outcome"]["type"]).collect();
    assert_eq!(ends, ["success", "suspended"]);
    let interrupt = &outcome(&events)["interrupts"][0];
    assert_eq!(finished[1]["outcome"]["interruptIds"][0], interrupt["id"]);

    let entry = json!({
        "interruptId": interrupt["id"], "status": "resolved", "payload": { "approved": true },
    });
    let again = json!({ "runId": "second", "resume": [entry] });
    let events = streamed(&serving, &with(body, &again), OF_ONE_STREAM);
    assert!(text(&events).ends_with("All three parts are done."), "{events:?}");
    let started = events.iter().filter(|event| event["type"] == "SUBAGENT_STARTED");
    assert_eq!(started.count(), 1, "only the one that went on");
}

#[test]
fn a_terminal_shows_the_work_of_specialists_beneath_that_of_the_planner() {
    let model = model(("shop__text_count", json!({ "text": "seven" })));
    let folder = Folder::new();
    let model = format!("[model]\nurl = \"{}\"\nname = \"m\"\n", model.url());
    folder.write("crib.toml", &format!("{TEAM}{model}{DESK}{STAND_IN}"));
    let said = run_in(&folder, &["chat", "--agent", "boss", "--yes", "Three things."], &[]);
    assert_eq!((said.code, said.out.trim_end()), (0, "All three parts are done."), "{said:?}");
    for line in [
        "  `shop`: Who is ann?",
        "    calls `shop__text_count` with {\"text\":\"seven\"}",
        "    it answers: It is known.",
        "  `office`: Make a task: Water the plants.",
        "    `create_task`: ",
    ] {
        assert!(said.err.contains(line), "no `{line}` in\n{}", said.err);
    }
}

#[test]
fn specialists_that_there_are_not_and_circles_are_told_with_their_place() {
    let folder = Folder::new();
    let text = "[model]\nurl = \"http://127.0.0.1:9\"\nname = \"m\"\n\
         [agent.a]\nspecialists = [\"b\", \"shopp\"]\n\
         [agent.b]\nspecialists = [\"a\"]\n\
         [agent.c]\nspecialists = [\"c\"]\n\
         [agent.d]\nmode = \"planner\"\n\
         [toolset.shop]\ntools = [\"text_*\"]\n\
         [[source]]\nid = \"basics\"\nbasics = true\n";
    folder.write("crib.toml", text);
    let checked = run_in(&folder, &["check"], &[]);
    assert_eq!(checked.code, 1, "{checked:?}");
    let told = format!("{}{}", checked.out, checked.err);
    for line in [
        "this agent would work for itself by others",
        "there is no agent and no toolset `shopp`",
        "did you mean `shop`",
        "an agent cannot work for itself",
        "nobody works for this agent",
        "crib.toml:5:21",
    ] {
        assert!(told.contains(line), "no `{line}` in\n{told}");
    }
}

#[test]
fn a_client_is_asked_about_what_a_specialist_calls_and_its_yes_runs_it_once() {
    let model = model(("shop__text_count", json!({ "text": "seven" })));
    let serving = serving(&model, STAND_IN);
    let tools = json!([{
        "type": "mcp", "server_label": "boss", "require_approval": { "never": { "read_only": true } },
    }]);
    let respond = |body: Value| {
        let answer = serving.ask("POST", "/v1/responses", &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let first = respond(json!({ "model": "boss", "input": "Three things.", "tools": tools }));
    let kinds = |response: &Value| -> Vec<String> {
        let items = response["output"].as_array().unwrap().iter();
        items.map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&first).last().unwrap(), "mcp_approval_request", "{first}");
    let asked = first["output"].as_array().unwrap().last().unwrap();
    assert_eq!(asked["name"], "create_task");
    assert_eq!(asked["arguments"], r#"{"title":"Water the plants"}"#);
    assert_eq!(tasks(&serving), 0);

    let yes = json!({
        "type": "mcp_approval_response", "approval_request_id": asked["id"], "approve": true,
    });
    let second = respond(json!({
        "model": "boss", "input": [yes], "previous_response_id": first["id"], "tools": tools,
    }));
    assert_eq!(tasks(&serving), 1, "{second}");
    let done = &second["output"][0];
    assert_eq!((&done["type"], &done["name"]), (&json!("mcp_call"), &json!("create_task")));
    assert_eq!(done["approval_request_id"], asked["id"]);
    // The planner is told what came of it.
    let told = model.asked().last().unwrap().body["messages"].to_string();
    assert!(told.contains("the call of `create_task` that waited"), "{told}");
}
