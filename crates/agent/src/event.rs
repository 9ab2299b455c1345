//! What a run tells while it goes on.

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
