//! What the SDK's HTTP worker sends and receives through.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use indexmap::IndexMap;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcRequest, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::{Map, Value};
use sse_stream::Sse;

use super::exchange::{HttpAnswer, HttpExchangeError, HttpExchanger};
use super::sse;
use crate::client::inflight::{InFlight, UpstreamRequest};
use crate::protocol::frame;
use crate::protocol::mirrored_headers::{self, MirroredArgument};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// How long a server may think about `server/discover` before it is asked in the old way. Old ones
/// that say nothing at all are rare, and a new one on a busy machine is not to be taken for one.
/// The SDK waits for ten seconds, and is not to give up before us.
const PATIENCE: Duration = Duration::from_secs(8);
/// Largest body that comes with a failure, in bytes.
const LARGEST_FAILURE: usize = 64 * 1024;

type HttpFailure = StreamableHttpError<HttpExchangeError>;
type CustomHeaders = HashMap<HeaderName, HeaderValue>;
/// What comes on one stream.
pub(crate) type SseEventStream = BoxStream<'static, Result<Sse, SseError>>;

/// What was sent, for whoever reads the answer.
#[derive(Default)]
struct PostedMessage {
    /// `None`: it is no request.
    id: Option<RequestId>,
    /// Where the answer is put, if it is not for the SDK to read.
    slot: Option<Arc<UpstreamRequest>>,
    has_session: bool,
    /// It asks for the era.
    discovers: bool,
}

impl PostedMessage {
    fn request(id: RequestId, slot: Option<Arc<UpstreamRequest>>) -> Self {
        Self { id: Some(id), slot, ..Self::default() }
    }

    fn asks_era(&self) -> Option<RequestId> {
        self.id.clone().filter(|_| self.discovers)
    }

    fn has_ended(&self) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.has_ended())
    }
}

/// One connection's way over HTTP.
#[derive(Clone)]
pub(crate) struct HttpTransport {
    pub(super) exchanger: HttpExchanger,
    pub(super) headers: HeaderMap,
    pub(super) mirrored: Arc<Mutex<IndexMap<String, Vec<MirroredArgument>>>>,
    /// A server that leaves `server/discover` unanswered is taken for an old one.
    pub(super) probes: bool,
    pub(super) calls: Arc<InFlight>,
}

impl HttpTransport {
    fn headers(
        &self,
        session: Option<Arc<str>>,
        custom: CustomHeaders,
    ) -> Result<HeaderMap, HttpFailure> {
        let mut headers = self.headers.clone();
        headers.extend(custom);
        headers.insert(ACCEPT, BOTH);
        if let Some(session) = session {
            headers.insert(SESSION, value(&session)?);
        }
        Ok(headers)
    }

