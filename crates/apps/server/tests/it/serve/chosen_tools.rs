//! The agents as a page lists them, and what a user chooses and leaves out of their tools.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::support::Serving;

const AGENTS: &str = "[profile.sums]\nallow = [\"calculate\", \"uuid_new\"]\n\n\
    [agent.assistant]\ndescription = \"Helps.\"\n\n\
    [agent.clerk]\nprofile = \"sums\"\nforce = [\"calculate\"]\n";

fn run(serving: &Serving, more: &Value) -> Value {
    let mut body = json!({ "agent": "clerk", "input": "Add up.", "wait": true });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serving.ask("POST", "/v1/runs", &body.to_string()).json()
}

/// The names of the tools that a request to the model had, and the one that it had to call.
fn shown(model: &ScriptedModel, number: usize) -> (Vec<String>, Value) {
    let asked = model.asked()[number].body.clone();
    let tools = asked["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
    (names.collect(), asked["tool_choice"].clone())
}

#[test]
fn agents_are_listed_with_the_tools_that_they_have_for_whoever_asks() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{AGENTS}"));
    let listed = serving.ask("GET", "/v1/agents", "").json();
    let expected = json!([
        { "name": "assistant", "description": "Helps.", "profile": null },
        { "name": "clerk", "description": "", "profile": "sums" },
    ]);
    assert_eq!(listed["agents"], expected);
    let clerk = serving.ask("GET", "/v1/agents/clerk", "").json();
    let tools = clerk["tools"].as_array().unwrap();
    let of = |tool: &Value| ["name", "source", "effect", "forced"].map(|key| tool[key].clone());
    let told: Vec<_> = tools.iter().map(of).collect();
    let expected = [
        [json!("calculate"), json!("basics"), json!("read"), json!(true)],
        [json!("uuid_new"), json!("basics"), json!("read"), json!(false)],
    ];
    assert_eq!((told.as_slice(), &clerk["more"]), (expected.as_slice(), &json!(false)));
    assert_eq!(serving.ask("GET", "/v1/agents/x", "").problem(), "404 unknown-agent");
}

#[test]
fn a_run_calls_first_what_the_user_chose_and_does_without_what_was_left_out() {
    let call = |name: &str, arguments: Value| ScriptedTurn::call(name, arguments);
    let turns = [
        call("uuid_new", json!({})),
        ScriptedTurn::says("Made."),
        call("calculate", json!({ "expression": "1+1" })),
        ScriptedTurn::says("It is off."),
        ScriptedTurn::says("Still off."),
    ];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{AGENTS}"));
    let chosen = run(&serving, &json!({ "choices": ["uuid_new"] }));
    assert_eq!((&chosen["stop"], &chosen["text"]), (&json!("done"), &json!("Made.")));
    let forced = json!({ "type": "function", "function": { "name": "uuid_new" } });
    assert_eq!(shown(&model, 0).1, forced);

    let without = run(&serving, &json!({ "disabled": ["calculate", "gone"] }));
    assert_eq!((&without["stop"], &without["text"]), (&json!("done"), &json!("It is off.")));
    assert_eq!(shown(&model, 2).0, ["uuid_new"]);
    let calls = serving.ask("GET", "/v1/calls", "").json();
    let tools: Vec<_> =
        calls["calls"].as_array().unwrap().iter().map(|call| &call["tool"]).collect();
    assert!(!tools.contains(&&json!("calculate")), "{calls}");

    // What was left out stays out when the thread goes on.
    let id = without["id"].as_str().unwrap();
    let more = json!({ "input": "And now?", "wait": true }).to_string();
    let more = serving.ask("POST", &format!("/v1/runs/{id}/input"), &more).json();
    assert_eq!(more["text"], "Still off.");
    assert_eq!(shown(&model, 4).0, ["uuid_new"]);
}

#[test]
fn a_choice_that_is_none_is_told_and_begins_no_run() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, &format!("{ALL}\n{AGENTS}"));
    let ask = |more: Value| {
        let mut body = json!({ "agent": "clerk", "input": "Add up." });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = serving.ask("POST", "/v1/runs", &body.to_string());
        (answer.problem(), answer.json()["detail"].as_str().unwrap().to_owned())
    };
    let (kind, detail) = ask(json!({ "choices": ["text_count"] }));
    assert_eq!(kind, "422 invalid-body");
    assert!(
        detail.starts_with("`choices[0]` names `text_count`, which is no tool here"),
        "{detail}"
    );
    // Left out is stronger than chosen.
    let both = ask(json!({ "choices": ["calculate"], "disabled": ["calculate"] }));
    assert_eq!(both.0, "422 invalid-body");
    let many = vec!["x"; 1025];
    assert_eq!(ask(json!({ "disabled": many })).0, "422 invalid-body");
    assert_eq!(serving.ask("GET", "/v1/runs", "").json()["runs"], json!([]));
    assert_eq!(model.asked().len(), 0);
}

#[test]
fn a_list_of_runs_tells_what_each_was_asked() {
    let model = ScriptedModel::of([ScriptedTurn::says("Hello."), ScriptedTurn::says("Yes.")]);
    let model = model.unwrap();
    let serving = serving(&model, ALL);
    let long = "word ".repeat(100);
    for input in [json!("Good  morning\nto you"), json!([{ "role": "user", "content": long }])] {
        let body = json!({ "input": input, "wait": true }).to_string();
        assert_eq!(serving.ask("POST", "/v1/runs", &body).status, 200);
    }
    let titles = |path: &str| -> Vec<Value> {
        let listed = serving.ask("GET", path, "").json();
        let runs = listed["runs"].as_array().unwrap();
        runs.iter().map(|run| run["title"].clone()).collect()
    };
    let cut: String = "word ".repeat(24).chars().take(120).collect();
    assert_eq!(titles("/v1/runs?titles=true"), [json!(cut), json!("Good morning to you")]);
    assert_eq!(titles("/v1/runs"), [Value::Null, Value::Null]);
    let id = serving.ask("GET", "/v1/runs", "").json()["runs"][1]["id"].clone();
    let shown = serving.ask("GET", &format!("/v1/runs/{}", id.as_str().unwrap()), "").json();
    assert_eq!(shown["input"][0]["content"][0]["text"], "Good  morning\nto you");
}
