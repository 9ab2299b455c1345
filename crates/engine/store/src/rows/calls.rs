//! The rows of calls.

use std::sync::Arc;

use toolcrib_core::{
    CallKey, Caller, Ending, EndingReport, ErrorKind, Fingerprint, PlannedCall, ToolSpec,
};

use crate::clock::WallTime;

/// As much of a call's id as is written: it comes from a model.
const LONGEST_ID: usize = 256;

/// A call that is about to run.
pub struct NewCall {
    pub key: CallKey,
    pub call_id: String,
    pub caller: Arc<Caller>,
    pub tool: Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
    pub arguments: Fingerprint,
    pub planned: WallTime,
    pub decider: Option<Arc<Caller>>,
}

impl NewCall {
    pub fn of(call: &PlannedCall<'_>) -> Self {
        let id = call.call_id;
        Self {
            key: call.key,
            call_id: id.get(..id.floor_char_boundary(LONGEST_ID)).unwrap_or(id).to_owned(),
            caller: Arc::clone(call.caller),
            tool: Arc::clone(call.tool),
            fingerprint: call.fingerprint,
            arguments: call.arguments.digest(),
            planned: WallTime::now(),
            decider: call.decider.cloned(),
        }
    }
}

/// How a call ended, and when.
#[derive(Clone)]
pub struct CallEnd {
    finish: EndingReport,
    pub at: WallTime,
}

impl CallEnd {
    pub fn now(finish: EndingReport) -> Self {
        Self { finish, at: WallTime::now() }
    }

    pub fn is_unknown(&self) -> bool {
        self.finish.ending == Ending::Unknown
    }

    /// As it is written: a word, and the kind of a failure.
    pub fn columns(&self) -> (&'static str, Option<&'static str>) {
        columns(self.finish.ending)
    }

    /// As JSON; none if there were none.
    pub fn attempts(&self) -> Option<String> {
        let attempts = &self.finish.attempts;
        (!attempts.is_empty()).then(|| serde_json::to_string(attempts).ok()).flatten()
    }
}

/// An ending in two columns.
pub fn columns(ending: Ending) -> (&'static str, Option<&'static str>) {
    match ending {
        Ending::Succeeded => ("succeeded", None),
        Ending::Failed(kind) => ("failed", Some(kind.as_str())),
        Ending::NotExecuted => ("not_executed", None),
        Ending::Unknown => ("unknown", None),
    }
}

/// A call as another one may be like it.
pub struct DuplicateQuery {
    pub tenant: String,
    pub subject: String,
    pub tool: String,
    pub source: String,
    pub arguments: String,
}

impl DuplicateQuery {
    pub fn of(call: &PlannedCall<'_>) -> Self {
        Self {
            tenant: call.caller.tenant.clone(),
            subject: call.caller.subject.clone(),
            tool: call.tool.name.to_string(),
            source: call.tool.origin.source.to_string(),
            arguments: call.arguments.digest().to_string(),
        }
    }
}

/// An ending as it was written.
pub fn ending(ending: &str, kind: Option<&str>) -> Option<Ending> {
    match ending {
        "succeeded" => Some(Ending::Succeeded),
        "failed" => {
            let kind = KINDS.iter().find(|known| Some(known.as_str()) == kind)?;
            Some(Ending::Failed(*kind))
        }
        "not_executed" => Some(Ending::NotExecuted),
        "unknown" => Some(Ending::Unknown),
        _ => None,
    }
}

const KINDS: [ErrorKind; 18] = [
    ErrorKind::InvalidCall,
    ErrorKind::InvalidArguments,
    ErrorKind::UnknownTool,
    ErrorKind::NotLoaded,
    ErrorKind::OverLimit,
    ErrorKind::ControlConflict,
    ErrorKind::NotOurs,
    ErrorKind::Busy,
    ErrorKind::Unavailable,
    ErrorKind::Network,
    ErrorKind::RateLimited,
    ErrorKind::Timeout,
    ErrorKind::Cancelled,
    ErrorKind::UnknownOutcome,
    ErrorKind::Tool,
    ErrorKind::Internal,
    ErrorKind::DuplicateOfUnknown,
    ErrorKind::SourceStarting,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_failure_is_read_as_it_was_written() {
        for kind in KINDS {
            assert_eq!(ending("failed", Some(kind.as_str())), Some(Ending::Failed(kind)));
            // A new kind is met here by the compiler, and then belongs into the list.
            let place = match kind {
                ErrorKind::InvalidCall => 0,
                ErrorKind::InvalidArguments => 1,
                ErrorKind::UnknownTool => 2,
                ErrorKind::NotLoaded => 3,
                ErrorKind::OverLimit => 4,
                ErrorKind::ControlConflict => 5,
                ErrorKind::NotOurs => 6,
                ErrorKind::Busy => 7,
                ErrorKind::Unavailable => 8,
                ErrorKind::Network => 9,
                ErrorKind::RateLimited => 10,
                ErrorKind::Timeout => 11,
                ErrorKind::Cancelled => 12,
                ErrorKind::UnknownOutcome => 13,
                ErrorKind::Tool => 14,
                ErrorKind::Internal => 15,
                ErrorKind::DuplicateOfUnknown => 16,
                ErrorKind::SourceStarting => 17,
            };
            assert_eq!(KINDS[place], kind);
        }
        assert_eq!(ending("failed", Some("something else")), None);
    }
}