    /// What every request with a message has.
    pub(crate) fn own_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, BOTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers
    }

    /// Arguments that a tool wants repeated where those between can read them.
    pub(crate) fn mirror(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        headers: &mut HeaderMap,
    ) {
        let mirrored = self.mirrored.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wanted) = mirrored.get(tool) {
            mirrored_headers::write(wanted, arguments, headers);
        }
    }

    pub(crate) async fn post(
        &self,
        url: &str,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        custom: CustomHeaders,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        let has_session = session.is_some();
        let mut headers = self.headers(session, custom)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        if let Some((tool, arguments)) = called(&message) {
            self.mirror(tool, arguments, &mut headers);
        }
        let body = Bytes::from(serde_json::to_vec(&message)?);
        let slot = self.calls.sending(&message);
        let posted = match message {
            ClientJsonRpcMessage::Request(JsonRpcRequest { id, request, .. }) => PostedMessage {
                has_session,
                discovers: matches!(request, ClientRequest::DiscoverRequest(_)),
                ..PostedMessage::request(id, slot)
            },
            ClientJsonRpcMessage::Response(_)
            | ClientJsonRpcMessage::Notification(_)
            | ClientJsonRpcMessage::Error(_) => {
                PostedMessage { has_session, ..PostedMessage::default() }
            }
        };
        self.send(url, headers, body, posted).await
    }

    /// Sends a request that goes around the SDK.
    pub(crate) async fn request(
        &self,
        url: &str,
        headers: HeaderMap,
        (id, body): (RequestId, Bytes),
        slot: &Arc<UpstreamRequest>,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        self.calls.sends(id.clone(), slot);
        self.send(url, headers, body, PostedMessage::request(id, Some(Arc::clone(slot)))).await
    }

    /// Sends a message and takes in what is answered, up to where it may go on as events.
    async fn send(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        posted: PostedMessage,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        let asks_era = posted.asks_era().filter(|_| self.probes);
        let sent = if asks_era.is_some() {
            let impatient = HttpExchanger { patience: Some(PATIENCE), ..self.exchanger.clone() };
            Box::pin(impatient.exchange(Method::POST, url, headers, body)).await
        } else {
            self.exchanger.exchange(Method::POST, url, headers, body).await
        };
        if let (Some(id), Err(HttpExchangeError::Silent)) = (asks_era, &sent) {
            return Ok(json(no_such_method(id, "no answer in time")));
        }
        let answer = sent.map_err(StreamableHttpError::Client)?;
        let is_request = posted.id.is_some();
        if !answer.status.is_success() {
            return Box::pin(self.refused(answer, posted)).await;
        }
        let no_body = answer.header(CONTENT_LENGTH.as_str()) == Some("0");
        if matches!(answer.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT)
            || (!is_request && no_body)
        {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        // We ask for none, and what unpacks may be of any size.
        let packing = answer.header(CONTENT_ENCODING.as_str()).unwrap_or_default().trim();
        if is_request && !matches!(packing, "" | "identity") {
            return Err(unreadable("it is packed, which nobody asked for"));
        }
        let session = answer.header(SESSION.as_str()).map(str::to_owned);
        if answer.is(EVENTS) {
            let events = sse::read(answer.body, Arc::clone(&self.calls), posted.slot);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if !answer.is(JSON) {
            return Err(unreadable("it answers with something that is neither JSON nor events"));
        }
        let body =
            answer.bytes(self.calls.bounds.message).await.map_err(StreamableHttpError::Client)?;
        let is_taken = self.calls.take_usual(&body, posted.slot.as_ref()).is_some();
        let heard = if is_taken { None } else { self.hear(&body, &posted)? };
        match heard {
            // Some old servers answer every method that they do not know with an empty result.
            Some(ServerJsonRpcMessage::Response(heard))
                if posted.discovers && !matches!(heard.result, ServerResult::DiscoverResult(_)) =>
            {
                Ok(json(no_such_method(heard.id, "it knows no `server/discover`")))
            }
            Some(heard) => Ok(StreamableHttpPostResponse::Json(heard, session)),
            None if posted.has_ended() => Ok(StreamableHttpPostResponse::Accepted),
            None if is_request => Err(unreadable("it holds no answer to the request")),
            None => Ok(StreamableHttpPostResponse::Accepted),
        }
    }

    /// Takes in the body of an answer, and gives what the SDK waits for.
    fn hear(
        &self,
        body: &[u8],
        posted: &PostedMessage,
    ) -> Result<Option<ServerJsonRpcMessage>, HttpFailure> {
        let message = match self.calls.read(body) {
            Ok(message) => message,
            Err(_) if posted.id.is_none() => return Ok(None),
            Err(why) => return Err(unreadable(why.words())),
        };
        let mut answer = None;
        for message in frame::each(message) {
            let heard = self.calls.hear(message, posted.slot.as_ref());
            answer = heard.filter(|heard| answers(heard, posted.id.as_ref())).or(answer);
        }
        Ok(answer)
    }

    /// An answer with a status that is no success may still carry an error of the protocol.
    async fn refused(
        &self,
        answer: HttpAnswer,
        posted: PostedMessage,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        let has_session = posted.has_session;
        if answer.status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let (status, failure) = (answer.status, answer.failure());
        let is_json = answer.is(JSON);
        let body = answer.bytes(LARGEST_FAILURE).await.unwrap_or_default();
        let said = frame::read(&body, self.calls.bounds.depth).ok().filter(|_| is_json);
        let is_denial = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if said.as_ref().is_some_and(|said| said.get("result").is_some()) {
            return Err(unreadable("its status says that it failed, and its body that it did not"));
        }
        if let Some(id) = &posted.id {
            let mut said = said.filter(|said| said.get("error").is_some());
            if let Some(id) = posted.asks_era()
                && status.is_client_error()
                && !(has_session || is_denial || said.is_some())
            {
                // Whatever an old server makes of a method it does not know: it is an old one.
                return Ok(json(no_such_method(id, &format!("HTTP {status}"))));
            }
            if let Some(said) = said.as_mut().filter(|_| !is_denial) {
                // What stands before the server cannot know the id.
                let id = serde_json::to_value(id)?;
                said.as_object_mut().map(|said| said.insert("id".to_owned(), id));
                let heard = self.calls.hear(said.take(), posted.slot.as_ref());
                if let Some(message) = heard {
                    return Ok(json(message));
                }
                if posted.has_ended() {
                    return Ok(StreamableHttpPostResponse::Accepted);
                }
            }
        }
        Err(StreamableHttpError::Client(failure))
    }
}

/// Which tool a message calls, and with what.
fn called(message: &ClientJsonRpcMessage) -> Option<(&str, &Map<String, Value>)> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(request) = &request.request else { return None };
    let params = request.params.as_ref().filter(|_| request.method == "tools/call")?;
    Some((params.get("name")?.as_str()?, params.get("arguments")?.as_object()?))
}

