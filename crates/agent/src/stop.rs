//! Why a run ended.

use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model has answered.
    Done,
    /// A tool took over: its result is the answer.
    HandedOver,
    /// The caller has calls to run.
    CallerCalls,
    /// The caller is to say whether calls may run.
    Approval,
    /// The answer of the model was longer than it may be.
    Length,
    /// The answer did not pass the checks that stand before it.
    Withheld,
    Turns,
    Calls,
    Tokens,
    Cost,
    Time,
    Cancelled,
    /// The model gave no answer.
    Fault,
}

impl StopReason {
    /// Whether a limit ended the run before the model did.
    pub fn is_limit(self) -> bool {
        match self {
            Self::Length | Self::Turns | Self::Calls | Self::Tokens | Self::Cost | Self::Time => {
                true
            }
            Self::Done
            | Self::HandedOver
            | Self::CallerCalls
            | Self::Approval
            | Self::Withheld
            | Self::Cancelled
            | Self::Fault => false,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::HandedOver => "handed_over",
            Self::CallerCalls => "caller_calls",
            Self::Approval => "approval",
            Self::Length => "length",
            Self::Withheld => "withheld",
            Self::Turns => "turns",
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Time => "time",
            Self::Cancelled => "cancelled",
            Self::Fault => "fault",
        }
    }
}
