//! Rollouts of agents that others work for.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::{lines, rollout, tasks, trajectories};
use crate::process::Folder;

const TEAM: &str = r#"
allow = ["*"]

[agent.boss]
specialists = ["counter", "hasher"]

[agent.counter]
description = "Counts."
instructions = "Count it."
tools = ["text_count"]

[agent.hasher]
description = "Hashes."
tools = ["hash_text"]

[[source]]
id = "basics"
prefix = ""
basics = ["text_count", "hash_text"]
"#;

/// One for all three: what it is shown says which of them asks. The first one is the slower.
fn model() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let tools = body["tools"].to_string();
        let has_result = body["messages"].to_string().contains("\"tool\"");
        if tools.contains("ask_counter") {
            if has_result {
                return ScriptedTurn::says("Both are done.");
            }
            return ScriptedTurn::calls(&[
                ("ask_counter", json!({ "task": "Count the letters." })),
                ("ask_hasher", json!({ "task": "Hash it." })),
            ]);
        }
        let call = |name: &str| ScriptedTurn::calls(&[(name, json!({ "text": "abc" }))]);
        if has_result {
            return ScriptedTurn::says("It is known.");
        }
        if tools.contains("text_count") {
            let pause = std::time::Duration::from_millis(200);
            return ScriptedTurn::Waits(pause, Box::new(call("text_count")));
        }
        call("hash_text")
    })
    .unwrap()
}

#[test]
fn those_that_work_for_an_agent_are_branches_of_its_trajectory() {
    let model = model();
    let folder = Folder::new();
    let of_model = format!("[model]\nurl = \"{}\"\nname = \"m\"\nretries = 0\n", model.url());
    folder.write("crib.toml", &format!("{TEAM}{of_model}"));
    folder.write("tasks.jsonl", &tasks(&[("a", "Count and hash abc.")]));
    let ran = rollout(&folder, &["--agent", "boss"]);
    assert_eq!((ran.code, model.asked().len()), (0, 6), "{ran:?}");
    let one = trajectories(&folder).remove(0);
    let nodes = one["nodes"].as_array().unwrap();
    let branch = |place: usize| -> Vec<Value> {
        let places = one["branches"][place].as_array().unwrap().iter();
        let nodes = places.map(|place| &nodes[usize::try_from(place.as_u64().unwrap()).unwrap()]);
        nodes.map(|node| json!([node["role"], node["sampled"]])).collect()
    };
    let (plain, sampled) = (|role: &str| json!([role, null]), json!(["assistant", true]));
    let (user, tool) = (plain("user"), plain("tool"));
    let own = [&user, &sampled, &tool, &tool, &sampled].map(Value::clone);
    assert_eq!(branch(0), own);
    assert_eq!(branch(1), [plain("system"), user.clone(), sampled.clone(), tool.clone(), sampled]);
    assert_eq!(branch(2).len(), 4);
    // In the order of the calls, though the second ended first.
    let children = one["children"].as_array().unwrap();
    let told: Vec<_> = children
        .iter()
        .map(|child| json!([child["agent"], child["call"], child["branches"], child["stop"]]))
        .collect();
    let given: Vec<_> = nodes[1]["tool_calls"].as_array().unwrap().iter().collect();
    assert_eq!(
        told,
        [
            json!(["counter", given[0]["id"], [1], "done"]),
            json!(["hasher", given[1]["id"], [2], "done"])
        ]
    );
    assert_eq!(children[0]["tools"][0]["function"]["name"], "text_count");
    // The task stands at its root, and the call of its own tool below it.
    let task = one["branches"][1][1].as_u64().and_then(|place| usize::try_from(place).ok());
    assert_eq!(nodes[task.unwrap()]["content"], "Count the letters.");
    assert!(nodes[2]["call"]["ran_ms"].as_u64().unwrap() >= 200, "{}", nodes[2]);
    assert_eq!((&one["turns"], &one["usage"]["input_tokens"]), (&json!(2), &json!(600)));

    let words =
        ["rollout", "convert", "trajectories.jsonl", "--to", "twinkle", "--save", "t.jsonl"];
    let converted = folder.run(&words);
    assert_eq!(converted.code, 0, "{converted:?}");
    let of_twinkle = lines(&folder.path().join("t.jsonl"));
    let names: Vec<_> =
        of_twinkle.iter().map(|line| line["tools"][0]["function"]["name"].clone()).collect();
    assert_eq!(names, ["ask_counter", "text_count", "hash_text"]);
}
