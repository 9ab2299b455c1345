//! Why a model gave no answer.

use std::time::{Duration, SystemTime};

use http::StatusCode;
use http::header::{HeaderMap, RETRY_AFTER};
use serde::{Deserialize, Serialize};
use toolcrib_egress::{EgressError, EgressErrorKind};

/// A fault with two faces: what anybody may read, and what came over the line, for the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct ModelFault {
    pub kind: ModelFaultKind,
    pub message: String,
    /// What the server said, or what broke.
    pub detail: Option<String>,
    /// When the server wants to be asked again.
    pub retry_after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelFaultKind {
    /// Nobody answers at the address.
    Unreachable,
    /// The key is missing or wrong.
    Unauthorized,
    /// There is no such model, or no such path.
    NotFound,
    /// The server refused the request as it is.
    Refused,
    /// The thread is longer than the model can read.
    TooLong,
    RateLimited,
    /// The server is overloaded or broken.
    Unavailable,
    /// It took longer than was allowed.
    Timeout,
    /// The answer broke off, or is none.
    Broken,
    /// The provider's filter holds the answer back.
    Blocked,
}

impl ModelFaultKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::TooLong => "too_long",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Broken => "broken",
            Self::Blocked => "blocked",
        }
    }
}

impl ModelFault {
    pub(super) fn new(kind: ModelFaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), detail: None, retry_after: None }
    }

    pub(super) fn because(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    /// Whether the same request may be answered another time.
    pub fn may_pass(&self) -> bool {
        match self.kind {
            ModelFaultKind::Unreachable
            | ModelFaultKind::RateLimited
            | ModelFaultKind::Unavailable
            | ModelFaultKind::Timeout
            | ModelFaultKind::Broken => true,
            ModelFaultKind::Unauthorized
            | ModelFaultKind::NotFound
            | ModelFaultKind::Refused
            | ModelFaultKind::TooLong
            | ModelFaultKind::Blocked => false,
        }
    }

    /// Of an answer that is an error. `said`: what the server says about it.
    pub(super) fn of_status(
        model: &str,
        status: StatusCode,
        said: &str,
        retry_after: Option<Duration>,
    ) -> Self {
        let (kind, message) = match status.as_u16() {
            401 | 403 => (
                ModelFaultKind::Unauthorized,
                format!(
                    "the server of the model `{model}` refuses the key ({status}): look at `key` of \
                     `[model]`"
                ),
            ),
            404 | 405 => (
                ModelFaultKind::NotFound,
                format!(
                    "there is no model `{model}` at this address ({status}): look at `url` and \
                     `name` of `[model]`"
                ),
            ),
            413 => (ModelFaultKind::TooLong, too_long(model)),
            429 => (
                ModelFaultKind::RateLimited,
                format!("the model `{model}` takes no more requests for now: try again later"),
            ),
            400 | 422 if is_too_long(said) => (ModelFaultKind::TooLong, too_long(model)),
            408 | 409 | 425 | 500..=599 => (
                ModelFaultKind::Unavailable,
                format!("the model `{model}` cannot answer now ({status}): try again"),
            ),
            _ => (
                ModelFaultKind::Refused,
                format!("the model `{model}` refuses the request ({status}): {}", cut(said)),
            ),
        };
        Self { kind, message, detail: Some(cut(said)), retry_after }
    }

    pub(super) fn of_line(model: &str, error: &EgressError) -> Self {
        let kind = match error.kind {
            EgressErrorKind::Timeout(_) => ModelFaultKind::Timeout,
            EgressErrorKind::NotConnected => ModelFaultKind::Unreachable,
            EgressErrorKind::Refused => ModelFaultKind::Refused,
            EgressErrorKind::Broken | EgressErrorKind::TooLarge => ModelFaultKind::Broken,
        };
        let message = match kind {
            ModelFaultKind::Unreachable => format!(
                "nobody answers for the model `{model}`: is its server running, and is `url` of \
                 `[model]` right?"
            ),
            ModelFaultKind::Refused => {
                format!("the model `{model}` may not be asked at this address: {}", error.message())
            }
            ModelFaultKind::Unauthorized
            | ModelFaultKind::NotFound
            | ModelFaultKind::TooLong
            | ModelFaultKind::RateLimited
            | ModelFaultKind::Unavailable
            | ModelFaultKind::Timeout
            | ModelFaultKind::Broken
            | ModelFaultKind::Blocked => format!("the line to the model `{model}` broke"),
        };
        let detail = error.causes().map_or_else(
            || error.message().to_owned(),
            |causes| format!("{}: {causes}", error.message()),
        );
        Self::new(kind, message).because(detail)
    }
}

fn too_long(model: &str) -> String {
    format!("the thread is longer than the model `{model}` reads: begin a new one")
}

/// The words with which servers say it; none of them has a code for it.
fn is_too_long(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    let words = [
        "context_length",
        "context length",
        "context window",
        "prompt is too long",
        "too many tokens",
        "maximum model length",
        "max_model_len",
    ];
    words.iter().any(|words| said.contains(words))
}

/// At most 500 bytes.
fn cut(said: &str) -> String {
    let mut end = said.len().min(500);
    while !said.is_char_boundary(end) {
        end -= 1;
    }
    said.get(..end).unwrap_or_default().trim().to_owned()
}

/// When a server wants to be asked again: in milliseconds, in seconds, or at a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(wait) = said("retry-after-ms").and_then(|said| said.trim().parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(wait / 1000.0).ok();
    }
    let said = said(RETRY_AFTER.as_str())?.trim();
    if let Ok(wait) = said.parse::<f64>() {
        return Duration::try_from_secs_f64(wait).ok();
    }
    let at = httpdate::parse_http_date(said).ok()?;
    Some(at.duration_since(SystemTime::now()).unwrap_or_default())
}
