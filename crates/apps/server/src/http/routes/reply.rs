//! What goes out.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame};
use serde_json::Value;
use tokio::sync::mpsc::Receiver;
use tokio_util::sync::DropGuard;

pub(crate) type ReplyBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;
pub(crate) type HttpReply = Response<ReplyBody>;

/// A body that is there at once.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> ReplyBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

pub(crate) fn json(value: &Value) -> HttpReply {
    json_bytes(value.to_string().into())
}

/// A text; the caller says of which kind.
pub(crate) fn text(text: String) -> HttpReply {
    Response::new(whole(text))
}

/// Bytes that are in the binary; the caller says of which kind.
pub(crate) fn octets(bytes: &'static [u8]) -> HttpReply {
    Response::new(whole(Bytes::from_static(bytes)))
}

/// JSON that was written before.
pub(crate) fn json_bytes(bytes: Bytes) -> HttpReply {
    let mut reply = Response::new(whole(bytes));
    let kind = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(header::CONTENT_TYPE, kind);
    reply
}

pub(crate) fn status(status: StatusCode, value: &Value) -> HttpReply {
    let mut reply = json(value);
    *reply.status_mut() = status;
    reply
}

/// Says that the connection is a WebSocket from now on; `accept` proves that its key was read.
/// `serve` is polled on the task of the connection, once the answer is out, so that it has the places
/// of the connection until it is over.
pub(crate) fn socket(accept: HeaderValue, serve: BoxFuture<'static, ()>) -> HttpReply {
    let mut reply = Response::new(whole(Bytes::new()));
    *reply.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = reply.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    reply.extensions_mut().insert(SocketTask(Arc::new(Mutex::new(Some(serve)))));
    reply
}

/// What a connection does after its answer.
#[derive(Clone)]
pub(crate) struct SocketTask(Arc<Mutex<Option<BoxFuture<'static, ()>>>>);

impl SocketTask {
    /// `None`: somebody has it already.
    pub(crate) fn take(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Server-sent events, as they come. `gone` is dropped with the reader.
pub(crate) fn events(waiting: Receiver<Bytes>, gone: Option<DropGuard>) -> HttpReply {
    let body = EventBody { waiting, _gone: gone };
    let mut reply = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    let kind = HeaderValue::from_static("text/event-stream");
    reply.headers_mut().insert(header::CONTENT_TYPE, kind);
    reply
}

struct EventBody {
    waiting: Receiver<Bytes>,
    _gone: Option<DropGuard>,
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.waiting.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
