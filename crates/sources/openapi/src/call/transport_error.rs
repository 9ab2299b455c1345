//! Requests without an answer: what a model is told, and whether it was sent.

use toolcrib_core::{ErrorKind, ToolError};
use toolcrib_egress::{EgressError, EgressErrorKind};

/// `only_reads`: it could not have changed anything; of another call whose end nobody knows the
/// gate says itself what to do. `limit`: the largest answer, in bytes.
pub(super) fn told(error: EgressError, only_reads: bool, limit: u64) -> ToolError {
    let unsent = error.never_sent();
    let (kind, advice) = match error.kind {
        EgressErrorKind::Refused => (
            ErrorKind::Tool,
            "Nothing was sent. Do not repeat the call; tell the user that the configuration of \
             this source does not allow it",
        ),
        EgressErrorKind::TooLarge if only_reads => (
            ErrorKind::Tool,
            "Ask for less at a time: fewer items on a page, fewer fields, a narrower filter",
        ),
        // The head said that it went well, and what the rest would have said nobody knows.
        EgressErrorKind::TooLarge => (
            ErrorKind::UnknownOutcome,
            "It may or may not have taken effect: do not repeat it; check first whether it did, or \
             ask the user",
        ),
        EgressErrorKind::NotConnected | EgressErrorKind::Broken | EgressErrorKind::Timeout(_)
            if unsent =>
        {
            (ErrorKind::Unavailable, "Nothing was sent. Try again later, or tell the user")
        }
        EgressErrorKind::NotConnected | EgressErrorKind::Broken if only_reads => {
            (ErrorKind::Network, "Try again, or tell the user")
        }
        EgressErrorKind::NotConnected | EgressErrorKind::Broken => (ErrorKind::Network, ""),
        EgressErrorKind::Timeout(_) if only_reads => {
            (ErrorKind::Timeout, "Ask for less at a time, or try again later")
        }
        EgressErrorKind::Timeout(_) => (ErrorKind::Timeout, ""),
    };
    let bound = match error.kind {
        EgressErrorKind::TooLarge => format!(" (the bound is {limit} bytes)"),
        EgressErrorKind::Refused
        | EgressErrorKind::NotConnected
        | EgressErrorKind::Broken
        | EgressErrorKind::Timeout(_) => String::new(),
    };
    let stop = if advice.is_empty() { "" } else { ". " };
    ToolError::new(kind, format!("{error}{bound}{stop}{advice}")).because(error)
}
