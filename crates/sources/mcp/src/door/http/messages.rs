//! What is posted: one message, or of 2025-03-26 several at once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolcrib_core::BoxFuture;

use super::headers::{self, EVENTS, Era, JSON};
use super::replies::{
    AnswerEvents, AnswerStream, HttpRefusal, empty, event, events, failed, json, refused,
    request_events, status,
};
use super::{HttpHandlerInner, HttpRequest, NO_SESSION, SESSION, SESSION_MISSING, sessions};
use crate::door::client::channel::{ClientChannel, progress_token};
use crate::door::client::outbound::Outbound;
use crate::door::client::subscriptions::ListChanges;
use crate::door::methods::dispatch::{MethodRequest, hear};
use crate::door::session::McpSession;
use crate::door::session::event_log::EventLog;
use crate::door::session::negotiation::who_asks;
use crate::door::session::request::ConversationRequest;
use crate::door::session::rows::SessionRow;
use crate::door::state::McpRequestContext;
use crate::protocol::rpc::{self, INVALID_REQUEST, PARSE_ERROR, RpcMessage, RpcRequest};

/// A request of an older client that ends within this time, and is silent until then, is answered
/// without a stream.
const SOON: Duration = Duration::from_millis(100);
/// What may be said before an answer and not have been taken yet.
const AHEAD: usize = 16;
/// Messages of one batch.
const MOST_AT_ONCE: usize = 100;

const ASKED_ELSEWHERE: HttpRefusal = (
    StatusCode::SERVICE_UNAVAILABLE,
    "another process of this server asked that, or nobody: send the answer again",
);

const NO_MESSAGE: &str = "the body must be one JSON object, read as it is";

