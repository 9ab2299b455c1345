//! From an operation and the arguments of a call to a request.
//!
//! Everything but the values is fixed by the document: no argument can change scheme, host, port,
//! method, the number of path segments, or a header that is ours. Values are percent-encoded into
//! their own place (`encode`), in the style of their parameter (`style`).

mod body;
mod content;
mod encode;
mod file;
mod form;
mod header;
mod multipart;
mod path;
mod query;
pub(crate) mod refusal;
mod style;
mod xml;

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, Method, header as names};
use serde_json::{Map, Value};
use toolcrib_core::{ErrorKind, ToolError};
use url::Url;

pub(crate) use self::body::Payload;
pub(crate) use self::content::{ContentKind, essence};
pub(crate) use self::encode::{Encoding, as_read, decoded, fixed, is_dot_segment};
pub(crate) use self::form::{pairs as form_pairs, text as form_text};
pub(crate) use self::header::{may_be_set, value_of};
pub(crate) use self::style::EncodedPair;
use crate::operation::ApiOperation;

/// A request that still lacks its host and its credentials.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestDraft {
    pub(crate) method: Method,
    /// Encoded, below the path of the server: from its first slash on.
    pub(crate) path: String,
    pub(crate) query: Vec<EncodedPair>,
    pub(crate) headers: HeaderMap,
    pub(crate) cookies: Vec<EncodedPair>,
    pub(crate) body: Option<Payload>,
}

/// The longest path and query together, in bytes; no common server takes more.
const LONGEST_TARGET: usize = 32 * 1024;

impl RequestDraft {
    /// Puts every argument into its place. An error names the argument and what to do.
    pub(crate) fn new(
        operation: &ApiOperation,
        arguments: &Map<String, Value>,
    ) -> Result<Self, ToolError> {
        let filled = filled(operation, arguments);
        let arguments = &*filled;
        let mut headers = header::headers(operation, arguments)?;
        if let Some(accept) = accept(&operation.produces) {
            headers.insert(names::ACCEPT, accept);
        }
        let body = operation.body.as_ref().map(|body| body::body(body, arguments));
        Ok(Self {
            method: operation.method.clone(),
            path: path::path(operation, arguments)?,
            query: query::query(operation, arguments)?,
            headers,
            cookies: query::cookies(operation, arguments)?,
            body: body.transpose()?.flatten(),
        })
    }

    /// The address below a server; that server's host is the only one it can name.
    pub(crate) fn url(&self, server: &Url) -> Result<Url, ToolError> {
        let mut url = server.clone();
        let path = format!("{}{}", server.path().trim_end_matches('/'), self.path);
        url.set_path(&path);
        url.set_fragment(None);
        url.set_query((!self.query.is_empty()).then(|| form::text(&self.query)).as_deref());
        if url.as_str().len() > LONGEST_TARGET {
            let message = format!(
                "the address of this request would have {} bytes, and {LONGEST_TARGET} is the most \
                 that is sent: shorten the arguments, or ask for less at a time",
                url.as_str().len()
            );
            return Err(ToolError::new(ErrorKind::InvalidArguments, message));
        }
        // A URL parser has ideas of its own about dots and slashes; what it changed is not sent.
        let meant = if path.is_empty() { "/" } else { path.as_str() };
        if url.path() != meant {
            let message = "the arguments cannot be written into the path of this request: give \
                           plain names or ids";
            return Err(ToolError::new(ErrorKind::InvalidArguments, message));
        }
        Ok(url)
    }
}

/// The arguments with the values that the document gives to those that are missing.
fn filled<'a>(
    operation: &ApiOperation,
    arguments: &'a Map<String, Value>,
) -> Cow<'a, Map<String, Value>> {
    let mut filled = Cow::Borrowed(arguments);
    for parameter in &operation.parameters {
        if let Some(given) = &parameter.given
            && !arguments.contains_key(&parameter.argument)
        {
            filled.to_mut().insert(parameter.argument.clone(), given.clone());
        }
    }
    filled
}

/// JSON before all else: it is what models and programs read best.
fn accept(produces: &[String]) -> Option<HeaderValue> {
    let (json, other): (Vec<&String>, Vec<&String>) =
        produces.iter().partition(|media| ContentKind::of(media) == ContentKind::Json);
    let media: Vec<&str> = json.into_iter().chain(other).take(8).map(String::as_str).collect();
    let media =
        if media.is_empty() { "application/json, */*;q=0.8".to_owned() } else { media.join(", ") };
    HeaderValue::from_str(&media).ok()
}

#[cfg(test)]
mod tests;
