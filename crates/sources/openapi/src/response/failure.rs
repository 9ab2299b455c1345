//! Answers that say no: what kind of failure each is, and what to do about it.

use std::time::SystemTime;

use http::StatusCode;
use http::header::LOCATION;
use serde_json::Value;
use toolcrib_core::{Content, ErrorKind, Part, ToolError};

use super::{ApiResponse, content, retry_after};

/// The most of a failure's body that is passed on, in bytes.
const LONGEST_BODY: usize = 32 * 1024;
/// The most of it that stands in the message, in characters.
const LONGEST_REASON: usize = 300;

pub(super) fn failure(answer: &ApiResponse) -> ToolError {
    if answer.status.is_redirection() {
        return redirected(answer);
    }
    let retry_after = retry_after::retry_after(&answer.headers, SystemTime::now());
    let kind = kind(answer, retry_after.is_some());
    let content = bounded(content::content(answer), answer.body.is_empty());
    let reason = content.as_ref().and_then(reason).map(|reason| format!(": {reason}"));
    let mut message = format!(
        "the API answered {}{}",
        answer.status_line(),
        reason.unwrap_or_default().trim_end_matches('.'),
    );
    if let Some(advice) = advice(answer, kind) {
        message.extend([". ", advice]);
    }
    let mut error = ToolError::new(kind, message);
    error.retry_after = retry_after.filter(|_| kind == ErrorKind::RateLimited);
    error.content = content.map(Box::new);
    error
}

/// Everything here was sent, so no kind that says "never sent" is among these.
fn kind(answer: &ApiResponse, says_when: bool) -> ErrorKind {
    match answer.status {
        StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited,
        // Who says when to come back has refused before any work. Without that word it may be a
        // proxy that speaks for a server which fell over its work.
        StatusCode::SERVICE_UNAVAILABLE if says_when || answer.only_reads => ErrorKind::RateLimited,
        // GitHub and others say so with 403, and add when to come back.
        StatusCode::FORBIDDEN if says_when => ErrorKind::RateLimited,
        // A gateway lost the line to what is behind it: nobody knows what happened there.
        StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => ErrorKind::Network,
        // These refuse the request itself, so that nothing was begun.
        StatusCode::NOT_IMPLEMENTED
        | StatusCode::HTTP_VERSION_NOT_SUPPORTED
        | StatusCode::NETWORK_AUTHENTICATION_REQUIRED => ErrorKind::Tool,
        // Whatever broke there may have broken after the change: the gate takes this kind of a
        // call that is no reading for an end that nobody knows.
        status if status.is_server_error() && !answer.only_reads => ErrorKind::Network,
        _ => ErrorKind::Tool,
    }
}

/// `None`: the gate says itself what to do where nobody knows the end of a call.
fn advice(answer: &ApiResponse, kind: ErrorKind) -> Option<&'static str> {
    Some(match answer.status {
        _ if kind == ErrorKind::Network && !answer.only_reads => return None,
        _ if kind == ErrorKind::RateLimited => "Wait before you call it again",
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
            "Correct the arguments and call again"
        }
        StatusCode::UNAUTHORIZED => {
            "The credential for this API is missing, wrong or has expired: do not call it again, \
             and tell the user to check the `auth` of this source"
        }
        StatusCode::FORBIDDEN => {
            "The credential for this API does not allow this: do not repeat the call, and tell \
             the user which right is missing"
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            "Check the names and ids in the arguments; look them up if you guessed them"
        }
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => {
            "The state is another than expected: read it again before you change it"
        }
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::URI_TOO_LONG => "Send less at a time",
        status if status.is_server_error() && answer.only_reads => {
            "The API failed by itself: try again later, or tell the user"
        }
        _ => "Do not repeat the call as it is: change the arguments or use another tool",
    })
}

/// Redirects are not followed: the other place is none that the operator has named, and would be
/// sent the credentials.
fn redirected(answer: &ApiResponse) -> ToolError {
    let target = answer.header(LOCATION.as_str()).map(|target| answer.url.join(target));
    let is_same = |target: &url::Url| target.origin() == answer.url.origin();
    let place = match &target {
        None => "without saying where to".to_owned(),
        Some(Err(_)) => "to an address that cannot be read".to_owned(),
        Some(Ok(target)) if is_same(target) => {
            let path: String = target.path().chars().take(200).collect();
            format!("to `{path}` on the same host")
        }
        Some(Ok(target)) => format!("to the host `{}`", target.host_str().unwrap_or_default()),
    };
    let message = format!(
        "the API answered {} and points {place}. Redirects are not followed: use a tool that names \
         the place itself, or tell the user to set `base_url` of this source to it",
        answer.status_line()
    );
    let mut error = ToolError::new(ErrorKind::Tool, message);
    let mut kept = content::content(answer);
    kept.parts.clear();
    kept.structured = None;
    error.content = (!kept.extra.is_empty()).then(|| Box::new(kept));
    error
}

fn bounded(mut content: Content, is_empty: bool) -> Option<Content> {
    content.reminder = None;
    if is_empty {
        content.parts.clear();
        return (!content.extra.is_empty()).then_some(content);
    }
    if content.parts.iter().map(Part::size).sum::<usize>() <= LONGEST_BODY {
        return Some(content);
    }
    content.structured = None;
    for part in &mut content.parts {
        match part {
            Part::Text { text, .. } => {
                text.truncate(text.floor_char_boundary(LONGEST_BODY));
                text.push_str(" … (cut)");
            }
            Part::Image { .. } | Part::Audio { .. } | Part::File { .. } | Part::Link { .. } => {
                *part = Part::text(part.in_words());
            }
        }
    }
    Some(content)
}

/// What the body says in a few words, where APIs usually say it.
fn reason(content: &Content) -> Option<String> {
    let text = || match content.parts.first()? {
        Part::Text { text, .. } => {
            Some(text.as_str()).filter(|text| !text.trim_start().starts_with('<'))
        }
        Part::Image { .. } | Part::Audio { .. } | Part::File { .. } | Part::Link { .. } => None,
    };
    let said = content.structured.as_ref().map_or_else(text, told)?;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut reason: String = line.chars().take(LONGEST_REASON).collect();
    if reason.len() < line.len() {
        reason.push('…');
    }
    (!reason.is_empty()).then_some(reason)
}

fn told(value: &Value) -> Option<&str> {
    const PLACES: [&str; 10] = [
        "/error/message",
        "/error_description",
        "/message",
        "/detail",
        "/title",
        "/error",
        "/errors/0/message",
        "/errors/0/detail",
        "/errors/0",
        "/status_message",
    ];
    let said = PLACES.iter().find_map(|place| value.pointer(place)?.as_str());
    said.or_else(|| value.as_str())
}
