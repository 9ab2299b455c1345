//! What twinkle's rollouts give: a trajectory with the fields of an encoded input beside it.

use serde_json::{Map, Value, json};

use super::{BranchTokens, messages};
use crate::rollout::trajectory::{Trajectory, TrajectoryChild};

/// The label of a token that is not trained on.
const NOT_TRAINED: i64 = -100;

pub(super) fn lines(one: &Trajectory) -> Result<Vec<Value>, &'static str> {
    if one.is_faulty() {
        return Err("its model failed");
    }
    let branches = one.branches.iter().enumerate();
    Ok(branches.map(|(place, branch)| line(one, place, branch)).collect())
}

fn line(one: &Trajectory, place: usize, branch: &[usize]) -> Value {
    let turns = branch.iter().filter_map(|place| one.nodes.get(*place));
    let turns = turns.filter(|node| node.sampled);
    let was_cut = turns.clone().next_back().is_some_and(|node| node.was_cut);
    let child = one.child(place);
    let stop = child.map_or(&one.stop, |child| &child.stop);
    let mut line = Map::new();
    let mut put = |key: &str, value: Value| line.insert(key.to_owned(), value);
    put("messages", messages(one, branch).into());
    put("tools", child.map_or(&one.tools, |child| &child.tools).clone());
    put("user_data", user_data(one, child));
    put("turns", turns.count().into());
    put("stop_reason", json!(if was_cut { "length" } else { "stop" }));
    put("truncated", json!(stop != "done" && stop != "handed_over"));
    if let Some(tokens) = BranchTokens::of(one, branch) {
        let own = tokens.tokens.iter().zip(&tokens.mask);
        let label = |(token, mask): (&u32, &u8)| {
            if *mask == 1 { i64::from(*token) } else { NOT_TRAINED }
        };
        let mut labels: Vec<i64> = own.map(label).collect();
        // The label of a place is the token behind it.
        // There is at least one: it was sampled.
        labels.rotate_left(1);
        put("position_ids", (0..tokens.tokens.len()).collect());
        put("attention_mask", tokens.tokens.iter().map(|_| 1).collect());
        put("length", tokens.tokens.len().into());
        put("labels", labels.into());
        put("logprobs", json!(tokens.logprobs));
        put("input_ids", tokens.tokens.into());
    }
    line.into()
}

/// Pairs of a key and of JSON as text, as its columns want them.
fn user_data(one: &Trajectory, child: Option<&TrajectoryChild>) -> Value {
    let own = [
        ("agent", json!(child.map_or(&one.agent, |child| &child.agent))),
        ("id", json!(one.id)),
        ("prompt_id", json!(one.task.id)),
        ("sample", json!(one.sample)),
        ("reward", json!(one.reward)),
        ("metrics", json!(one.metrics)),
        ("stop", json!(child.map_or(&one.stop, |child| &child.stop))),
    ];
    let own = own.into_iter().map(|(key, value)| json!([key, value.to_string()]));
    let ours = ["id", "prompt", "messages", "tools", "force", "instructions"];
    let rest = one.task.data.iter().filter(|(key, _)| !ours.contains(&key.as_str()));
    own.chain(rest.map(|(key, value)| json!([key, value.to_string()]))).collect()
}
