//! Why there is no answer of an agent, and what a model and an operator are told.

use std::time::Duration;

use http::StatusCode;
use toolcrib_core::{ErrorKind, ToolError};
use toolcrib_egress::{EgressError, EgressErrorKind};

/// Codes of JSON-RPC and of the protocol (specification, section "Error handling").
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const TASK_NOT_FOUND: i64 = -32001;
pub(crate) const TASK_NOT_CANCELABLE: i64 = -32002;
pub(crate) const UNSUPPORTED_OPERATION: i64 = -32004;
pub(crate) const CONTENT_TYPE_NOT_SUPPORTED: i64 = -32005;
pub(crate) const EXTENSION_REQUIRED: i64 = -32008;
pub(crate) const VERSION_NOT_SUPPORTED: i64 = -32009;

pub(crate) enum AgentFault {
    /// There is no answer.
    Egress(EgressError),
    /// The agent, or what stands before it, says no.
    Refused(AgentRefusal),
    /// What came is no answer of the protocol.
    Unreadable(&'static str),
    /// More than this many bytes.
    TooLarge(u64),
    /// Nothing came for this long.
    Silent(Duration),
    /// The stream was over before it said what came of the task.
    Ended,
}

/// What the agent said no with.
#[derive(Debug, Clone)]
pub(crate) struct AgentRefusal {
    /// Of JSON-RPC, or what the reason of an answer over HTTP is there.
    pub(crate) code: Option<i64>,
    pub(crate) status: StatusCode,
    /// Its words, cut.
    pub(crate) said: String,
    pub(crate) retry_after: Option<Duration>,
}

impl AgentFault {
    /// Whether the agent says that it does not do this at all.
    pub(crate) fn is_unsupported(&self) -> bool {
        let codes = [METHOD_NOT_FOUND, UNSUPPORTED_OPERATION];
        let Self::Refused(refusal) = self else { return false };
        refusal.code.is_some_and(|code| codes.contains(&code))
            || matches!(
                refusal.status,
                StatusCode::NOT_IMPLEMENTED | StatusCode::METHOD_NOT_ALLOWED
            )
    }

    pub(crate) fn is_unknown_task(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code == Some(TASK_NOT_FOUND))
    }

    /// Whether the same may well work in a moment.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Egress(error) => matches!(
                error.kind,
                EgressErrorKind::NotConnected
                    | EgressErrorKind::Broken
                    | EgressErrorKind::Timeout(_)
            ),
            Self::Refused(refusal) => {
                refusal.status == StatusCode::TOO_MANY_REQUESTS || refusal.status.is_server_error()
            }
            Self::Silent(_) | Self::Ended => true,
            Self::Unreadable(_) | Self::TooLarge(_) => false,
        }
    }

    /// One word for traces.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Egress(_) => "network",
            Self::Refused(_) => "refused",
            Self::Unreadable(_) => "unreadable",
            Self::TooLarge(_) => "too_large",
            Self::Silent(_) => "timeout",
            Self::Ended => "ended",
        }
    }

    /// The same in a few words, for sentences around it.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Egress(error) => error.message().to_owned(),
            Self::Refused(refusal) => refusal.words(),
            Self::Unreadable(what) => format!("what the agent answered {what}"),
            Self::TooLarge(most) => format!("the agent sent more than {most} bytes"),
            Self::Silent(time) => format!("the agent said nothing for {} s", time.as_secs()),
            Self::Ended => "the agent ended its stream before the task was over".to_owned(),
        }
    }

    /// Of a message that was to be delivered.
    pub(crate) fn into_error(self) -> ToolError {
        let words = self.words();
        match self {
            Self::Egress(error) => of_egress(error),
            Self::Refused(refusal) => refusal.into_error(),
            Self::Unreadable(_) | Self::TooLarge(_) => ToolError::new(
                ErrorKind::UnknownOutcome,
                format!(
                    "{words}. The agent may have done what it was asked: do not ask again before \
                     you have checked, and tell the user"
                ),
            ),
            Self::Silent(_) | Self::Ended => ToolError::new(ErrorKind::Network, words),
        }
    }
}

impl AgentRefusal {
    pub(crate) fn words(&self) -> String {
        let status = if self.status.is_success() {
            String::new()
        } else {
            format!(" (HTTP {})", self.status.as_u16())
        };
        let code = self.code.map(|code| format!(" [{code}]")).unwrap_or_default();
        if self.said.is_empty() {
            return format!("the agent refused{status}{code}");
        }
        format!("the agent refused{status}{code}: {}", self.said.trim_end_matches('.'))
    }

    fn into_error(self) -> ToolError {
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited,
            StatusCode::SERVICE_UNAVAILABLE if self.retry_after.is_some() => ErrorKind::RateLimited,
            // Whatever broke there may have broken after the agent began.
            status if status.is_server_error() && self.code.is_none() => ErrorKind::Network,
            _ => ErrorKind::Tool,
        };
        let advice = match (self.code, self.status) {
            _ if kind == ErrorKind::RateLimited => "Wait before you call it again",
            _ if kind == ErrorKind::Network => "",
            (Some(VERSION_NOT_SUPPORTED), _) => {
                "The agent does not speak the version that its card says: tell the user to set \
                 `version` of this source, or to have the card corrected"
            }
            (Some(METHOD_NOT_FOUND), _) => {
                "The agent does not know the method, so it speaks another version than its card \
                 says: tell the user to set `version` of this source"
            }
            (Some(CONTENT_TYPE_NOT_SUPPORTED), _) => {
                "The agent does not take this kind of content: send words alone"
            }
            (Some(EXTENSION_REQUIRED), _) => {
                "The agent wants an extension that is not known here: tell the user"
            }
            (_, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                "The credential for this agent is missing, wrong or not enough: do not call it \
                 again, and tell the user to check the `auth` of this source"
            }
            _ => "Do not repeat the call as it is: change what you ask, or tell the user",
        };
        let message = format!("{}. {advice}", self.words());
        let mut error = ToolError::new(kind, message.trim_end_matches([' ', '.']).to_owned());
        error.retry_after = self.retry_after.filter(|_| kind == ErrorKind::RateLimited);
        error
    }
}

fn of_egress(error: EgressError) -> ToolError {
    let (kind, advice) = match error.kind {
        EgressErrorKind::Refused => (
            ErrorKind::Tool,
            "Nothing was sent. Do not repeat the call; tell the user that the configuration of \
             this source does not allow it",
        ),
        EgressErrorKind::TooLarge => (
            ErrorKind::UnknownOutcome,
            "The agent may have done what it was asked: do not ask again before you have checked, \
             and tell the user",
        ),
        EgressErrorKind::NotConnected | EgressErrorKind::Broken | EgressErrorKind::Timeout(_)
            if error.never_sent() =>
        {
            (ErrorKind::Unavailable, "Nothing was sent. Try again later, or tell the user")
        }
        EgressErrorKind::NotConnected | EgressErrorKind::Broken => (ErrorKind::Network, ""),
        EgressErrorKind::Timeout(_) => (ErrorKind::Timeout, ""),
    };
    let message = format!("{}. {advice}", error.message());
    ToolError::new(kind, message.trim_end_matches([' ', '.']).to_owned()).because(error)
}
