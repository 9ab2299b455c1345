//! What a trajectory is worth: a program says so, or a tool, or nobody.

use serde_json::json;
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::{BASICS, by_task, file, rollout, stepper, tasks, trajectories};
use crate::process::Folder;

const JUDGE: &str = r#"
import json, sys, time
one = json.load(sys.stdin)
how = one["task"]["data"]["prompt"]
if how == "crash": sys.exit("no idea")
if how == "prose": print("It is good.")
elif how == "late": time.sleep(30)
elif how == "none": print('{"metrics": {"a": 1}}')
else: print(json.dumps({"reward": 0.25 * one["turns"], "metrics": {"nodes": len(one["nodes"])}}))
"#;

/// An MCP server whose results say what they are worth, and which judges.
const SERVER: &str = r#"
import json, sys
state = 0
def note(what):
    with open("log.txt", "a") as log: log.write(what + "\n")
note("begins")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    method = asked["method"]
    if method == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "c", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object"}
        answer = {"tools": [{"name": name, "description": name, "inputSchema": schema,
                             "annotations": {"readOnlyHint": name == "judge"}}
                            for name in ("add", "judge")]}
    elif asked["params"]["name"] == "judge":
        one = asked["params"]["arguments"]["trajectory"]
        said = json.dumps({"reward": one["nodes"][2]["reward"] * 2})
        answer = {"content": [{"type": "text", "text": said}]}
    else:
        state += 1
        answer = {"content": [{"type": "text", "text": str(state)}],
                  "_meta": {"toolcrib/reward": 0.5, "toolcrib/metrics": {"state": state, "x": "no"}}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
note("ends")
"#;

#[test]
fn a_program_judges_and_one_that_fails_gives_no_reward_and_a_reason() {
    let model = stepper();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model.url(), ""));
    folder.write("judge.py", JUDGE);
    let all = [("a", "steps:1"), ("b", "crash"), ("c", "prose"), ("d", "late"), ("e", "none")];
    folder.write("tasks.jsonl", &tasks(&all));
    let ran =
        rollout(&folder, &["--reward", "python3 'judge.py'", "--reward-timeout", "3", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let own = by_task(&folder);
    assert_eq!((&own["a"]["reward"], &own["a"]["metrics"]), (&json!(0.5), &json!({ "nodes": 4 })));
    let told = [("b", "no idea"), ("c", "It is good."), ("d", "within 3 s"), ("e", "no reward")];
    for (id, why) in told {
        let fault = own[id]["reward_fault"].as_str().unwrap_or_default();
        assert!(own[id]["reward"].is_null() && fault.contains(why), "{id}: {}", own[id]);
    }
    assert_eq!(
        [&ran.json()["judged"], &ran.json()["unjudged"], &ran.json()["mean_reward"]],
        [&json!(1), &json!(4), &json!(0.5)]
    );
}

/// A folder whose agent has the tools of that server, one for each conversation.
fn world(model: &ScriptedModel) -> Folder {
    let folder = Folder::new();
    folder.write("world.py", SERVER);
    let world = "[[source]]\nid = \"world\"\n\
                 mcp = { command = [\"python3\", \"world.py\"], cwd = \".\", share = \"session\" }\n";
    folder.write("crib.toml", &file(&model.url(), "").replace(BASICS, world));
    folder.write("tasks.jsonl", &tasks(&[("a", "x"), ("b", "x"), ("c", "x")]));
    folder
}

/// One that adds once.
fn adder() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        if body["messages"].to_string().contains("\"tool\"") {
            return ScriptedTurn::says("done");
        }
        ScriptedTurn::call("world__add", json!({}))
    })
    .unwrap()
}

#[test]
fn the_server_of_a_trajectory_ends_with_it_and_before_the_next_begins() {
    let model = adder();
    let folder = world(&model);
    let ran = rollout(&folder, &["--concurrency", "1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let log = std::fs::read_to_string(folder.path().join("log.txt")).unwrap();
    // The first and the last are of the one that lists the tools.
    let one = ["begins", "ends"];
    let all = [&["begins"][..], &one, &one, &one, &["ends"]].concat();
    assert_eq!(log.lines().collect::<Vec<_>>(), all);
}

#[test]
fn what_a_tool_says_of_its_result_stands_beside_it_and_a_tool_may_judge() {
    let model = adder();
    let folder = world(&model);
    let ran = rollout(&folder, &["--reward-tool", "world__judge"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for one in trajectories(&folder) {
        let node = &one["nodes"][2];
        // Each has a server of its own, whose state nobody shares.
        assert_eq!(
            [&node["content"], &node["reward"], &node["metrics"]],
            [&json!("1"), &json!(0.5), &json!({ "state": 1 })],
            "{one}"
        );
        assert_eq!(one["reward"], 1.0, "{one}");
    }
    let none = rollout(&folder, &["--reward-tool", "world__jugde", "--out", "other.jsonl"]);
    assert_eq!(none.code, 2, "{none:?}");
    assert!(none.err.contains("no tool `world__jugde`"), "{none:?}");
}
