//! What is written of a sample: one line of JSON, which needs no other.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::item::CallText;
use crate::usage::Usage;

/// The form that is written; a later one reads it too.
pub const TRAJECTORY_FORMAT: u32 = 1;

/// A sample of a task, from its first message to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    pub format: u32,
    /// The same for the same seed, agent, task and number of the sample.
    pub id: String,
    pub task: TrajectoryTask,
    /// Its number among the samples of the task, from 0.
    pub sample: u32,
    /// From which its engine drew.
    pub seed: u32,
    pub agent: String,
    /// As its API names it.
    pub model: String,
    /// The version of what wrote this.
    pub toolcrib: String,
    /// The tools that its first turn was shown, as the chat API is told of them.
    #[serde(default)]
    pub tools: Value,
    pub nodes: Vec<TrajectoryNode>,
    /// Each is one sequence for training: nodes from a root to a leaf, in order.
    pub branches: Vec<Vec<usize>>,
    /// Those that worked for its agent, each with branches of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<TrajectoryChild>,
    /// Why it ended: as a run does, or `deadline`.
    pub stop: String,
    /// What went wrong, if it ended by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<TrajectoryFault>,
    /// Prompts that did not go on with what was sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<TokenDrift>,
    /// Requests to the model that carried tools, without those of `children`.
    pub turns: u32,
    /// With those of `children`, and so is the usage.
    pub calls: u32,
    pub usage: Usage,
    /// In seconds since 1970.
    pub began: f64,
    pub took_ms: u64,
    /// `None`: nobody judged it, or whoever should have failed; never zero in their place.
    pub reward: Option<f64>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
    /// Why there is no reward, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward_fault: Option<String>,
}

/// The task that a sample is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryTask {
    pub id: String,
    pub line: usize,
    /// The whole line.
    pub data: Map<String, Value>,
}

/// A run that worked for a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrajectoryChild {
    /// The one of `children` that it worked for; `None`: the agent of the trajectory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// Under this name its calls are kept.
    pub run: String,
    pub agent: String,
    pub model: String,
    /// The call by which it was given its task.
    pub call: String,
    /// Its tools, as the chat API is told of them.
    pub tools: Value,
    /// Which of the branches are its own.
    pub branches: Vec<usize>,
    pub stop: String,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryFault {
    pub kind: String,
    pub message: String,
    /// What the server of the model said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A prompt that does not go on with what was read and sampled before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenDrift {
    /// The turn whose prompt it is, from 1, of the run whose node it is.
    pub turn: usize,
    /// The node of that turn.
    pub node: usize,
    /// The first token that differs, from 0.
    pub at: usize,
}

/// One message, with the tokens that it adds to those before it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrajectoryNode {
    /// `None`: a root.
    pub parent: Option<usize>,
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// A text, or parts as the chat API has them.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub content: Value,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the tool, as the model wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The model wrote it in this sample.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sampled: bool,
    /// The node whose message this one repeats, in another branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<u32>,
    /// For each token: 1 if it was sampled and may be trained on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mask: Vec<u8>,
    /// For each token whose mask is 1; empty: the engine told none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<f64>,
    /// Of the weights when it was sampled, as the engine calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why its tokens are no evidence of what was sampled; their mask is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_fault: Option<String>,
    /// It ended because it may be no longer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// When it began, since the beginning of the trajectory; `None`: it was there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// What is known of a call beside its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<NodeCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
}

/// What is known of a call beside its result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeCall {
    /// For its turn and for a free place.
    pub waited_ms: u64,
    pub ran_ms: u64,
    pub attempts: u32,
    /// Answered from the record: it ran in an earlier try of this sample.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Tokens of the result, and how many of them are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<(usize, usize)>,
}

impl Trajectory {
    /// Whose branch it is; `None`: that of its own agent.
    pub fn child(&self, branch: usize) -> Option<&TrajectoryChild> {
        self.children.iter().find(|child| child.branches.contains(&branch))
    }

    /// The message of a node: its own, or the one that it repeats.
    pub fn message(&self, node: usize) -> Option<&TrajectoryNode> {
        let own = self.nodes.get(node)?;
        own.same_as.map_or(Some(own), |first| self.nodes.get(first))
    }
}
