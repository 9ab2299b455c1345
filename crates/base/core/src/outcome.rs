//! How a call ended. There is no other way for a call to end.

pub(crate) mod cited_spans;
pub(crate) mod content;
pub(crate) mod door_hints;
pub mod messages;
mod named_sources;
pub(crate) mod refusal;
pub(crate) mod response;
pub(crate) mod run;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ledger::ticket::id::TicketId;
use content::Content;
use refusal::Refusal;

/// The end of a call.
#[derive(Debug, Clone)]
pub enum ToolOutcome {
    Done(Content),
    Failed(ToolError),
    /// Refused by policy or by a person; running it again as it is will be refused again.
    Denied {
        reason: String,
    },
    /// Parked under a ticket until somebody approves it, or answers what it asks.
    Pending(PendingTicket),
}

/// A parked call as the model and the host see it, or one that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PendingTicket {
    pub ticket: TicketId,
    /// Why a person is asked.
    pub reason: String,
    /// What the call asks that runs already (`message` and `requestedSchema`, as the Model Context
    /// Protocol has them); `None`: whether it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<Value>>,
}

impl ToolOutcome {
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// One word for tables and records.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Denied { .. } => "denied",
            Self::Pending(_) => "pending",
        }
    }
}

/// A failure with two faces: `message` is for the model and says what to do differently, the
/// cause is for the operator's log and reaches no model unless a tool's author says so.
#[derive(Clone)]
pub struct ToolError {
    pub kind: ErrorKind,
    pub message: String,
    /// How long to wait before trying again, if the other side said so.
    pub retry_after: Option<Duration>,
    /// What the tool gave besides a message: a failed call may still carry content.
    pub content: Option<Box<Content>>,
    /// What was wrong, for clients whose protocol has a code for it.
    pub refusal: Option<Box<Refusal>>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

/// Why a call failed. Decisions are made on this, never on a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The call itself is no call: no name, no object.
    InvalidCall,
    InvalidArguments,
    /// No such tool for this caller; a tool that is denied answers the same.
    UnknownTool,
    /// Nothing was sent: no tool of this name is there yet, and some sources are still starting.
    SourceStarting,
    /// The tool is there but not loaded yet.
    NotLoaded,
    /// More calls than the limit.
    OverLimit,
    /// The batch was refused because a tool in it must be called alone.
    ControlConflict,
    /// A model provider runs this tool, not we.
    NotOurs,
    /// Nothing was sent: too busy.
    Busy,
    /// Nothing was sent: the other side cannot be reached, or the record cannot be written.
    Unavailable,
    /// The line broke.
    Network,
    RateLimited,
    Timeout,
    Cancelled,
    /// It was started and its end is not known: it may or may not have taken effect.
    UnknownOutcome,
    /// Nothing was sent: a call like it may have taken effect a while ago, and only a person may
    /// let it run again.
    DuplicateOfUnknown,
    /// The tool says it failed.
    Tool,
    /// The tool broke: a bug in it or in what stands behind it.
    Internal,
}

impl ErrorKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidCall => "invalid_call",
            Self::InvalidArguments => "invalid_arguments",
            Self::UnknownTool => "unknown_tool",
            Self::SourceStarting => "source_starting",
            Self::NotLoaded => "not_loaded",
            Self::OverLimit => "over_limit",
            Self::ControlConflict => "control_conflict",
            Self::NotOurs => "not_ours",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
            Self::Network => "network",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::UnknownOutcome => "unknown_outcome",
            Self::DuplicateOfUnknown => "duplicate_of_unknown",
            Self::Tool => "tool",
            Self::Internal => "internal",
        }
    }

    /// Whether the fault may pass by itself.
    pub fn passes(self) -> bool {
        matches!(
            self,
            Self::SourceStarting
                | Self::Busy
                | Self::Unavailable
                | Self::Network
                | Self::RateLimited
        )
    }

    /// Whether the call certainly had no effect, because it never left.
    pub fn never_sent(self) -> bool {
        matches!(self, Self::SourceStarting | Self::Busy | Self::Unavailable)
    }
}

impl ToolError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message, retry_after: None, content: None, refusal: None, cause: None }
    }

    /// The tool worked and says no: wrong input, nothing found, a rule of its own.
    pub fn told(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Tool, message)
    }

    /// Adds the cause for the operator.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(Arc::from(cause.into()));
        self
    }

    /// The cause, for logs; never for a model.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.cause.as_deref()
    }

    /// The causes on one line, for logs: `outer: inner: innermost`.
    pub fn causes(&self) -> Option<String> {
        let mut next: Option<&dyn Error> = self.cause.as_deref().map(|cause| cause as _);
        let mut texts = Vec::new();
        while let Some(cause) = next {
            texts.push(cause.to_string());
            next = cause.source();
        }
        (!texts.is_empty()).then(|| texts.join(": "))
    }
}

impl Refusal {
    /// The same for whoever reads words.
    pub fn into_error(self, kind: ErrorKind) -> ToolError {
        let mut error = ToolError::new(kind, self.message.clone());
        error.refusal = Some(Box::new(self));
        error
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)?;
        self.causes().map_or(Ok(()), |causes| write!(f, " ({causes})"))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Any error of a tool's own, by `?`: the operator reads it, the model is told what it can do.
///
/// `ToolError` is for that reason no `Error` itself.
impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(
            ErrorKind::Internal,
            "the tool failed for a reason of its own; the same call will most likely fail again: \
             try other arguments or another tool, or tell the user",
        )
        .because(error)
    }
}
