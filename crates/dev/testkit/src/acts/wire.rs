//! One request over HTTP, and what came of it.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use toolcrib_egress::{Egress, EgressBody, EgressError, EgressRequest, EgressTimeouts};
use url::Url;

/// Bytes of an answer.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// What an agent answered.
#[derive(Debug, Clone, Default)]
pub(super) struct ActsReply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The answer itself, without what its binding puts around it.
    pub(super) body: Option<Value>,
    /// A refusal: `code`, `message` and `data`, as JSON-RPC has it.
    pub(super) error: Option<Value>,
    /// What a stream said, each without what its binding puts around it.
    pub(super) events: Option<Vec<Value>>,
    /// How it came, where it is no JSON.
    pub(super) text: String,
}

/// A request as it goes over the line.
pub(super) struct WireRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

/// A way to one place. Nothing else is reached, and no redirect is followed.
#[derive(Clone)]
pub(super) struct ActsLine {
    egress: Egress,
    patience: Duration,
}

impl ActsLine {
    /// To the origins of these places; no request takes longer than `patience`.
    pub(super) fn to(places: &[&Url], patience: Duration) -> Result<Self, EgressError> {
        let named = places.iter().map(|place| (*place).clone());
        Ok(Self { egress: Egress::only(named, toolcrib_egress::Network::default())?, patience })
    }

    /// What came, unread but for its parts.
    pub(super) async fn send(&self, request: WireRequest) -> Result<ActsReply, String> {
        let place = request.url.clone();
        let told = |error: EgressError| match error.causes() {
            Some(causes) => format!("{place}: {} ({causes})", error.message()),
            None => format!("{place}: {}", error.message()),
        };
        let mut sent = EgressRequest::new(request.method, request.url);
        sent.headers = request.headers;
        if let Some(body) = request.body {
            sent.body = EgressBody::Bytes(Bytes::from(body));
        }
        let long = self.patience;
        sent.timeouts =
            EgressTimeouts { first_byte: long, idle: long, total: long, ..sent.timeouts };
        let answer = self.egress.send(sent).await.map_err(told)?;
        let (status, headers) = (answer.status.as_u16(), answer.headers.clone());
        let bytes = answer.bytes(MOST_BYTES).await.map_err(told)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let kind =
            headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let events =
            kind.starts_with("text/event-stream").then(|| stream_data(&text)).transpose()?;
        let body = serde_json::from_str(&text).ok().filter(|_| events.is_none());
        Ok(ActsReply { status, headers, body, error: None, events, text })
    }
}

/// The data of each event of a stream.
fn stream_data(text: &str) -> Result<Vec<Value>, String> {
    let mut all = Vec::new();
    let mut data = String::new();
    for line in text.lines().chain([""]) {
        if let Some(more) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
        } else if line.is_empty() && !data.is_empty() {
            let event = serde_json::from_str(&data);
            all.push(event.map_err(|error| format!("an event of the stream is no JSON: {error}"))?);
            data.clear();
        }
    }
    Ok(all)
}

/// Headers of these names; a name or a value that HTTP cannot carry is an error.
pub(super) fn headers<'h>(
    lines: impl IntoIterator<Item = (&'h str, &'h str)>,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let wrong = || format!("HTTP carries no header `{name}` with such a value");
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
        let value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::stream_data;

    #[test]
    fn an_event_is_all_of_its_lines_and_the_last_one_needs_no_blank_line() {
        let text = ": hello\nid: 1\ndata: {\"a\":\ndata: 1}\n\nevent: x\ndata:{\"a\":2}";
        assert_eq!(stream_data(text), Ok(vec![json!({ "a": 1 }), json!({ "a": 2 })]));
        assert!(stream_data("data: no\n\n").is_err());
    }
}
