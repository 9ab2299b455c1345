//! What can be read of the calls: by their own caller, or by whoever runs the crib, newest first, a
//! page at a time.

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde::Serialize;
use toolcrib_core::{Attempt, CallStatus, Effect, Ending, Fingerprint};

use super::call_state::CallState;

/// What is known of a call. Its arguments are not: only their fingerprint is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRecord {
    /// Our name of the call, as `CallKey` shows itself.
    pub key: String,
    /// The model API's name for it, 256 bytes at most.
    pub call_id: String,
    /// Whose call it is.
    pub tenant: String,
    pub subject: String,
    pub tool: String,
    pub source: String,
    pub effect: Effect,
    /// Of the tool as it was.
    pub fingerprint: Fingerprint,
    pub arguments: Fingerprint,
    pub planned: SystemTime,
    pub ended: Option<SystemTime>,
    /// `None` while it runs.
    pub ending: Option<Ending>,
    /// The process ended before the call did: its ending is `Unknown` until somebody says more, or
    /// `NotExecuted` if it still waited for its turn, and `ended` is when that was found.
    pub interrupted: bool,
    /// What was tried; `None` where nobody lived to write it down.
    pub attempts: Option<Vec<Attempt>>,
    /// When an answer that came too late, or a person, gave it its end after all.
    pub resolved: Option<SystemTime>,
    /// Who approved it; `None` of a call that came without a ticket.
    pub decided_by: Option<Decider>,
    /// Who said how it ended; `None` where nobody had to.
    pub resolved_by: Option<Decider>,
}

/// Who said yes to a call that waited for it, or how one ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decider {
    pub tenant: String,
    pub subject: String,
}

/// Which calls: all that fit every field that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub tool: Option<String>,
    pub source: Option<String>,
    /// The subject of their caller.
    pub caller: Option<String>,
    /// Made together: what stands before the last `-` of their keys.
    pub batch: Option<String>,
    /// In any of these states; in any at all if none is named.
    pub states: BTreeSet<CallState>,
    /// Planned then or later.
    pub since: Option<SystemTime>,
}

/// Where a page ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct CallCursor(#[doc(hidden)] pub i64);

#[derive(Debug, Clone, PartialEq)]
pub struct CallPage {
    /// Newest first. May be empty although there are more, where a tool, a source, a caller or a
    /// time is asked for; never for the sake of a state or a batch.
    pub calls: Vec<CallRecord>,
    /// Where the next page begins; `None` if there is none.
    pub next: Option<CallCursor>,
}

impl CallRecord {
    pub fn state(&self) -> CallState {
        match self.ending {
            None => CallState::Running,
            Some(Ending::Succeeded) => CallState::Succeeded,
            Some(Ending::Failed(_)) => CallState::Failed,
            Some(Ending::NotExecuted) => CallState::NotExecuted,
            Some(Ending::Unknown) if self.interrupted => CallState::Interrupted,
            Some(Ending::Unknown) => CallState::OutcomeUnknown,
        }
    }

    /// What its caller may read of it.
    pub(crate) fn stands(self) -> CallStatus {
        let (state, ended) = (self.state().as_str(), self.ended.zip(self.ending));
        let Self { key: call, tool, planned, .. } = self;
        CallStatus { call, tool, planned, state, ended }
    }
}

impl CallFilter {
    /// Whether a call of one of the states fits the rest.
    pub(crate) fn fits(&self, call: &CallRecord) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == call.tool)
            && self.source.as_ref().is_none_or(|source| *source == call.source)
            && self.caller.as_ref().is_none_or(|caller| *caller == call.subject)
            && self.since.is_none_or(|since| call.planned >= since)
    }
}
