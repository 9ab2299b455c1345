//! What each trainer is given of one trajectory with a drift.

use serde_json::{Value, json};

use super::Trainer;
use crate::rollout::trajectory::Trajectory;

/// Two turns with a tool between them; the second prompt begins with other tokens.
fn drifted() -> Trajectory {
    let usage = json!({
        "input_tokens": 6, "cached_tokens": 2, "output_tokens": 2, "reasoning_tokens": 0,
        "source": "reported",
    });
    let call = json!({ "id": "c", "name": "add", "arguments": "{\"a\":1}" });
    serde_json::from_value(json!({
        "format": 1, "id": "ro_1", "sample": 0, "seed": 7, "agent": "solver", "model": "m",
        "toolcrib": "0.1.0", "stop": "done", "turns": 2, "calls": 1, "began": 1000.0,
        "took_ms": 500, "reward": 0.5, "metrics": { "right": 1 }, "usage": usage,
        "task": { "id": "a", "line": 1, "data": { "prompt": "1+1?", "answer": 2 } },
        "tools": [{ "type": "function", "function": { "name": "add", "description": "Adds.",
            "parameters": { "type": "object" } } }],
        "nodes": [
            { "parent": null, "role": "user", "content": "1+1?", "tokens": [1, 2], "mask": [0, 0] },
            { "parent": 0, "role": "assistant", "content": "", "tool_calls": [call], "sampled": true,
              "tokens": [3, 4], "mask": [1, 1], "logprobs": [-0.5, -0.25], "began_ms": 0,
              "took_ms": 100, "usage": usage, "version": "w1" },
            { "parent": 1, "role": "tool", "content": "2", "tool_call_id": "c", "tool": "add",
              "began_ms": 100, "took_ms": 50, "reward": 0.25 },
            { "parent": null, "role": "user", "same_as": 0 },
            { "parent": 3, "role": "assistant", "same_as": 1 },
            { "parent": 4, "role": "tool", "same_as": 2, "tokens": [1, 2, 9, 5], "mask": [0, 0, 0, 0] },
            { "parent": 5, "role": "assistant", "content": "2", "sampled": true, "tokens": [6],
              "mask": [1], "logprobs": [-0.125], "began_ms": 200, "took_ms": 100, "version": "w2" },
        ],
        "branches": [[0, 1, 2], [3, 4, 5, 6]],
        "drift": [{ "turn": 2, "node": 6, "at": 2 }],
    }))
    .unwrap()
}

fn fields(line: &Value, keys: &[&str]) -> Vec<Value> {
    keys.iter().map(|key| line[*key].clone()).collect()
}

#[test]
fn verl_has_a_response_for_each_branch_with_what_was_sampled_in_it() {
    let lines = Trainer::Verl.lines(&drifted()).unwrap();
    let keys = ["prompt_ids", "response_ids", "response_mask", "response_logprobs"];
    let read: Vec<_> = lines.iter().map(|line| fields(line, &keys)).collect();
    assert_eq!(
        read,
        [
            [json!([1, 2]), json!([3, 4]), json!([1, 1]), json!([-0.5, -0.25])],
            [json!([1, 2, 9, 5]), json!([6]), json!([1]), json!([-0.125])],
        ]
    );
    assert_eq!(lines[0]["metrics"], json!({ "generate_sequences": 0.1, "tool_calls": 0.05 }));
    assert_eq!(lines[1]["extra_fields"]["versions"], json!(["w2"]));
    assert_eq!(lines[1]["extra_fields"]["messages"][2]["content"], "2");
}

#[test]
fn labels_of_twinkle_stand_one_place_before_their_tokens() {
    let lines = Trainer::Twinkle.lines(&drifted()).unwrap();
    let keys = ["input_ids", "labels", "logprobs", "turns", "stop_reason", "truncated"];
    let read: Vec<_> = lines.iter().map(|line| fields(line, &keys)).collect();
    assert_eq!(
        read,
        [
            [
                json!([1, 2, 3, 4]),
                json!([-100, 3, 4, -100]),
                json!([-0.5, -0.25]),
                json!(1),
                json!("stop"),
                json!(false)
            ],
            [
                json!([1, 2, 9, 5, 6]),
                json!([-100, -100, -100, 6, -100]),
                json!([-0.125]),
                json!(1),
                json!("stop"),
                json!(false)
            ],
        ]
    );
    let said = &lines[1]["messages"][1]["tool_calls"][0]["function"];
    assert_eq!(*said, json!({ "name": "add", "arguments": { "a": 1 } }));
    let told = lines[0]["user_data"].as_array().unwrap();
    assert!(told.contains(&json!(["answer", "2"])), "{told:?}");
}

#[test]
fn a_trace_of_verifiers_has_the_whole_graph() {
    let lines = Trainer::Verifiers.lines(&drifted()).unwrap();
    let [trace] = lines.as_slice() else { unreachable!("{lines:?}") };
    let nodes = trace["nodes"].as_array().unwrap();
    let parents: Vec<_> = nodes.iter().map(|node| node["parent"].clone()).collect();
    assert_eq!(json!(parents), json!([null, 0, 1, null, 3, 4, 5]));
    assert_eq!(nodes[4]["message"], nodes[1]["message"]);
    assert_eq!((&nodes[4]["sampled"], &nodes[4]["mask"]), (&json!(false), &json!([])));
    assert_eq!(nodes[6]["mask"], json!([true]));
    let keys = ["node", "finish_reason"];
    let calls: Vec<_> =
        trace["calls"].as_array().unwrap().iter().map(|call| fields(call, &keys)).collect();
    assert_eq!(json!(calls), json!([[1, "tool_calls"], [6, "stop"]]));
    assert_eq!(trace["rewards"], json!({ "judge": { "score": 0.5 } }));
    assert_eq!(trace["timing"]["agent"], json!({ "start": 1000.0, "end": 1000.5 }));
}

#[test]
fn where_nothing_was_sampled_verl_is_told_why_there_is_nothing() {
    let mut one = drifted();
    one.nodes.iter_mut().for_each(|node| node.mask.iter_mut().for_each(|mask| *mask = 0));
    assert!(Trainer::Verl.lines(&one).unwrap_err().contains("engine"));
    let plain = Trainer::Twinkle.lines(&one).unwrap();
    assert!(plain[0].get("input_ids").is_none(), "{plain:?}");
    one.stop = "fault".to_owned();
    assert_eq!(Trainer::Twinkle.lines(&one).unwrap_err(), "its model failed");
    assert_eq!(Trainer::Verifiers.lines(&one).unwrap()[0]["ok"], false);
}
