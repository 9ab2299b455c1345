//! A trace of verifiers, whole: its graph is ours.

use serde_json::{Map, Value, json};

use crate::item::CallText;
use crate::rollout::trajectory::{Trajectory, TrajectoryNode};
use crate::usage::Usage;

/// The form that is written.
const VERSION: u32 = 1;

pub(super) fn line(one: &Trajectory) -> Value {
    let seconds = |millis: u64| std::time::Duration::from_millis(millis).as_secs_f64();
    let end = one.began + seconds(one.took_ms);
    let nodes = one.nodes.iter().enumerate();
    let errors: Vec<_> = one
        .fault
        .iter()
        .map(|fault| json!({ "type": fault.kind, "message": fault.message }))
        .collect();
    json!({
        "version": VERSION,
        "id": one.id,
        "task": {
            "type": "toolcrib",
            "key": one.task.id,
            "data": {
                "id": one.task.id,
                "prompt": one.task.data.get("prompt").filter(|prompt| prompt.is_string()),
                "task": one.task.data,
            },
        },
        "agent": { "name": one.agent, "config": { "model": one.model } },
        "tools": tools(&one.tools),
        "nodes": nodes.map(|(place, node)| traced(one, place, node)).collect::<Vec<_>>(),
        "calls": calls(one),
        "rewards": rewards(one),
        "metrics": one.metrics,
        "info": {
            "sample": one.sample, "seed": one.seed, "drift": one.drift, "stop": one.stop,
            "reward_fault": one.reward_fault, "children": children(one), "toolcrib": one.toolcrib,
        },
        "is_completed": true,
        "ok": !one.is_faulty(),
        "stop_condition": one.stop,
        "errors": errors,
        "timing": { "start": one.began, "agent": { "start": one.began, "end": end } },
    })
}

/// Without their tools: the trace has room for those of one agent.
fn children(one: &Trajectory) -> Value {
    let told = one.children.iter().map(|child| {
        json!({
            "parent": child.parent, "agent": child.agent, "model": child.model, "call": child.call,
            "branches": child.branches.iter().filter_map(|place| one.branches.get(*place)).collect::<Vec<_>>(),
            "stop": child.stop,
        })
    });
    told.collect()
}

fn rewards(one: &Trajectory) -> Value {
    match (one.reward, &one.reward_fault) {
        (Some(reward), _) => json!({ "judge": { "score": reward } }),
        (None, Some(_)) => json!({ "judge": null }),
        (None, None) => json!({}),
    }
}

fn traced(one: &Trajectory, place: usize, node: &TrajectoryNode) -> Value {
    let said = one.message(place).unwrap_or(node);
    let seconds = |millis: u64| std::time::Duration::from_millis(millis).as_secs_f64();
    let at = node.began_ms.unwrap_or(0).saturating_add(node.took_ms.unwrap_or(0));
    json!({
        "parent": node.parent,
        "message": message(said),
        "sampled": node.sampled,
        "timestamp": one.began + seconds(at),
        "token_ids": node.tokens,
        "mask": node.mask.iter().map(|mask| *mask == 1).collect::<Vec<_>>(),
        "logprobs": node.logprobs,
    })
}

fn message(node: &TrajectoryNode) -> Value {
    let mut message = Map::from_iter([
        ("role".to_owned(), json!(node.role)),
        ("content".to_owned(), node.content.clone()),
    ]);
    let mut put = |key: &str, value: Value| message.insert(key.to_owned(), value);
    if node.role == "assistant" && !node.reasoning.is_empty() {
        put("reasoning_content", json!(node.reasoning));
    }
    if !node.tool_calls.is_empty() {
        let call = |call: &CallText| json!({ "id": call.id, "name": call.name, "arguments": call.arguments });
        put("tool_calls", node.tool_calls.iter().map(call).collect());
    }
    if node.role == "tool" {
        put("tool_call_id", json!(node.tool_call_id.as_deref().unwrap_or_default()));
        put("name", json!(node.tool));
    }
    message.into()
}

fn tools(told: &Value) -> Value {
    let function = |tool: &Value| {
        let function = tool.get("function")?;
        Some(json!({
            "name": function.get("name")?,
            "description": function.get("description").cloned().unwrap_or_else(|| json!("")),
            "parameters": function.get("parameters").cloned().unwrap_or_else(|| json!({})),
        }))
    };
    told.as_array().into_iter().flatten().filter_map(function).collect()
}

fn calls(one: &Trajectory) -> Value {
    let seconds = |millis: u64| std::time::Duration::from_millis(millis).as_secs_f64();
    let sampled = one.nodes.iter().enumerate().filter(|(_, node)| node.sampled);
    let call = |(place, node): (usize, &TrajectoryNode)| {
        let begin = one.began + seconds(node.began_ms.unwrap_or(0));
        let reason = match (node.was_cut, node.tool_calls.is_empty()) {
            (true, _) => "length",
            (false, true) => "stop",
            (false, false) => "tool_calls",
        };
        json!({
            "node": place,
            "model": one.model,
            "finish_reason": reason,
            "usage": node.usage.map(usage),
            "time": { "start": begin, "end": begin + seconds(node.took_ms.unwrap_or(0)) },
        })
    };
    sampled.map(call).collect()
}

fn usage(used: Usage) -> Value {
    json!({
        "prompt_tokens": used.input_tokens.saturating_sub(used.cached_tokens),
        "completion_tokens": used.output_tokens,
        "cached_input_tokens": used.cached_tokens,
        "reasoning_tokens": used.reasoning_tokens,
    })
}
