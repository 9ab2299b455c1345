//! What can go wrong between us and a server, and what each side is told of it.

use std::error::Error;
use std::time::Duration;

use serde_json::Value;
use toolcrib_core::{ErrorKind, Refusal, RefusalReason, SourceError, ToolError};

use super::settings::MOST_APART;
use crate::protocol::text::clean;

pub(crate) type FaultCause = Box<dyn Error + Send + Sync>;

/// What took too long. Its words name the setting as the configuration file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpTimeoutPhase {
    Connect,
    List,
    Call,
    LongestCall,
}

impl McpTimeoutPhase {
    fn words(self) -> &'static str {
        match self {
            Self::Connect => "the server was not ready within `connect_timeout`",
            Self::List => "the list was not whole within the `timeout` of the source",
            Self::Call => "no answer and no progress within `call_timeout`",
            Self::LongestCall => "no answer within `longest_call`",
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum McpFault {
    /// Nothing was sent: the server cannot be reached or started. `why` is for the operator;
    /// `next_try`: when it will be tried again, and not before; `retry_after`: when the gate may
    /// call again by itself.
    Unreachable {
        why: String,
        next_try: Option<Duration>,
        retry_after: Option<Duration>,
        cause: Option<FaultCause>,
    },
    /// It was sent, and then the line broke.
    Broken {
        why: String,
        cause: Option<FaultCause>,
    },
    TooLong(McpTimeoutPhase, Duration),
    /// It found no place: the server asks in a way that lets one call run at a time on a
    /// connection.
    Busy(Duration),
    /// Nobody waits for it any more, and the server may have seen it.
    Cancelled,
    /// Nobody waits for it any more, and nothing was sent.
    Withdrawn,
    /// It is to be begun anew by itself, which is harmless.
    Moved,
    /// The server says that there is an error in the request, or in itself.
    Refused {
        code: i32,
        message: String,
        data: Option<Value>,
    },
    /// HTTP says no before the protocol is reached; nothing was run.
    Http {
        status: u16,
        retry_after: Option<Duration>,
    },
    /// There is no token, or it is not enough. The text names the cure.
    Unauthorized {
        why: String,
        cause: Option<FaultCause>,
    },
    /// An answer came that is none of the protocol.
    Unreadable(&'static str),
}

pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;

impl McpFault {
    pub(crate) fn unreachable(why: impl Into<String>) -> Self {
        Self::Unreachable { why: why.into(), next_try: None, retry_after: None, cause: None }
    }

    pub(crate) fn broken(why: impl Into<String>) -> Self {
        Self::Broken { why: why.into(), cause: None }
    }

    #[must_use]
    pub(crate) fn because(mut self, error: impl Into<FaultCause>) -> Self {
        if let Self::Unreachable { cause, .. }
        | Self::Broken { cause, .. }
        | Self::Unauthorized { cause, .. } = &mut self
        {
            *cause = Some(error.into());
        }
        self
    }

    /// The same of a call that had as many requests before this one, which the server has seen.
    pub(crate) fn after(self, rounds: usize) -> Self {
        if rounds > 0 && matches!(self, Self::Withdrawn) { Self::Cancelled } else { self }
    }

    /// Whether the server certainly saw nothing of it.
    pub(crate) fn never_sent(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// For status lines and for the reader of an error.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Unreachable { why, .. }
            | Self::Broken { why, .. }
            | Self::Unauthorized { why, .. } => why.clone(),
            Self::TooLong(phase, after) => format!("{} ({after:?})", phase.words()),
            Self::Busy(after) => format!(
                "calls of others kept it busy for {after:?}: its questions do not say whose they \
                 are, so that each call which may ask has a program of its own, of which there are \
                 {MOST_APART} at the most beside the first; `share = \"session\"` in \
                 `mcp` at the source gives each conversation its own"
            ),
            Self::Cancelled => "cancelled".to_owned(),
            Self::Withdrawn => "cancelled before it was sent".to_owned(),
            Self::Moved => "it was to be made again, and there was no place for it".to_owned(),
            Self::Refused { code, message, .. } => format!("the server says: {message} ({code})"),
            Self::Http { status, .. } => format!("the server answered HTTP {status}"),
            Self::Unreadable(what) => format!("the server's answer cannot be read: {what}"),
        }
    }

    /// The same once more, for another one who waited for it.
    pub(crate) fn again(&self) -> Self {
        let told = |cause: &Option<FaultCause>| {
            let text = |cause: &FaultCause| chain(String::new(), &**cause);
            cause.as_ref().map(|cause| FaultCause::from(text(cause)))
        };
        match self {
            Self::Unreachable { why, next_try, retry_after, cause } => Self::Unreachable {
                why: why.clone(),
                next_try: *next_try,
                retry_after: *retry_after,
                cause: told(cause),
            },
            Self::Broken { why, cause } => Self::Broken { why: why.clone(), cause: told(cause) },
            Self::Unauthorized { why, cause } => {
                Self::Unauthorized { why: why.clone(), cause: told(cause) }
            }
            Self::TooLong(phase, after) => Self::TooLong(*phase, *after),
            Self::Busy(after) => Self::Busy(*after),
            Self::Cancelled => Self::Cancelled,
            Self::Withdrawn => Self::Withdrawn,
            Self::Moved => Self::Moved,
            Self::Refused { code, message, data } => {
                Self::Refused { code: *code, message: message.clone(), data: data.clone() }
            }
            Self::Http { status, retry_after } => {
                Self::Http { status: *status, retry_after: *retry_after }
            }
            Self::Unreadable(what) => Self::Unreadable(what),
        }
    }

    fn cause(self) -> Option<FaultCause> {
        match self {
            Self::Unreachable { cause, .. }
            | Self::Broken { cause, .. }
            | Self::Unauthorized { cause, .. } => cause,
            Self::TooLong(..)
            | Self::Busy(_)
            | Self::Cancelled
            | Self::Withdrawn
            | Self::Moved
            | Self::Refused { .. }
            | Self::Http { .. }
            | Self::Unreadable(_) => None,
        }
    }

    pub(crate) fn into_source_error(self, id: &str) -> SourceError {
        let error = SourceError::new(format!("MCP server `{id}`: {}", self.words()));
        match self.cause() {
            Some(cause) => error.because(cause),
            None => error,
        }
    }

    /// `reads`: the call changes nothing, so that an unreadable end is an end.
    pub(crate) fn into_tool_error(self, id: &str, reads: bool) -> ToolError {
        let words = self.words();
        let (kind, message, retry_after) = match &self {
            Self::Unreachable { next_try, retry_after, .. } => {
                let next_try = next_try
                    .map(|pause| format!(" (the next try is in {} s)", pause.as_secs_f64().ceil()));
                let message = format!(
                    "the server `{id}` cannot be reached{}; nothing was sent. Try again later, use \
                     another tool, or tell the user",
                    next_try.unwrap_or_default()
                );
                (ErrorKind::Unavailable, message, *retry_after)
            }
            Self::Broken { .. } => {
                let message = format!("the connection to the server `{id}` broke ({words})");
                (ErrorKind::Network, message, None)
            }
            Self::TooLong(McpTimeoutPhase::Connect, _) => {
                let message = format!(
                    "the server `{id}` cannot be reached ({words}); nothing was sent. Try again \
                     later, use another tool, or tell the user"
                );
                (ErrorKind::Unavailable, message, None)
            }
            Self::TooLong(..) => {
                (ErrorKind::Timeout, format!("the server `{id}` is too slow: {words}"), None)
            }
            Self::Busy(_) | Self::Moved => (ErrorKind::Unavailable, busy(id), None),
            Self::Cancelled => (ErrorKind::Cancelled, "the call was cancelled".to_owned(), None),
            // Of the kinds that say so this one is true: for want of a connection, or of room on
            // it.
            Self::Withdrawn => {
                let message = "the call was cancelled before anything was sent; nothing was run";
                (ErrorKind::Unavailable, message.to_owned(), None)
            }
            Self::Refused { code, message, .. } => refused(*code, message),
            Self::Http { status, retry_after } => http(*status, *retry_after, id),
            Self::Unauthorized { .. } => {
                let message = format!(
                    "the server `{id}` refuses us ({words}); nothing was run. Tell the user"
                );
                (ErrorKind::Tool, message, None)
            }
            Self::Unreadable(_) if reads => (ErrorKind::Internal, words.clone(), None),
            Self::Unreadable(_) => (
                ErrorKind::UnknownOutcome,
                format!(
                    "{words}. It may or may not have taken effect: do not repeat it; check first \
                     whether it did, or ask the user"
                ),
                None,
            ),
        };
        let mut error = ToolError::new(kind, message);
        error.retry_after = retry_after;
        if let Self::Refused { code, message, data } = &self {
            let reason = RefusalReason::Origin { code: *code, data: data.clone() };
            error.refusal = Some(Box::new(Refusal::new(reason, message.clone())));
        }
        // The operator reads all of it.
        match self.cause() {
            Some(cause) => error.because(chain(words, &*cause)),
            None => error.because(words),
        }
    }
}

fn busy(id: &str) -> String {
    format!(
        "the server `{id}` is busy with the calls of others, which wait for people; nothing was \
         sent. Try again later, or tell the user: `share = \"session\"` in `mcp` at the source gives \
         each conversation a program of its own"
    )
}

fn refused(code: i32, message: &str) -> (ErrorKind, String, Option<Duration>) {
    let message = clean(message);
    match code {
        INVALID_PARAMS => (
            ErrorKind::InvalidArguments,
            format!("the server refuses the arguments: {message}; correct them and call again"),
            None,
        ),
        METHOD_NOT_FOUND => (
            ErrorKind::Tool,
            format!("the server does not have this tool any more: {message}; use another one"),
            None,
        ),
        _ => (ErrorKind::Tool, format!("the server says: {message}"), None),
    }
}

fn http(
    status: u16,
    retry_after: Option<Duration>,
    id: &str,
) -> (ErrorKind, String, Option<Duration>) {
    match status {
        429 => (
            ErrorKind::RateLimited,
            format!("the server `{id}` takes no more calls for now; wait before calling again"),
            retry_after,
        ),
        503 if retry_after.is_some() => (
            ErrorKind::Unavailable,
            format!("the server `{id}` is not available for now; try again later"),
            retry_after,
        ),
        // What stands before a server may give up on a call that the server goes on with, and some
        // lead on once it is done.
        300..=303 | 408 | 499..=599 => {
            (ErrorKind::Network, format!("the server `{id}` answered HTTP {status}"), None)
        }
        _ => (
            ErrorKind::Tool,
            format!("the server `{id}` answered HTTP {status}; nothing was run. Tell the user"),
            None,
        ),
    }
}

/// What was said, an error and its causes on one line. Some errors tell their cause themselves:
/// what stands there already is not told again.
pub(crate) fn chain(said: String, error: &(dyn Error + 'static)) -> String {
    let mut text = said;
    let mut next = Some(error);
    while let Some(cause) = next {
        let words = cause.to_string();
        if text.is_empty() {
            text = words;
        } else if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}
