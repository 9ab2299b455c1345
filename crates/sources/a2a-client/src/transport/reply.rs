//! What an agent answers, taken out of its envelope.

use std::time::Duration;

use http::header::{LOCATION, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::fault::{
    AgentFault, AgentRefusal, CONTENT_TYPE_NOT_SUPPORTED, EXTENSION_REQUIRED, TASK_NOT_CANCELABLE,
    TASK_NOT_FOUND, UNSUPPORTED_OPERATION, VERSION_NOT_SUPPORTED,
};

/// The most of a refusal that is told, in characters.
const LONGEST_REASON: usize = 400;

/// Longest pause that a refusal may ask for.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// Reasons of answers over HTTP (`google.rpc.ErrorInfo`) and the codes of the same.
const REASONS: [(&str, i64); 6] = [
    ("TASK_NOT_FOUND", TASK_NOT_FOUND),
    ("TASK_NOT_CANCELABLE", TASK_NOT_CANCELABLE),
    ("UNSUPPORTED_OPERATION", UNSUPPORTED_OPERATION),
    ("CONTENT_TYPE_NOT_SUPPORTED", CONTENT_TYPE_NOT_SUPPORTED),
    ("EXTENSION_SUPPORT_REQUIRED", EXTENSION_REQUIRED),
    ("VERSION_NOT_SUPPORTED", VERSION_NOT_SUPPORTED),
];

/// The whole of one answer.
pub(crate) fn result(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Value, AgentFault> {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    if !status.is_success() {
        let said = match value {
            Some(value) => value,
            None => Value::String(String::from_utf8_lossy(body).into_owned()),
        };
        return Err(AgentFault::Refused(refusal(status, headers, &said)));
    }
    unwrapped(value.ok_or(AgentFault::Unreadable("is no JSON"))?, status, headers)
}

/// The result of an answer of JSON-RPC; what is none is its own result.
pub(crate) fn unwrapped(
    mut value: Value,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Value, AgentFault> {
    let is_rpc = value.get("jsonrpc").is_some();
    if value.get("error").is_some_and(Value::is_object) {
        return Err(AgentFault::Refused(refusal(status, headers, &value)));
    }
    match value.as_object_mut().and_then(|fields| fields.shift_remove("result")) {
        Some(result) if is_rpc => Ok(result),
        _ if is_rpc => Err(AgentFault::Unreadable("has neither a result nor an error")),
        Some(_) | None if !value.is_object() => Err(AgentFault::Unreadable("is no object")),
        Some(result) => Ok(result),
        None => Ok(value),
    }
}

fn refusal(status: StatusCode, headers: &HeaderMap, said: &Value) -> AgentRefusal {
    let error = said.get("error").filter(|error| error.is_object()).unwrap_or(said);
    // The code of an answer over HTTP is its status once more.
    let code = error.get("code").and_then(Value::as_i64).filter(|code| *code < 0);
    let details = ["details", "data"].iter().filter_map(|name| error.get(name)?.as_array());
    let mut reasons = details.flatten().filter_map(|detail| detail.get("reason")?.as_str());
    let by_reason =
        |reason: &str| REASONS.iter().find(|(name, _)| *name == reason).map(|(_, code)| *code);
    let mut words = ["message", "detail", "title", "error"].iter();
    let words = words.find_map(|name| error.get(name)?.as_str());
    let words = words.or_else(|| said.as_str().filter(|text| !text.trim_start().starts_with('<')));
    let redirected = redirect(status, headers);
    AgentRefusal {
        code: code.or_else(|| reasons.find_map(by_reason)),
        status,
        said: redirected.unwrap_or_else(|| cut(words.unwrap_or_default(), LONGEST_REASON)),
        retry_after: retry_after(headers),
    }
}

fn redirect(status: StatusCode, headers: &HeaderMap) -> Option<String> {
    let target = headers.get(LOCATION).filter(|_| status.is_redirection())?.to_str().ok()?;
    let target = cut(target, 200);
    Some(format!(
        "it points to `{target}`, and messages follow no redirect: set `url` of this source to \
         where the agent is"
    ))
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

/// On one line, and no longer than this many characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > most.saturating_mul(4) {
            break;
        }
    }
    let mut short: String = line.chars().take(most).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
