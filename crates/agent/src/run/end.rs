//! How a run ends, and what is told then.

use serde::{Deserialize, Serialize};
use toolcrib_core::{Call, Response, ToolOutcome};

use super::reference::RunReference;
use super::verdict::CheckVerdict;
use crate::item::CallText;
use crate::model::ModelFault;
use crate::stop::StopReason;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    pub stop: StopReason,
    /// What is told to the user.
    pub text: String,
    /// Calls that the caller is to run; then the thread goes on with their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<ModelFault>,
    /// The sources of the run, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<RunReference>,
    /// What its checks came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckVerdict>,
}

impl RunEnd {
    pub fn new(stop: StopReason, text: impl Into<String>) -> Self {
        let (calls, references, checks) = (Vec::new(), Vec::new(), Vec::new());
        Self { stop, text: text.into(), calls, fault: None, references, checks }
    }

    /// The end of a run by a fault, of which its user is told.
    pub fn of_fault(fault: ModelFault) -> Self {
        Self { fault: Some(fault.clone()), ..Self::new(StopReason::Fault, fault.message) }
    }
}

/// What a user is told where not even a last answer could be paid.
pub(super) fn limit_told(stop: StopReason) -> String {
    let limit = match stop {
        StopReason::Turns => "turns",
        StopReason::Calls => "calls",
        StopReason::Tokens => "tokens",
        StopReason::Cost => "money",
        StopReason::Time => "time",
        StopReason::Done
        | StopReason::HandedOver
        | StopReason::CallerCalls
        | StopReason::Approval
        | StopReason::Length
        | StopReason::Withheld
        | StopReason::Cancelled
        | StopReason::Fault => "budget",
    };
    format!("The run ended before the model had answered: its {limit} are used up.")
}

/// The answer to a call about which nobody decided.
pub(super) fn lapsed(may_have_run: bool) -> Response {
    let reason = if may_have_run {
        "nobody can tell what became of it: it may have taken effect, look before it is made again"
    } else {
        "nobody decided about it in time, and it was not run"
    };
    let reason = reason.to_owned();
    Response::of_call(Call::default(), ToolOutcome::Denied { reason })
}
