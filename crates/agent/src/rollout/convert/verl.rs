//! What verl's agent loops give: a prompt, and a response with a mask.

use serde_json::{Value, json};

use super::{BranchTokens, messages};
use crate::rollout::trajectory::Trajectory;

pub(super) fn lines(one: &Trajectory) -> Result<Vec<Value>, &'static str> {
    if one.is_faulty() {
        return Err("its model failed");
    }
    let branches = one.branches.iter().enumerate();
    let lines: Vec<_> = branches.filter_map(|(place, branch)| line(one, place, branch)).collect();
    if lines.is_empty() {
        return Err("no token of it was sampled, or its engine tells none: set `engine`");
    }
    Ok(lines)
}

fn line(one: &Trajectory, place: usize, branch: &[usize]) -> Option<Value> {
    let tokens = BranchTokens::of(one, branch)?;
    let child = one.child(place);
    let spread = tokens.spread(0.0);
    let first = tokens.mask.iter().position(|mask| *mask == 1)?;
    let (prompt, response) = tokens.tokens.split_at_checked(first)?;
    let seconds = |of: &dyn Fn(&str) -> bool| {
        let nodes = branch.iter().filter_map(|place| one.nodes.get(*place));
        let own = nodes.filter(|node| of(&node.role));
        let millis = own.filter_map(|node| node.took_ms).fold(0, u64::saturating_add);
        std::time::Duration::from_millis(millis).as_secs_f64()
    };
    Some(json!({
        "prompt_ids": prompt,
        "response_ids": response,
        "response_mask": tokens.mask.get(first..),
        "response_logprobs": spread.as_ref().and_then(|own| own.get(first..)),
        "reward_score": one.reward,
        "num_turns": branch.len(),
        "metrics": {
            "generate_sequences": seconds(&|role| role == "assistant"),
            "tool_calls": seconds(&|role| role == "tool"),
        },
        "extra_fields": {
            "trajectory": one.id,
            "task": one.task.id,
            "sample": one.sample,
            "agent": child.map_or(&one.agent, |child| &child.agent),
            "stop": child.map_or(&one.stop, |child| &child.stop),
            "versions": versions(one, branch),
            "tool_rewards": tool_rewards(one, branch),
            "metrics": one.metrics,
            "messages": messages(one, branch),
        },
    }))
}

/// Of the weights, turn by turn.
fn versions(one: &Trajectory, branch: &[usize]) -> Value {
    let nodes = branch.iter().filter_map(|place| one.nodes.get(*place));
    nodes.filter(|node| node.sampled).map(|node| json!(node.version)).collect()
}

fn tool_rewards(one: &Trajectory, branch: &[usize]) -> Value {
    let nodes = branch.iter().filter_map(|place| one.message(*place));
    nodes.filter_map(|node| node.reward).map(Value::from).collect()
}