/// Whether a message is the answer to this request, as far as it says.
fn answers(message: &ServerJsonRpcMessage, id: Option<&RequestId>) -> bool {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id) == id,
        ServerJsonRpcMessage::Error(error) => error.id.is_none() || error.id.as_ref() == id,
        ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => false,
    }
}

fn no_such_method(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why.to_owned(), None);
    ServerJsonRpcMessage::error(error, Some(id))
}

fn json(message: ServerJsonRpcMessage) -> StreamableHttpPostResponse {
    StreamableHttpPostResponse::Json(message, None)
}

fn unreadable(what: &'static str) -> HttpFailure {
    StreamableHttpError::Client(HttpExchangeError::Unreadable(what))
}

fn value(text: &str) -> Result<HeaderValue, HttpFailure> {
    HeaderValue::from_str(text).map_err(|_| unreadable("it names a session that is no header"))
}

impl StreamableHttpClient for HttpTransport {
    type Error = HttpExchangeError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: CustomHeaders,
    ) -> Result<StreamableHttpPostResponse, HttpFailure> {
        self.post(&uri, message, session_id, custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: CustomHeaders,
    ) -> Result<(), HttpFailure> {
        let headers = self.headers(Some(session_id), custom_headers)?;
        let sent = self.exchanger.exchange(Method::DELETE, &uri, headers, Bytes::new()).await;
        sent.map(|_| ()).map_err(StreamableHttpError::Client)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: CustomHeaders,
    ) -> Result<SseEventStream, HttpFailure> {
        let mut headers = self.headers(session_id, custom_headers)?;
        if let Some(last) = last_event_id {
            headers.insert(LAST_EVENT, value(&last)?);
        }
        let sent = self.exchanger.exchange(Method::GET, &uri, headers, Bytes::new()).await;
        let answer = sent.map_err(StreamableHttpError::Client)?;
        if answer.status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !answer.status.is_success() {
            return Err(StreamableHttpError::Client(answer.failure()));
        }
        if !answer.is(EVENTS) {
            return Err(unreadable("its stream is none of events"));
        }
        Ok(sse::read(answer.body, Arc::clone(&self.calls), None))
    }
}
