//! What was asked of a model, request by request, for whoever looks for what went wrong.

use serde::{Deserialize, Serialize};

use crate::model::ModelFault;
use crate::usage::Usage;

/// Requests of a run that are remembered: the last ones.
pub(crate) const MOST_TRACES: usize = 64;

/// One request of a run to its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestTrace {
    pub purpose: RequestPurpose,
    /// The turn that it was of, or came before; the first has the number 1.
    pub turn: u32,
    /// As its API names it; one that is asked in its place is in the notes.
    pub model: String,
    /// Entries of the thread that it had.
    pub entries: usize,
    /// Tokens that it was taken for.
    pub estimate: u64,
    /// Names of the tools that the model was shown; `None`: the same as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// What the tools wanted said; `None`: the same as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<String>,
    pub usage: Usage,
    pub took_ms: u64,
    /// What was told meanwhile: that it was asked anew, or another model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why there is no answer. Its `detail` is the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<ModelFault>,
}

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestPurpose {
    Turn,
    /// The last answer, at a limit.
    LastTurn,
    /// The oldest part of the thread was summed up.
    Summary,
}
