//! What a run tells while it goes on.

use serde_json::{Value, json};
use toolcrib_core::{ParkedCall, Response};

use crate::item::CallText;
use crate::run::RunEnd;
use crate::usage::Usage;

/// One event. Exactly one [`RunEvent::Ended`] comes, as the last.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// The model is asked; the first turn has the number 1.
    TurnStarted {
        turn: u32,
    },
    /// A piece of what the model says.
    Text {
        delta: String,
    },
    /// A piece of what it thinks, where the API tells.
    Reasoning {
        delta: String,
    },
    /// What was told of this turn does not hold: its stream broke, and it is asked anew.
    Retracted {
        why: String,
    },
    /// The model called tools, which are about to run.
    Calls {
        calls: Vec<CallText>,
    },
    /// What one of them came to.
    CallDone {
        response: Box<Response>,
    },
    /// What a call that runs tells of itself.
    Progress {
        text: String,
    },
    /// A call waits for a person.
    Waiting {
        parked: Box<ParkedCall>,
    },
    Usage {
        usage: Usage,
    },
    Ended {
        end: RunEnd,
    },
}

impl RunEvent {
    /// One object, with the name of the event as its `type`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::TurnStarted { turn } => json!({ "type": "turn.started", "turn": turn }),
            Self::Text { delta } => json!({ "type": "text.delta", "delta": delta }),
            Self::Reasoning { delta } => json!({ "type": "reasoning.delta", "delta": delta }),
            Self::Retracted { why } => json!({ "type": "turn.retracted", "why": why }),
            Self::Calls { calls } => json!({ "type": "calls", "calls": calls }),
            Self::CallDone { response } => {
                json!({ "type": "call.done", "response": response.to_json() })
            }
            Self::Progress { text } => json!({ "type": "call.progress", "text": text }),
            Self::Waiting { parked } => json!({
                "type": "call.waiting", "ticket": parked.ticket, "tool": parked.tool,
                "arguments": parked.arguments.clone().into_value(), "reason": parked.reason,
            }),
            Self::Usage { usage } => json!({ "type": "usage", "usage": usage }),
            Self::Ended { end } => json!({ "type": "ended", "end": end }),
        }
    }
}
