//! The headers that arguments may set.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use toolcrib_core::ToolError;

use super::content::written;
use super::encode::Encoding;
use super::refusal::refused;
use super::style::StyleWriter;
use crate::operation::{ApiOperation, ParameterLocation};

/// Headers that say where a request goes, how long it is, who sends it or what it really is.
/// A document that declares one of them as a parameter is not followed; the specification itself
/// has `Accept`, `Authorization` and `Content-Type` ignored.
const OURS: &[&str] = &[
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "origin",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-real-ip",
    "x-rewrite-url",
];

/// Whether an argument may set this header.
pub(crate) fn may_be_set(name: &HeaderName) -> bool {
    let name = name.as_str();
    let is_family = ["proxy-", "sec-", "x-forwarded-"].iter().any(|start| name.starts_with(start));
    !is_family && !OURS.contains(&name)
}

pub(crate) fn headers(
    operation: &ApiOperation,
    arguments: &Map<String, Value>,
) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for parameter in &operation.parameters {
        let Some(value) = arguments.get(&parameter.argument) else { continue };
        let name = HeaderName::from_bytes(parameter.name.as_bytes()).ok();
        let Some(name) =
            name.filter(|name| parameter.place == ParameterLocation::Header && may_be_set(name))
        else {
            continue;
        };
        let text = match &parameter.media {
            Some(media) => Some(written(value, media)),
            None => StyleWriter::of(parameter, Encoding::Raw).text(value),
        };
        if let Some(text) = text {
            headers.insert(name, value_of(&parameter.argument, &text)?);
        }
    }
    Ok(headers)
}

/// A text as the value of a header: on one line, without control characters.
pub(crate) fn value_of(argument: &str, text: &str) -> Result<HeaderValue, ToolError> {
    /// Servers take 8 KiB for all headers together, some 16.
    const LONGEST: usize = 16 * 1024;
    if text.len() > LONGEST {
        let why = format!("is sent as a header and cannot be longer than {LONGEST} bytes");
        return Err(refused(argument, &why));
    }
    let value = HeaderValue::from_bytes(text.as_bytes()).ok();
    let value = value.filter(|_| !text.chars().any(char::is_control));
    value.ok_or_else(|| {
        let why = "is sent as a header and cannot hold line breaks or other control characters: \
                   leave them out";
        refused(argument, why)
    })
}
