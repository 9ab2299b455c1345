//! What a run tells while it goes on.

pub(crate) mod stored;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolcrib_core::{ParkedCall, Response, ToolOutcome};

use crate::item::CallText;
use crate::run::end::RunEnd;
use crate::run::verdict::CheckVerdict;
use crate::usage::Usage;

/// One event; its JSON has the name of the event as its `type`. Exactly one [`RunEvent::Ended`]
/// comes, as the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum RunEvent {
    /// The model is asked; the first turn has the number 1.
    #[serde(rename = "turn.started")]
    TurnStarted { turn: u32 },
    /// A piece of what the model says.
    #[serde(rename = "text.delta")]
    Text { delta: String },
    /// A piece of what it thinks, where the API tells.
    #[serde(rename = "reasoning.delta")]
    Reasoning { delta: String },
    /// What was told of this turn does not hold: its stream broke, and it is asked anew.
    #[serde(rename = "turn.retracted")]
    Retracted { why: String },
    /// The model called tools, which are about to run.
    #[serde(rename = "calls")]
    Calls { calls: Vec<CalledTool> },
    /// What one of them came to.
    #[serde(rename = "call.done")]
    CallDone { response: CallEnd },
    /// What a call that runs tells of itself.
    #[serde(rename = "call.progress")]
    Progress { text: String },
    /// What whoever looks on should know: another model answers.
    #[serde(rename = "notice")]
    Notice { text: String },
    /// The oldest items of the thread, so many, are left out of requests from now on, and `text` is
    /// told in their place; empty: no summary of them could be made.
    #[serde(rename = "thread.compacted")]
    Compacted { hides: usize, text: String },
    /// What a check of the answer came to.
    #[serde(rename = "answer.checked")]
    Checked { verdict: CheckVerdict },
    /// A call waits for a person.
    #[serde(rename = "call.waiting")]
    Waiting { call: WaitingTool },
    /// Another run begins to work for this one, or goes on in another process: what it told before
    /// is told again then.
    #[serde(rename = "child.started")]
    ChildStarted {
        /// From the first run of the tree: `billing-1a2b3c/search-4d5e6f`.
        path: String,
        run: String,
        agent: String,
        task: String,
        /// The id of the call that gave the task.
        call: String,
    },
    /// What that run tells. Its end is an event of its own: [`RunEvent::Ended`].
    #[serde(rename = "child.event")]
    Child { path: String, run: String, event: Box<RunEvent> },
    #[serde(rename = "usage")]
    Usage { usage: Usage },
    /// `at`: in seconds since 1970.
    #[serde(rename = "ended")]
    Ended { end: RunEnd, at: u64 },
}

/// A call, and where its tool is from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalledTool {
    #[serde(flatten)]
    pub call: CallText,
    /// `None`: the agent has no such tool, or its caller runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What a call came to, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallEnd {
    pub id: String,
    pub name: String,
    pub outcome: CallOutcome,
    pub text: String,
    /// What else there is to know: its kind of failure, its ticket, its checks and references.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Done,
    Failed,
    Denied,
    Pending,
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitingTool {
    pub ticket: String,
    pub tool: String,
    pub arguments: Value,
    pub reason: String,
}

impl CallEnd {
    /// `id`: of the call; an answer out of the record has none.
    pub(crate) fn of(id: &str, name: &str, response: &Response) -> Self {
        let outcome = match &response.outcome {
            ToolOutcome::Done(_) => CallOutcome::Done,
            ToolOutcome::Failed(_) => CallOutcome::Failed,
            ToolOutcome::Denied { .. } => CallOutcome::Denied,
            ToolOutcome::Pending(_) => CallOutcome::Pending,
        };
        let told = response.to_json();
        let mut more = if let Value::Object(fields) = told { fields } else { Map::new() };
        // The text says the same as the data, and causes are the operator's.
        for field in ["id", "name", "outcome", "error", "text", "structured", "parts", "debug"] {
            more.remove(field);
        }
        Self { id: id.to_owned(), name: name.to_owned(), outcome, text: response.text(), more }
    }

    pub fn is_error(&self) -> bool {
        matches!(self.outcome, CallOutcome::Failed | CallOutcome::Denied)
    }
}

impl WaitingTool {
    pub(crate) fn of(parked: ParkedCall) -> Self {
        Self {
            ticket: parked.ticket.to_string(),
            tool: parked.tool.to_string(),
            arguments: parked.arguments.into_value(),
            reason: parked.reason,
        }
    }
}

impl RunEvent {
    /// The call that it says waits for a person, of this run or of one that works for it.
    pub fn waiting(&self) -> Option<&WaitingTool> {
        match self {
            Self::Waiting { call } => Some(call),
            Self::Child { event, .. } => event.waiting(),
            Self::TurnStarted { .. }
            | Self::Text { .. }
            | Self::Reasoning { .. }
            | Self::Retracted { .. }
            | Self::Calls { .. }
            | Self::CallDone { .. }
            | Self::Progress { .. }
            | Self::Notice { .. }
            | Self::Compacted { .. }
            | Self::Checked { .. }
            | Self::ChildStarted { .. }
            | Self::Usage { .. }
            | Self::Ended { .. } => None,
        }
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_else(|error| json!({ "fault": error.to_string() }))
    }
}
