//! What the headers of a plain request say, and what they leave to the SDK to look at.

#[cfg(any(test, feature = "fuzz"))]
use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderName};
use rmcp::model::ProtocolVersion;

#[cfg(any(test, feature = "fuzz"))]
use crate::door::http::allowed_hosts::AllowedHosts;
use crate::door::sdk::REVISIONS;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the headers of arguments begin with.
const ARGUMENT: &str = "mcp-param-";
/// What a name begins with that no header can hold as it is.
const ENCODED: &str = "=?base64?";
const JSON: &str = "application/json";
pub(in crate::door) const EVENTS: &str = "text/event-stream";

/// A header that came once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then(|| first.to_str().ok()).flatten()
}

/// Whether the headers of 2026-07-28 say what the body says.
pub(super) fn are_of_latest(headers: &HeaderMap, (method, name): (&str, Option<&str>)) -> bool {
    single(headers, &VERSION) == Some(ProtocolVersion::V_2026_07_28.as_str())
        && single(headers, &METHOD) == Some(method)
        && single(headers, &NAME) == name
        && headers.contains_key(&NAME) == name.is_some()
        && !name.is_some_and(|name| name.starts_with(ENCODED))
}

/// Whether they say nothing that only 2026-07-28 knows. The oldest clients name no revision.
pub(super) fn are_of_session(headers: &HeaderMap) -> bool {
    let is_old = |said: &str| {
        let mut old = REVISIONS.iter().filter(|revision| revision.has_initialize());
        old.any(|revision| revision.as_str() == said)
    };
    (!headers.contains_key(&VERSION) || single(headers, &VERSION).is_some_and(is_old))
        && !headers.contains_key(&METHOD)
        && !headers.contains_key(&NAME)
}

/// Whether the headers of every revision are there, and nothing that has to be looked at.
pub(super) fn are_plain(headers: &HeaderMap) -> bool {
    let accepts = |kind: &str| {
        let accepted = single(headers, &ACCEPT).into_iter();
        let mut accepted = accepted.flat_map(|accepted| accepted.split(','));
        accepted.any(|accepted| accepted.trim().eq_ignore_ascii_case(kind))
    };
    let is_json = single(headers, &CONTENT_TYPE).is_some_and(|kind| {
        let (essence, _) = kind.split_once(';').unwrap_or((kind, ""));
        essence.trim().eq_ignore_ascii_case(JSON)
    });
    is_json
        && accepts(JSON)
        && accepts(EVENTS)
        && !headers.contains_key(ORIGIN)
        && !headers.keys().any(|name| name.as_str().starts_with(ARGUMENT))
}

/// The headers of a request that wants this of this tool, and by which names it may.
#[cfg(any(test, feature = "fuzz"))]
pub(super) fn sent_with(
    method: &'static str,
    tool: Option<&'static str>,
) -> (AllowedHosts, HeaderMap) {
    let (hosts, mut headers) = sent_in_session(ProtocolVersion::V_2026_07_28.as_str());
    let told = [(METHOD, method)].into_iter().chain(tool.map(|tool| (NAME, tool)));
    headers.extend(told.map(|(name, value)| (name, HeaderValue::from_static(value))));
    (hosts, headers)
}

/// The same of one of a session, in which this revision is spoken.
#[cfg(any(test, feature = "fuzz"))]
pub(super) fn sent_in_session(revision: &'static str) -> (AllowedHosts, HeaderMap) {
    let told = [
        (VERSION, revision),
        (ACCEPT, "application/json, text/event-stream"),
        (CONTENT_TYPE, JSON),
        (http::header::HOST, "crib.example"),
    ];
    let headers = told.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (AllowedHosts::new(&["crib.example".to_owned()]), headers.into_iter().collect())
}
