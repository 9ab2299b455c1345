//! Parked calls: bound to caller, tool and exact arguments, redeemed once.

pub(crate) mod id;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::LedgerError;
use crate::call::CallWire;
use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::call::name::{SourceId, ToolName};
use crate::outcome::ErrorKind;
use crate::tool::fingerprint::Fingerprint;
pub use id::TicketId;

/// How many calls may wait for a person: a ledger refuses to park what goes beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketBounds {
    /// Open tickets, all callers together.
    pub open: usize,
    /// Open tickets of one tenant: the others' people must still be asked.
    pub of_tenant: usize,
    /// Bytes of arguments, as JSON, of those of one tenant.
    pub bytes_of_tenant: usize,
}

impl Default for TicketBounds {
    fn default() -> Self {
        Self { open: 10_000, of_tenant: 1_000, bytes_of_tenant: 16 * 1024 * 1024 }
    }
}

/// A call that waits for a person: to run, or to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct ParkedCall {
    pub ticket: TicketId,
    pub caller: Caller,
    pub tool: ToolName,
    /// Whose tool it was: the same words from another source are another tool.
    pub source: SourceId,
    /// What was shown when the call was made; another tool of that name is another tool.
    pub fingerprint: Fingerprint,
    pub arguments: Arguments,
    /// The conversation it was made in.
    pub session: Option<Arc<str>>,
    /// The profile it was made under; under another one there is no such ticket.
    pub profile: Option<Arc<str>>,
    /// The key that the call came under, which its end answers too.
    pub key: Option<String>,
    /// The host's mark of the request that it came by: who comes back with the ticket as an answer
    /// to that request must bring the same request.
    pub mark: Option<Arc<str>>,
    pub reason: String,
    /// How long it waits; of one that a ledger looks up, how much of that is left.
    pub lifetime: Duration,
    /// The call's id and wire shape, for the answer.
    pub call_id: String,
    pub wire: CallWire,
    /// What the call asks that runs already; `None`: whether it may run.
    pub question: Option<Box<Value>>,
}

/// What a person says to a parked call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "lowercase")]
pub enum Decision {
    /// Runs the stored call, if policy still lets it; of a question, the answer of nobody who has
    /// more to say.
    Approve,
    /// Fills in the fields that a running call asks for.
    Answer {
        content: Value,
    },
    Deny {
        reason: String,
    },
}

/// Why a ticket cannot be redeemed. A ticket of somebody else is `Unknown`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    #[error("there is no such ticket: list the open ones, or make the call again")]
    Unknown,
    #[error("the ticket has expired: make the call again")]
    Expired,
    #[error("the ticket was used already: a ticket is good for one run")]
    Used,
    #[error(
        "`{0}` is not the tool that was asked about any more: look at it and make the call again"
    )]
    Changed(ToolName),
    /// What the call would do is not what a person was asked about.
    #[error(
        "what `{tool}` would do has changed since it was asked about; now it is: {now}. Make the \
         call again to be asked anew"
    )]
    Otherwise { tool: ToolName, now: String },
    /// The ticket is as good as before.
    #[error("the answer does not fit: {0}")]
    Unfit(String),
    /// The ticket is as good as before.
    #[error("the call cannot run now, and its ticket is kept: {told}")]
    Away { kind: ErrorKind, told: String },
    #[error("nothing is asked under this ticket but whether the call may run: approve or deny it")]
    NoQuestion,
    #[error("the ledger cannot be read now: try again")]
    Ledger(#[from] LedgerError),
}
