//! What is sent.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderMap,
    HeaderName, HeaderValue, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    USER_AGENT,
};
use http_body_util::Full;
use url::Url;

use crate::error::EgressError;

/// A request as our code makes it.
#[derive(Clone)]
pub struct EgressRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: EgressBody,
    pub timeouts: EgressTimeouts,
    /// An answer that comes packed may unpack to this many times its size, beyond the first
    /// mebibyte.
    pub unpack: u64,
}

#[derive(Clone, Default)]
pub enum EgressBody {
    #[default]
    Empty,
    Bytes(Bytes),
}

/// How long each part may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressTimeouts {
    /// Looking up the name, connecting, and TLS.
    pub connect: Duration,
    /// From the request to the head of the answer.
    pub first_byte: Duration,
    /// Silence inside the answer's body.
    pub idle: Duration,
    /// All together, up to the last byte of the answer.
    pub total: Duration,
}

impl Default for EgressTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(15),
            total: Duration::from_mins(1),
        }
    }
}

/// What the connection says of itself; whoever else says it can smuggle a second request.
const OURS: &[HeaderName] = &[
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];
const ALSO_OURS: &[&str] = &["keep-alive", "proxy-connection", "http2-settings"];
/// Headers that carry no secret; of the others nobody knows.
const PLAIN: &[HeaderName] = &[ACCEPT, CONTENT_TYPE, USER_AGENT];

impl EgressRequest {
    /// A request without headers and body, whose answer may unpack to a hundred times its size.
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: EgressBody::Empty,
            timeouts: EgressTimeouts::default(),
            unpack: 100,
        }
    }

    pub(crate) fn into_message(self) -> Result<http::Request<Full<Bytes>>, EgressError> {
        if matches!(self.method, Method::CONNECT | Method::TRACE) {
            return Err(EgressError::refused(format!("`{}` is never sent", self.method)));
        }
        let mut headers = self.headers;
        for (name, value) in &mut headers {
            check_header(name, value)?;
            if !PLAIN.contains(name) {
                value.set_sensitive(true);
            }
        }
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(concat!("toolcrib/", env!("CARGO_PKG_VERSION"))));
        let body = match self.body {
            EgressBody::Empty => Bytes::new(),
            EgressBody::Bytes(bytes) => bytes,
        };
        let mut message = http::Request::new(Full::new(body));
        *message.method_mut() = self.method;
        *message.uri_mut() =
            self.url.as_str().parse().map_err(|cause: http::uri::InvalidUri| {
                EgressError::refused("the URL is none that HTTP can carry").because(cause)
            })?;
        *message.headers_mut() = headers;
        Ok(message)
    }
}

fn check_header(name: &HeaderName, value: &HeaderValue) -> Result<(), EgressError> {
    if OURS.contains(name) || ALSO_OURS.contains(&name.as_str()) {
        let message = format!("the header `{name}` is set by the connection; leave it out");
        return Err(EgressError::refused(message));
    }
    // The type keeps them out, unless somebody went round it.
    if value.as_bytes().iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        let message = format!("the header `{name}` has a line end or a null in its value");
        return Err(EgressError::refused(message));
    }
    Ok(())
}
