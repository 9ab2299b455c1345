//! A crib that delegates to another: the client of A2A here, the agent there.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::agui::{ASKS, DESK, makes_a_task, tasks};
use super::support::Serving;
use crate::process::Folder;

/// A crib whose only tool is the agent of another, in one version.
fn delegating(to: &Serving, version: &str) -> Serving {
    forcing(to, version, "[]")
}

/// The same, which names tools that the other has to call.
fn forcing(to: &Serving, version: &str, names: &str) -> Serving {
    let folder = Folder::new();
    folder.write("agent.token", &to.token);
    let card = format!("http://{}", to.address);
    folder.write(
        "crib.toml",
        &format!(
            "[[source]]\nid = \"other\"\nprefix = \"\"\na2a = {{ card = \"{card}\", version = \
             \"{version}\", auth = {{ bearer = \"${{file:agent.token}}\" }}, force = {names} }}\n\
             [tool.ask]\neffect = \"read\"\n"
        ),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`other`: 1 tools");
    serving
}

#[test]
fn a_crib_asks_the_agent_of_another_in_each_version() {
    for version in ["1.0", "0.3"] {
        let model = ScriptedModel::of([ScriptedTurn::says("I am the other.")]).unwrap();
        let other = serving(&model, ALL);
        let own = delegating(&other, version);
        let done = own.call(&json!({ "calls": [
            { "name": "ask", "arguments": { "message": "Who are you?" } },
        ] }));
        assert_eq!(done["responses"][0]["text"], "I am the other.", "{version} {done}");
    }
}

#[test]
fn the_other_agent_calls_first_what_it_is_told_to_and_is_free_then() {
    let ask = json!({ "calls": [{ "name": "ask", "arguments": { "message": "Count." } }] });
    for version in ["1.0", "0.3"] {
        let counts = ScriptedTurn::call("text_count", json!({ "text": "a b" }));
        let model = ScriptedModel::of([counts, ScriptedTurn::says("Two.")]).unwrap();
        let other = serving(&model, ALL);
        let own = forcing(&other, version, "[\"text_count\"]");
        assert_eq!(own.call(&ask)["responses"][0]["text"], "Two.", "{version}");
        let choices: Vec<_> =
            model.asked().iter().map(|asked| asked.body["tool_choice"].clone()).collect();
        let forced = json!({ "type": "function", "function": { "name": "text_count" } });
        assert_eq!(choices, [forced, Value::Null], "{version}");
    }
}

#[test]
fn a_tool_that_must_be_called_and_is_not_there_is_told_with_those_that_are() {
    let model = ScriptedModel::of([]).unwrap();
    let other = serving(&model, ALL);
    let own = forcing(&other, "1.0", "[\"text_count\", \"text_cuont\"]");
    let ask = json!({ "calls": [{ "name": "ask", "arguments": { "message": "Count." } }] });
    let told = own.call(&ask)["responses"][0]["text"].as_str().unwrap().to_owned();
    let place = "`message.metadata.toolcrib/force[1]` names `text_cuont`, which is no tool here";
    assert!(told.contains(place) && told.contains("`text_count`"), "{told}");
    assert!(model.asked().is_empty());
}

#[test]
fn what_the_other_agent_must_be_allowed_is_asked_here() {
    let turns = [makes_a_task(), ScriptedTurn::says("The task is there.")];
    let model = ScriptedModel::of(turns).unwrap();
    let other = serving(&model, &format!("{ASKS}{DESK}"));
    let own = delegating(&other, "1.0");
    let waiting = own.call(&json!({ "calls": [
        { "name": "ask", "arguments": { "message": "Water the plants." } },
    ] }));
    let ticket = waiting["tickets"][0]["ticket"].as_str().unwrap();
    let question = waiting["responses"][0]["question"]["message"].as_str().unwrap();
    assert!(question.contains("create_task"), "{waiting}");
    assert_eq!(tasks(&other), 0);
    let body = json!({ "decision": "approve", "content": { "answer": "yes" } });
    let decided = own.ask("POST", &format!("/v1/tickets/{ticket}"), &body.to_string()).json();
    assert_eq!(decided["response"]["text"], "The task is there.", "{decided}");
    assert_eq!(tasks(&other), 1);
}
