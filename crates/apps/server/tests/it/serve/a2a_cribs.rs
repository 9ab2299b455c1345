//! A crib that delegates to another: the client of A2A here, the agent there.

use serde_json::json;
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::agui::{ASKS, DESK, makes_a_task, tasks};
use super::support::Serving;
use crate::process::Folder;

/// A crib whose only tool is the agent of another, in one version.
fn delegating(to: &Serving, version: &str) -> Serving {
    let folder = Folder::new();
    folder.write("agent.token", &to.token);
    let card = format!("http://{}", to.address);
    folder.write(
        "crib.toml",
        &format!(
            "[[source]]\nid = \"other\"\nprefix = \"\"\na2a = {{ card = \"{card}\", version = \
             \"{version}\", auth = {{ bearer = \"${{file:agent.token}}\" }} }}\n\
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
