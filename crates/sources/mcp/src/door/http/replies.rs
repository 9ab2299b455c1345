//! Replies over HTTP: one message as JSON, and messages as events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio::time::{sleep, timeout};
use toolcrib_core::BoxFuture;

use super::headers::{EVENTS, JSON};
use crate::door::client::outbound::{Outbound, OutboundKind};
use crate::door::client::subscriptions::ListChanges;
use crate::door::persistence::ELSEWHERE;
use crate::door::session::McpSession;
use crate::door::session::event_log::EventReader;
use crate::protocol::rpc::{self, INVALID_REQUEST};

/// A refusal of a request that is none of the protocol yet.
pub(super) type HttpRefusal = (StatusCode, &'static str);

/// How often a client that waits is told that we are still there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// How soon it may come back whose connection broke, in milliseconds.
const RETRY: u32 = 3_000;
const COMMENT: &[u8] = b":\n\n";
const NO_BUFFER: HeaderName = HeaderName::from_static("x-accel-buffering");

/// One message.
pub(super) fn json(status: StatusCode, message: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(message));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// A refusal in the shape of the protocol.
pub(super) fn refused((status, told): HttpRefusal) -> Response {
    json(status, rpc::refusal(None, INVALID_REQUEST, told))
}

/// The answer to a request that was well formed, of 2026-07-28.
pub(super) fn failed(id: Option<&RequestId>, error: &ErrorData) -> Response {
    json(StatusCode::BAD_REQUEST, rpc::refusal_with(id, error))
}

/// The status that 2026-07-28 gives an error, whose request was well formed.
pub(super) fn status(error: &ErrorData) -> StatusCode {
    match error.code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        ELSEWHERE => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}

pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Events, as they come.
pub(super) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    use futures_util::StreamExt as _;

    let mut response =
        Response::new(Body::from_stream(events.map(Ok::<_, std::convert::Infallible>)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(NO_BUFFER, HeaderValue::from_static("no"));
    response
}

/// A message as an event without a name: nobody can ask for it again.
pub(super) fn event(message: &[u8]) -> Bytes {
    [b"data: ", message, b"\n\n"].concat().into()
}

/// The answer to a request of 2026-07-28 that is under way, which ends with its connection.
pub(super) struct AnswerStream {
    pub(super) first: Option<Vec<u8>>,
    pub(super) running: Option<BoxFuture<'static, (StatusCode, Vec<u8>)>>,
    pub(super) said: mpsc::Receiver<Vec<u8>>,
    pub(super) answer: Option<Vec<u8>>,
}

impl AnswerStream {
    pub(super) fn respond(self) -> Response {
        events(unfold(self, |mut stream| async move { Some((stream.next().await?, stream)) }))
    }

    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(event(&first));
        }
        loop {
            let Some(running) = &mut self.running else {
                // What was said before the answer.
                let said = self.said.try_recv().ok();
                return said.or_else(|| self.answer.take()).map(|message| event(&message));
            };
            tokio::select! {
                biased;
                Some(said) = self.said.recv() => return Some(event(&said)),
                (_, answer) = running => {
                    self.running = None;
                    self.answer = Some(answer);
                }
                () = sleep(SIGN_OF_LIFE) => return Some(Bytes::from_static(COMMENT)),
            }
        }
    }
}

/// Takes what is said before the answer of such a request.
pub(super) struct AnswerEvents(pub(super) mpsc::Sender<Vec<u8>>);

impl Outbound for AnswerEvents {
    fn send(&self, message: Vec<u8>, _: OutboundKind) -> BoxFuture<'_, bool> {
        Box::pin(async move { self.0.send(message).await.is_ok() })
    }
}

/// The stream of a request of an older client, from the event that the reader has.
pub(super) fn request_events(reader: EventReader, is_first: bool) -> Response {
    let first = is_first.then(|| priming(&reader.place()));
    events(unfold((first, reader), |(first, mut reader)| async move {
        if let Some(first) = first {
            return Some((first, (None, reader)));
        }
        let event = match timeout(SIGN_OF_LIFE, reader.next()).await {
            Ok(event) => event?,
            Err(_) => Bytes::from_static(COMMENT),
        };
        Some((event, (None, reader)))
    }))
}

/// An event that says nothing: who has it may come back for what is behind it.
fn priming(name: &str) -> Bytes {
    format!("id: {name}\nretry: {RETRY}\ndata: \n\n").into()
}

/// The stream on which an older client hears what belongs to no request.
pub(super) struct ListeningStream {
    pub(super) session: Arc<McpSession>,
    pub(super) reader: EventReader,
    /// It goes on behind an event; else it waits until nobody else listens.
    pub(super) resumes: bool,
    pub(super) first: Option<Bytes>,
    /// Who has this tells of changed lists.
    pub(super) changes: Option<OwnedMutexGuard<ListChanges>>,
}

impl ListeningStream {
    pub(super) fn of(session: Arc<McpSession>, behind: Option<u64>) -> Response {
        let reader = session.streams.unrelated.read(behind);
        let resumes = behind.is_some();
        let primes = !resumes && session.conversation.primes();
        let first = primes.then(|| priming(&reader.place()));
        let stream = Self { session, reader, resumes, first, changes: None };
        events(unfold(stream, |mut stream| async move { Some((stream.next().await?, stream)) }))
    }

    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let Self { session, reader, resumes, changes, .. } = self;
        let over = &session.conversation.over;
        loop {
            let is_alone = changes.is_some();
            tokio::select! {
                biased;
                () = over.cancelled() => return None,
                event = reader.next(), if is_alone || *resumes => return event,
                change = next_change(changes), if is_alone => session.streams.unrelated.push(&change, OutboundKind::Notification),
                alone = Arc::clone(&session.changes).lock_owned(), if !is_alone => {
                    if !*resumes {
                        reader.catch_up();
                    }
                    *changes = Some(alone);
                }
                () = sleep(SIGN_OF_LIFE) => return Some(Bytes::from_static(COMMENT)),
            }
        }
    }
}

async fn next_change(changes: &mut Option<OwnedMutexGuard<ListChanges>>) -> Vec<u8> {
    match changes {
        Some(changes) => changes.next().await,
        None => std::future::pending().await,
    }
}
