//! Names under which something runs once, however often it is asked for.

use serde_json::Value;

use super::ticket::TicketId;
use crate::call::CallKey;
use crate::call::caller::Caller;
use crate::call::name::{SourceId, ToolName};

/// Longest key in bytes.
pub const LONGEST_KEY: usize = 255;

/// In the place of a tool, where the key is a ticket.
const REDEEM: &str = "redeem_ticket";

/// What one caller calls one call of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub caller: Caller,
    pub tool: ToolName,
    /// Whose tool it is: that of another source is another tool. `None`: it is no tool's.
    pub source: Option<SourceId>,
    /// Chosen by the caller: 1 to 255 bytes.
    pub key: String,
}

/// What a key says of the call that is to be made under it.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyState {
    /// Nobody made it: make it, and `settle` the key.
    New,
    /// It runs: ask again later.
    Running,
    /// It was made, and this was its answer.
    Ended(Value),
    /// It was made and nobody knows its answer; it must not be made again.
    Unknown,
    /// The key belongs to a call with other arguments.
    Conflict,
}

/// What came of a call that was begun under a key.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyResult {
    Answered(Value),
    /// Its answer came after all, and takes the place of what was said before.
    Late(Value),
    /// `now` as long as this process lives, `later` for whoever asks after that: what nobody asked
    /// to be kept stays in no file.
    Told {
        now: Value,
        later: Value,
    },
    /// Nobody can say what came of it.
    Lost,
    /// It certainly did not run: the key is free again.
    Free,
}

/// Longest checkpoint in bytes; a longer one is not kept.
pub const LONGEST_CHECKPOINT: usize = 4_096;

/// What a call left under its keys while it ran, for a process that takes it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which left it.
    pub call: CallKey,
    /// Written and read by its tool alone.
    pub text: String,
}

impl Checkpoint {
    /// As a ledger keeps it.
    pub fn written(&self) -> String {
        format!("{} {}", self.call, self.text)
    }

    /// Reads what `written` wrote.
    pub fn read(written: &str) -> Option<Self> {
        let (call, text) = written.split_once(' ')?;
        Some(Self { call: CallKey::parse(call)?, text: text.to_owned() })
    }
}

impl IdempotencyKey {
    /// The key of a ticket itself: a ticket is good for one run, and what came of it is on record.
    pub fn of_ticket(caller: &Caller, ticket: &TicketId) -> Self {
        let tool = ToolName::sanitize(REDEEM);
        Self { caller: caller.clone(), tool, source: None, key: ticket.to_string() }
    }

    pub(crate) fn is_of_ticket(&self) -> bool {
        self.ticket().is_some()
    }

    /// The name of the ticket whose own key this is.
    pub fn ticket(&self) -> Option<&str> {
        (self.source.is_none() && self.tool.as_str() == REDEEM).then_some(&self.key)
    }

    /// Whether the key has a length that a ledger keeps.
    pub fn fits(&self) -> bool {
        (1..=LONGEST_KEY).contains(&self.key.len())
    }
}
