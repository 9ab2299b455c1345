//! A trajectory in the shapes that trainers read.
//!
//! Their forms are those of `modelscope/twinkle` 1a1d8845 (what `MultiTurnRollout` gives), of
//! `verl-project/verl` 1dda039b (`AgentLoopOutput`), and of `PrimeIntellect-ai/verifiers` 0.4.0
//! (`WireTrace`).

mod twinkle;
mod verifiers;
mod verl;

use serde_json::{Map, Value, json};

use super::trajectory::{Trajectory, TrajectoryNode};

/// Whoever trains on trajectories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trainer {
    Twinkle,
    Verl,
    Verifiers,
}

impl Trainer {
    /// What it reads of a trajectory, a line for each of these.
    ///
    /// # Errors
    /// Why there is nothing to train on.
    pub fn lines(self, one: &Trajectory) -> Result<Vec<Value>, &'static str> {
        match self {
            Self::Twinkle => twinkle::lines(one),
            Self::Verl => verl::lines(one),
            Self::Verifiers => Ok(vec![verifiers::line(one)]),
        }
    }
}

/// A branch as one sequence.
struct BranchTokens {
    tokens: Vec<u32>,
    mask: Vec<u8>,
    /// One for each token whose mask is 1; `None`: the engine told some or all of them not.
    logprobs: Option<Vec<f64>>,
}

impl BranchTokens {
    /// `None`: its engine told no tokens, or none of them was sampled.
    fn of(one: &Trajectory, branch: &[usize]) -> Option<Self> {
        let nodes = || branch.iter().filter_map(|place| one.nodes.get(*place));
        let tokens: Vec<u32> = nodes().flat_map(|node| node.tokens.iter().copied()).collect();
        let mask: Vec<u8> = nodes().flat_map(|node| node.mask.iter().copied()).collect();
        let sampled = mask.iter().fold(0, |count, mask| count + usize::from(*mask == 1));
        if sampled == 0 || tokens.len() != mask.len() {
            return None;
        }
        let logprobs: Vec<f64> = nodes().flat_map(|node| node.logprobs.iter().copied()).collect();
        let logprobs = Some(logprobs).filter(|logprobs| logprobs.len() == sampled);
        Some(Self { tokens, mask, logprobs })
    }

    /// One for each token; those that were not sampled have `other`.
    fn spread(&self, other: f64) -> Option<Vec<f64>> {
        let mut own = self.logprobs.as_ref()?.iter().copied();
        let of_token = |mask: &u8| if *mask == 1 { own.next() } else { Some(other) };
        self.mask.iter().map(of_token).collect()
    }
}

/// The messages of a branch, as the chat API has them.
fn messages(one: &Trajectory, branch: &[usize]) -> Vec<Value> {
    branch.iter().filter_map(|place| one.message(*place)).map(message).collect()
}

fn message(node: &TrajectoryNode) -> Value {
    let mut message = Map::from_iter([
        ("role".to_owned(), json!(node.role)),
        ("content".to_owned(), node.content.clone()),
    ]);
    if !node.reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), json!(node.reasoning));
    }
    if !node.tool_calls.is_empty() {
        let calls = node.tool_calls.iter().map(|call| {
            let read = serde_json::from_str::<Value>(&call.arguments).ok();
            let arguments = read.filter(Value::is_object);
            // Templates look into an object; what the model wrote badly stays as it wrote it.
            let arguments = arguments.unwrap_or_else(|| json!(call.arguments));
            let function = json!({ "name": call.name, "arguments": arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    if let Some(id) = &node.tool_call_id {
        message.insert("tool_call_id".to_owned(), json!(id));
    }
    message.into()
}

#[cfg(test)]
mod tests;
