//! Batches, which 2025-03-26 has and no other revision: several messages in one body or line.
//!
//! Each is answered by itself, over HTTP one after the other: who sends many in one request has no
//! more under way than who sends one.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use rmcp::model::RequestId;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::validation;
use crate::door::http::fast_request::EVENTS;
use crate::door::http::{HttpHandlerInner, refused};
use crate::door::state::McpRequestContext;
use crate::door::stdio::input_filter::INVALID_REQUEST;

/// The only revision that has them.
pub(crate) const REVISION: &str = "2025-03-26";

/// Messages of one batch.
const MOST: usize = 100;

/// What stands in a batch.
pub(crate) enum RpcBatchEntry {
    Message {
        text: String,
        /// Whether it wants an answer.
        asks: bool,
    },
    /// The answer to what is no message, or none of a batch.
    Refused(String),
}

/// Whether this may be a batch and no single message.
pub(crate) fn opens(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"[")
}

/// The pieces of a batch that was read strictly before; `Err`: why it is none.
pub(crate) fn split(text: &str) -> Result<Vec<RpcBatchEntry>, String> {
    let pieces: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if pieces.is_empty() || pieces.len() > MOST {
        return Err(format!("a batch has 1 to {MOST} messages"));
    }
    Ok(pieces.into_iter().map(piece).collect())
}

fn piece(text: &RawValue) -> RpcBatchEntry {
    let Ok(message) = serde_json::from_str::<Map<String, Value>>(text.get()) else {
        return RpcBatchEntry::Refused(refusal(None, "a message is one JSON object"));
    };
    let id = validation::id(&message);
    if let Err(told) = validation::check(&message) {
        return RpcBatchEntry::Refused(refusal(id.as_ref(), told));
    }
    let method = message.get("method");
    if method.is_some_and(|method| method == "initialize") {
        return RpcBatchEntry::Refused(refusal(id.as_ref(), "`initialize` comes by itself"));
    }
    // At a pipe a message is one line.
    let text = text.get().replace(['\n', '\r'], " ");
    RpcBatchEntry::Message { text, asks: id.is_some() && method.is_some() }
}

pub(crate) fn refusal(id: Option<&RequestId>, told: &str) -> String {
    let error = json!({ "code": INVALID_REQUEST, "message": told });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

/// Answers a batch over HTTP: what wants answers by a stream of them.
pub(crate) async fn answer(
    http_handler: &Arc<HttpHandlerInner>,
    request_context: McpRequestContext,
    mut head: Parts,
    pieces: Vec<RpcBatchEntry>,
) -> Response {
    // It was that of the whole.
    head.headers.remove(CONTENT_LENGTH);
    let wants_answers =
        pieces.iter().any(|piece| !matches!(piece, RpcBatchEntry::Message { asks: false, .. }));
    let http_handler = Arc::clone(http_handler);
    let answers = stream::iter(pieces).then(move |piece| {
        let (http_handler, request_context, head) =
            (Arc::clone(&http_handler), request_context.clone(), head.clone());
        async move { one(&http_handler, request_context, head, piece).await }
    });
    if wants_answers {
        let frames = answers.flat_map(Body::into_data_stream);
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static(EVENTS)),
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        // Large, and moved about before it is first polled.
        return (headers, Body::from_stream(frames.boxed())).into_response();
    }
    let mut answers = std::pin::pin!(answers);
    while answers.next().await.is_some() {}
    StatusCode::ACCEPTED.into_response()
}

/// What is said to one piece, as events.
async fn one(
    http_handler: &HttpHandlerInner,
    request_context: McpRequestContext,
    head: Parts,
    piece: RpcBatchEntry,
) -> Body {
    let text = match piece {
        RpcBatchEntry::Message { text, .. } => text,
        RpcBatchEntry::Refused(answer) => return event(&answer),
    };
    let answered = http_handler.in_session(request_context, head, Bytes::from(text)).await;
    let answered = answered.unwrap_or_else(refused);
    let kind = answered.headers().get(CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes())) {
        return answered.into_body();
    }
    // It is one of ours, and in memory.
    let body = axum::body::to_bytes(answered.into_body(), usize::MAX).await.unwrap_or_default();
    match str::from_utf8(&body) {
        Ok("") | Err(_) => Body::empty(),
        Ok(said) if said.starts_with('{') => event(said),
        Ok(said) => event(&refusal(None, said)),
    }
}

fn event(message: &str) -> Body {
    Body::from(format!("data: {message}\n\n"))
}