impl HttpHandlerInner {
    pub(super) async fn post(
        self: &Arc<Self>,
        request: HttpRequest,
        body: Bytes,
    ) -> Result<Response, HttpRefusal> {
        let headers = &request.head.headers;
        if !(headers::accepts(headers, JSON) && headers::accepts(headers, EVENTS)) {
            let told = "an answer is application/json or text/event-stream: accept both";
            return Err((StatusCode::NOT_ACCEPTABLE, told));
        }
        if !headers::is_json(headers) {
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "a message is application/json"));
        }
        let wrong = |code, told| Ok(json(StatusCode::BAD_REQUEST, rpc::refusal(None, code, told)));
        let Ok(text) = str::from_utf8(&body) else { return wrong(PARSE_ERROR, NO_MESSAGE) };
        let message = match rpc::read(text, &self.server_state.settings.request) {
            Ok(Value::Object(message)) => message,
            Ok(Value::Array(messages)) => return Box::pin(self.batch(request, messages)).await,
            Ok(_) => return wrong(INVALID_REQUEST, NO_MESSAGE),
            Err(error) => return wrong(rpc::code(&error), NO_MESSAGE),
        };
        // A call may wait long, and would hold the buffer.
        drop(body);
        match RpcMessage::of(message) {
            Ok(message) => self.message(request, message).await,
            Err(none) => wrong(INVALID_REQUEST, none.told),
        }
    }

    async fn message(
        &self,
        request: HttpRequest,
        message: RpcMessage,
    ) -> Result<Response, HttpRefusal> {
        let id = if let RpcMessage::Request(asked) = &message { Some(&asked.id) } else { None };
        let era = match headers::era(&request.head.headers, &message) {
            Ok(era) => era,
            Err(error) => return Ok(failed(id, &error)),
        };
        match (era, message) {
            (Era::Modern, RpcMessage::Request(asked)) => Ok(self.modern(request, asked).await),
            // One that belongs to no request changes nothing here.
            (Era::Modern, RpcMessage::Notification(_)) => Ok(empty(StatusCode::ACCEPTED)),
            (Era::Modern, RpcMessage::Response(_)) => {
                Err((StatusCode::BAD_REQUEST, "nothing was asked that this could answer"))
            }
            (Era::Older, message) => Box::pin(self.older(request, message)).await,
        }
    }

    async fn older(
        &self,
        request: HttpRequest,
        message: RpcMessage,
    ) -> Result<Response, HttpRefusal> {
        if request.session.is_none() {
            return match message {
                RpcMessage::Request(asked) if asked.method == "initialize" => {
                    self.begin(request.request_context, asked).await
                }
                RpcMessage::Request(_) | RpcMessage::Notification(_) | RpcMessage::Response(_) => {
                    Err(SESSION_MISSING)
                }
            };
        }
        let session = self.session_of(&request).await?;
        let request_context = request.request_context;
        match message {
            RpcMessage::Request(asked) => {
                Ok(self.of_session(request_context, &session, asked).await)
            }
            RpcMessage::Notification(said) => {
                hear(&session.conversation, &request_context, said);
                Ok(empty(StatusCode::ACCEPTED))
            }
            RpcMessage::Response(answer) => {
                let is_ours = session.conversation.questions.answered(answer);
                if !is_ours && self.server_state.persistence.homes.is_some() {
                    return Err(ASKED_ELSEWHERE);
                }
                Ok(empty(StatusCode::ACCEPTED))
            }
        }
    }

    /// Begins a session. One whose greeting is refused is none.
    async fn begin(
        &self,
        request_context: McpRequestContext,
        asked: RpcRequest,
    ) -> Result<Response, HttpRefusal> {
        self.room_for_one_more(&request_context.caller)?;
        let (caller, profile) =
            (Arc::clone(&request_context.caller), request_context.profile.clone());
        let changes = ListChanges::begin(&self.server_state.cribs, &request_context);
        let (named, sealed) = self.tokens.begin(&caller, profile.as_deref());
        let row = SessionRow::new(&named, profile);
        let session = self.sessions.create(caller, changes, row);
        let mut response = self.of_session(request_context, &session, asked).await;
        if session.conversation.wanted().is_none() {
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return Ok(response);
        }
        self.sessions.begin(&named, session).await.map_err(sessions::refusal)?;
        let sealed = HeaderValue::from_str(&sealed);
        let sealed = sealed.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "no session"))?;
        response.headers_mut().insert(SESSION, sealed);
        Ok(response)
    }

    /// Answers a request of a session. Its connection may break: it goes on.
    async fn of_session(
        &self,
        request_context: McpRequestContext,
        session: &Arc<McpSession>,
        asked: RpcRequest,
    ) -> Response {
        let log = session.streams.of_request();
        let begun = ConversationRequest::begin(
            &self.server_state,
            &session.conversation,
            request_context,
            Arc::clone(&log) as Arc<dyn Outbound>,
            asked,
        );
        let begun = match begun {
            Ok(begun) => begun,
            Err((code, refusal)) => return json(code, refusal),
        };
        let mut answering = Detached(Some(Box::pin(begun.answer(|_| {}))));
        let answer = tokio::select! {
            biased;
            answer = answering.answer() => Some(answer),
            () = log.said_something() => None,
            () = self.timer.passed(SOON) => None,
        };
        match answer {
            Some(None) if session.conversation.over.is_cancelled() => refused(NO_SESSION),
            // Its client does not want an answer.
            Some(None) => empty_stream(),
            Some(Some(answer)) if log.is_empty() => json(StatusCode::OK, answer),
            Some(Some(answer)) => {
                // What somebody reads is kept even where too much is.
                let reader = log.read(Some(0));
                log.end(Some(&answer));
                session.streams.keep(&log);
                request_events(reader, session.conversation.primes())
            }
            None => {
                session.streams.keep(&log);
                let reader = log.read(Some(0));
                if let Some(answering) = answering.0.take() {
                    let ending = EndGuard(log);
                    tokio::spawn(async move { ending.0.end(answering.await.as_deref()) });
                }
                request_events(reader, session.conversation.primes())
            }
        }
    }

    /// Answers a request of 2026-07-28. With its connection it ends.
    async fn modern(&self, request: HttpRequest, asked: RpcRequest) -> Response {
        let HttpRequest { head, request_context, .. } = request;
        let id = asked.id.clone();
        let client = match who_asks(&asked.method, asked.meta(), None) {
            Ok((_, client)) => client,
            Err(error) => return failed(Some(&id), &error),
        };
        let progress = progress_token(asked.meta());
        let hears = progress.is_some() || client.hears.is_some();
        let hears = hears || asked.method == "subscriptions/listen";
        let (out, said) = if hears {
            let (sender, said) = mpsc::channel(AHEAD);
            (Some(Arc::new(AnswerEvents(sender)) as Arc<dyn Outbound>), Some(said))
        } else {
            (None, None)
        };
        let channel = ClientChannel {
            id: id.clone(),
            client,
            patience: self.server_state.settings.patience,
            progress,
            out,
            questions: None,
            cancelled: CancellationToken::new(),
        };
        let request = MethodRequest {
            server_state: Arc::clone(&self.server_state),
            conversation: None,
            request_context,
            channel,
            headers: Some(head.headers),
        };
        let RpcRequest { method, params, .. } = asked;
        let running = async move {
            let answered = request.answer(&method, params).await;
            let code = answered.as_ref().err().map_or(StatusCode::OK, status);
            (code, rpc::answer(&id, answered.map(|result| result.text)))
        };
        let Some(mut said) = said else {
            // On the heap: what holds this future is moved about before it is first polled.
            let (code, answer) = Box::pin(running).await;
            return json(code, answer);
        };
        let mut running: BoxFuture<'static, _> = Box::pin(running);
        tokio::select! {
            biased;
            Some(first) = said.recv() => {
                let running = Some(running);
                AnswerStream { first: Some(first), running, said, answer: None }.respond()
            }
            (code, answer) = &mut running => match said.try_recv().ok() {
                None => json(code, answer),
                first => AnswerStream { first, running: None, said, answer: Some(answer) }.respond(),
            }
        }
    }

    /// Several messages at once, as 2025-03-26 has it: each is answered by itself, one after the
    /// other, so that who sends many in one request has no more under way than who sends one.
    async fn batch(
        self: &Arc<Self>,
        request: HttpRequest,
        messages: Vec<Value>,
    ) -> Result<Response, HttpRefusal> {
        let no_message = (StatusCode::BAD_REQUEST, NO_MESSAGE);
        request.session.as_ref().ok_or(no_message)?;
        if !self.session_of(&request).await?.conversation.has_batches() {
            return Err(no_message);
        }
        if messages.is_empty() || messages.len() > MOST_AT_ONCE {
            return Err((StatusCode::BAD_REQUEST, "a batch has 1 to 100 messages"));
        }
        let pieces: Vec<_> = messages.into_iter().map(rpc::of_batch).collect();
        let wants_answers = pieces.iter().any(|piece| {
            !matches!(piece, Ok(RpcMessage::Notification(_) | RpcMessage::Response(_)))
        });
        let handler = Arc::clone(self);
        let replies = stream::iter(pieces).then(move |piece| {
            let handler = Arc::clone(&handler);
            let (head, request_context) = (request.head.clone(), request.request_context.clone());
            let one = HttpRequest { head, request_context, session: request.session.clone() };
            async move {
                match piece {
                    Ok(message) => handler.message(one, message).await,
                    Err(refusal) => Ok(json(StatusCode::BAD_REQUEST, refusal)),
                }
            }
        });
        if wants_answers {
            let answers = replies.then(|reply| as_events(reply.unwrap_or_else(refused)));
            let frames = answers.flat_map(Body::into_data_stream).boxed();
            return Ok(events(frames.filter_map(|frame| std::future::ready(frame.ok()))));
        }
        // All are heard. What was not heard for good is to be said again.
        let refusals: Vec<_> =
            replies.filter_map(|reply| std::future::ready(reply.err())).collect().await;
        let comes_again = |(status, _): &HttpRefusal| *status == StatusCode::SERVICE_UNAVAILABLE;
        refusals.into_iter().find(comes_again).map_or(Ok(empty(StatusCode::ACCEPTED)), Err)
    }
}

/// An answer to one message of a batch.
async fn as_events(answer: Response) -> Body {
    let kind = answer.headers().get(CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes())) {
        return answer.into_body();
    }
    // It is one of ours, and in memory.
    let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap_or_default();
    if body.is_empty() { Body::empty() } else { Body::from(event(&body)) }
}

/// The answer to what its client does not want any more.
fn empty_stream() -> Response {
    let mut response = empty(StatusCode::OK);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    response
}

/// Ends a stream, also where its request ends without a word.
struct EndGuard(Arc<EventLog>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.end(None);
    }
}

/// A request under way. Dropped, it goes on without its client: in the older revisions a connection
/// that breaks cancels nothing.
struct Detached(Option<BoxFuture<'static, Option<Vec<u8>>>>);

impl Detached {
    async fn answer(&mut self) -> Option<Vec<u8>> {
        let Some(answering) = &mut self.0 else { return None };
        let answer = answering.await;
        self.0 = None;
        answer
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        if let (Some(answering), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(answering);
        }
    }
}
