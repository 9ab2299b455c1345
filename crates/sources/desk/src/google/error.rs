//! What an answer that is no success means, and a request without an answer.

use http::header::{HeaderMap, RETRY_AFTER};
use http::{Method, StatusCode};
use serde::Deserialize;
use toolcrib_core::Secrets;
use toolcrib_egress::{EgressError, EgressErrorKind};

use crate::backend::{BackendError, BackendErrorKind};

/// Longest piece of an error's text that is passed on, in characters.
const LONGEST: usize = 200;
/// Longest that anybody is asked to wait, in seconds.
const LONGEST_WAIT: u64 = 24 * 60 * 60;

/// Reasons that mean "later", whatever the status; the first five stand in the errors of the older
/// form, the others in that of the newer.
/// <https://developers.google.com/workspace/calendar/api/guides/errors>
const LATER: &[&str] = &[
    "rateLimitExceeded",
    "userRateLimitExceeded",
    "quotaExceeded",
    "dailyLimitExceeded",
    "calendarUsageLimitsExceeded",
    "RATE_LIMIT_EXCEEDED",
    "RESOURCE_EXHAUSTED",
];

#[derive(Deserialize)]
struct GoogleErrorBody {
    error: GoogleErrorDetail,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GoogleErrorDetail {
    message: Option<String>,
    status: Option<String>,
    errors: Vec<GoogleErrorReason>,
    details: Vec<GoogleErrorReason>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GoogleErrorReason {
    reason: Option<String>,
}

impl GoogleErrorDetail {
    fn read(body: &[u8]) -> Self {
        serde_json::from_slice::<GoogleErrorBody>(body).map(|said| said.error).unwrap_or_default()
    }

    fn is_later(&self) -> bool {
        let reasons = self.errors.iter().chain(&self.details).filter_map(|it| it.reason.as_ref());
        reasons.chain(&self.status).any(|reason| LATER.contains(&reason.as_str()))
    }
}

/// Whether asking twice is asking once.
pub(super) fn only_reads(method: &Method) -> bool {
    *method == Method::GET
}

/// An answer that is no success. `cure`: what to do where we are not let in.
pub(super) fn refused(
    method: &Method,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    (cure, secrets): (&str, &Secrets),
) -> BackendError {
    let said = GoogleErrorDetail::read(body);
    let told = said.message.as_deref().map(|text| presentable(&secrets.redactor().text(text)));
    let told =
        told.filter(|text| !text.is_empty()).map_or_else(String::new, |it| format!(": {it}"));
    let is_limit = status == StatusCode::TOO_MANY_REQUESTS
        || (status == StatusCode::FORBIDDEN && said.is_later());
    if is_limit {
        let wait = wait_of(headers).map_or_else(
            || "wait a minute before you try again".to_owned(),
            |seconds| format!("wait {seconds} s before you try again"),
        );
        return BackendError::new(
            BackendErrorKind::Busy,
            format!("Google asks for patience: {wait}"),
        );
    }
    match status {
        StatusCode::UNAUTHORIZED => BackendError::new(
            BackendErrorKind::Refused,
            format!("Google does not accept who we are: the user has to {cure}"),
        ),
        StatusCode::FORBIDDEN => BackendError::new(
            BackendErrorKind::Refused,
            format!("Google does not allow this account to do that{told}"),
        ),
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            BackendError::new(BackendErrorKind::NotFound, format!("Google has no such thing{told}"))
        }
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => BackendError::new(
            BackendErrorKind::Conflict,
            "it was changed by somebody else in the meantime: read it again, then decide",
        ),
        _ if status.is_server_error() && only_reads(method) => BackendError::new(
            BackendErrorKind::Interrupted,
            format!("Google failed by itself ({status}): try again later"),
        ),
        _ if status.is_server_error() => BackendError::new(
            BackendErrorKind::Unknown,
            format!(
                "Google failed by itself ({status}) and may have done it: look before you \
                     repeat it"
            ),
        ),
        _ if status.is_client_error() => BackendError::new(
            BackendErrorKind::Invalid,
            format!("Google does not take this ({status}){told}"),
        ),
        _ => BackendError::new(
            BackendErrorKind::Broken,
            format!("Google answers in an unknown way ({status})"),
        ),
    }
}

/// A request that nothing, or only half an answer, came back to.
pub(super) fn unanswered(method: &Method, error: EgressError) -> BackendError {
    let reads = only_reads(method);
    let (kind, message) = match error.kind {
        EgressErrorKind::Refused => (BackendErrorKind::Refused, format!("{error}")),
        EgressErrorKind::NotConnected | EgressErrorKind::Broken | EgressErrorKind::Timeout(_)
            if error.never_sent() =>
        {
            (BackendErrorKind::Unreachable, format!("{error}: nothing was sent; try again later"))
        }
        EgressErrorKind::TooLarge if reads => {
            (BackendErrorKind::Broken, format!("{error}: ask for less at a time"))
        }
        EgressErrorKind::NotConnected | EgressErrorKind::Broken | EgressErrorKind::Timeout(_)
            if reads =>
        {
            (BackendErrorKind::Interrupted, format!("{error}: try again"))
        }
        EgressErrorKind::NotConnected
        | EgressErrorKind::Broken
        | EgressErrorKind::Timeout(_)
        | EgressErrorKind::TooLarge => (
            BackendErrorKind::Unknown,
            format!("{error}: it may have been done; look before you repeat it"),
        ),
    };
    BackendError::new(kind, message).because(error)
}

/// An answer that says yes and is not what the documents say.
pub(super) fn not_understood(
    method: &Method,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> BackendError {
    let fault = if only_reads(method) {
        BackendError::new(
            BackendErrorKind::Broken,
            "Google answered with something that is not understood",
        )
    } else {
        BackendError::new(
            BackendErrorKind::Unknown,
            "Google did it, most likely, and answered with something that is not understood: look \
             before you repeat it",
        )
    };
    fault.because(cause)
}

/// The same of something that is there but makes no sense.
pub(super) fn broken(what: &str) -> BackendError {
    BackendError::new(
        BackendErrorKind::Broken,
        format!("Google gave {what}, which is not understood"),
    )
}

/// Says what there is none of, where Google only said that there is none.
pub(super) fn missing(fault: BackendError, what: &str, id: &str) -> BackendError {
    if fault.kind == BackendErrorKind::NotFound {
        BackendError::no(what, &presentable(id))
    } else {
        fault
    }
}

/// In whole seconds; a date is one that no clock of ours need agree with.
fn wait_of(headers: &HeaderMap) -> Option<u64> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(seconds.min(LONGEST_WAIT))
}

/// The beginning of a text on one line.
fn presentable(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(LONGEST).collect()
}
