//! What the headers of a request have to say, and that they say what its body says: those who stand
//! between route by them.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName};
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value};

use crate::door::session::negotiation::{lacks, missing, named_revision};
use crate::protocol::mirrored_headers::decoded;
use crate::protocol::revisions::{FORMER, LATEST, REVISIONS, has_greeting};
use crate::protocol::rpc::{RpcMessage, RpcNotification, RpcRequest};

pub(super) const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");

pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";

/// How a message is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// Within a session.
    Older,
    /// By itself.
    Modern,
}

/// Whether a client takes this kind of answer.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let said = headers.get_all(ACCEPT).iter().filter_map(|accepted| accepted.to_str().ok());
    said.flat_map(|said| said.split(',')).any(|accepted| {
        let mut parts = accepted.split(';').map(str::trim);
        let is_kind = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case(kind));
        is_kind && !parts.any(is_no_quality)
    })
}

/// A weight of nothing takes a kind out.
fn is_no_quality(parameter: &str) -> bool {
    let weight = parameter.split_once('=').filter(|(key, _)| key.trim().eq_ignore_ascii_case("q"));
    weight.is_some_and(|(_, weight)| weight.trim().parse::<f32>().is_ok_and(|weight| weight == 0.0))
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| {
        let (essence, _) = kind.split_once(';').unwrap_or((kind, ""));
        essence.trim().eq_ignore_ascii_case(JSON)
    })
}

/// How a request without a message is meant.
pub(super) fn era_without_message(headers: &HeaderMap) -> Result<Era, ErrorData> {
    let revision = revision(headers, false)?;
    Ok(if is_modern(revision) { Era::Modern } else { Era::Older })
}

/// How a message is meant. `Err`: the headers do not say what it says.
pub(super) fn era(headers: &HeaderMap, message: &RpcMessage) -> Result<Era, ErrorData> {
    match message {
        // In 2026-07-28 there is no such method.
        RpcMessage::Request(request)
            if request.method == "initialize" && named_revision(request.meta()).is_none() =>
        {
            greeting(headers, request)
        }
        RpcMessage::Request(request) => of_request(headers, request),
        RpcMessage::Notification(RpcNotification { method, params }) => {
            let is_modern = is_modern(revision(headers, false)?);
            if is_modern {
                repeated(headers, method, params)?;
            }
            Ok(if is_modern { Era::Modern } else { Era::Older })
        }
        RpcMessage::Response(_) => era_without_message(headers),
    }
}

fn of_request(headers: &HeaderMap, request: &RpcRequest) -> Result<Era, ErrorData> {
    let RpcRequest { method, params, .. } = request;
    let meta = request.meta();
    let named = named_revision(meta);
    let told = revision(headers, named.is_some())?;
    let Some(named) = named else {
        let has_to = method == "server/discover" || is_modern(told);
        return if has_to { Err(lacks(&missing(meta))) } else { Ok(Era::Older) };
    };
    let Some(told) = told else {
        return Err(mismatch(format!("`_meta` names {named}: the header `{REVISION}` is missing")));
    };
    if told != named {
        let said = format!("the header `{REVISION}` says {told}, and `_meta` says {named}");
        return Err(mismatch(said));
    }
    if is_modern(Some(told)) {
        repeated(headers, method, params)?;
    }
    let is_whole = missing(meta).is_empty();
    Ok(if is_whole || !has_greeting(named) { Era::Modern } else { Era::Older })
}

fn greeting(headers: &HeaderMap, request: &RpcRequest) -> Result<Era, ErrorData> {
    let told = revision(headers, true)?;
    let named = request.params.get("protocolVersion").and_then(Value::as_str);
    if told.is_some() && told != named {
        let said = format!("the header `{REVISION}` does not say what `protocolVersion` says");
        return Err(ErrorData::invalid_request(said, None));
    }
    match single(headers, &METHOD)? {
        Some(method) if method != request.method => {
            Err(mismatch(format!("the header `{METHOD}` says {method}, and the body initialize")))
        }
        _ => Ok(Era::Older),
    }
}

/// The revision that the header names. `is_said`: the message names one itself, which is looked at
/// later.
fn revision(headers: &HeaderMap, is_said: bool) -> Result<Option<&str>, ErrorData> {
    let wrong = |told: String| ErrorData::invalid_request(told, None);
    let Some(value) = headers.get(REVISION) else { return Ok(None) };
    let named = value.to_str().map_err(|_| wrong(format!("the header `{REVISION}` is no text")))?;
    if is_said || REVISIONS.contains(&named) || named == FORMER {
        return Ok(Some(named));
    }
    let served = REVISIONS.join(", ");
    Err(wrong(format!("the header `{REVISION}` names {named}: served are {served}")))
}

fn is_modern(revision: Option<&str>) -> bool {
    revision.is_some_and(|revision| revision >= LATEST)
}

/// Fails where the headers of 2026-07-28 do not repeat what the body says.
fn repeated(
    headers: &HeaderMap,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), ErrorData> {
    match single(headers, &METHOD)? {
        Some(told) if told == method => {}
        Some(told) => {
            return Err(mismatch(format!(
                "the header `{METHOD}` says {told}, and the body {method}"
            )));
        }
        None => return Err(mismatch(format!("the header `{METHOD}` is missing"))),
    }
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Ok(()),
    };
    let Some(named) = params.get(key).and_then(Value::as_str) else { return Ok(()) };
    match single(headers, &NAME)? {
        Some(told) if decoded(told).as_deref() == Some(named) => Ok(()),
        Some(told) => {
            Err(mismatch(format!("the header `{NAME}` says {told}, and `{key}` is {named}")))
        }
        None => Err(mismatch(format!("the header `{NAME}` is missing"))),
    }
}

/// A header that may come once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ErrorData> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(mismatch(format!("the header `{name}` came twice")));
    }
    let text = first.to_str().map_err(|_| mismatch(format!("the header `{name}` is no text")))?;
    Ok(Some(text))
}

fn mismatch(told: String) -> ErrorData {
    ErrorData::new(ErrorCode::HEADER_MISMATCH, told, None)
}
