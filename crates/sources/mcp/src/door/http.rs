//! The door over HTTP: `/mcp` and `/mcp/{profile}`, one address for all revisions.

mod allowed_hosts;
mod fast_path;
pub(crate) mod fast_request;
pub(crate) mod session_fast_path;

use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{CONTENT_TYPE, HOST, ORIGIN, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use rmcp::model::RequestId;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use toolcrib_core::{Caller, Discovery, Trace, TraceState};
use toolcrib_json::repair::RepairBounds;

use super::session::McpSessionRegistry;
use super::state::{McpRequestContext, McpServerState};
use crate::door::call::idempotency;
use crate::door::client::early_subscription::{self, EarlySubscription};
use crate::door::messages::batch;
use crate::door::messages::validation;
use crate::door::sdk::handler::RmcpHandler;
use crate::door::session::token::SessionTokens;
use crate::door::stdio::input_filter::{self, INVALID_REQUEST, PARSE_ERROR, TWICE};
use allowed_hosts::AllowedHosts;
use fast_request::{ClientMetaCache, FastRequest};
use session_fast_path::{EarlyCall, EarlyStart};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// In it a client says how it wants the tools shown.
const DISCOVERY: HeaderName = HeaderName::from_static("toolcrib-discovery");
/// Who reads the first of two and who reads the last would not mean the same.
const ONCE: [HeaderName; 5] = [
    SESSION,
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    DISCOVERY,
];
const TOO_LARGE: HttpRefusal = (StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
const NO_MESSAGE: &str = "the body must be one JSON object, read as it is";

/// The door over HTTP, for a server that has routes, authentication and bounds of its own. Cheap
/// to clone; clones are the same door.
#[derive(Clone)]
pub struct McpHttpHandler(Arc<HttpHandlerInner>);

/// Who comes, and how.
#[derive(Debug)]
pub struct AuthenticatedCaller {
    pub caller: Arc<Caller>,
    /// The profile whose door it is; `None`: that of the whole crib.
    pub profile: Option<String>,
    /// Where the request stands in a trace; `None`: nobody keeps any.
    pub trace: Option<Trace>,
    /// What others wrote beside that place.
    pub trace_state: Option<TraceState>,
}

pub(super) struct HttpHandlerInner {
    server_state: Arc<McpServerState>,
    sessions: Arc<McpSessionRegistry>,
    service: StreamableHttpService<RmcpHandler, McpSessionRegistry>,
    seal: SessionTokens,
    hosts: AllowedHosts,
    remembered: ClientMetaCache,
}

type HttpRefusal = (StatusCode, &'static str);

impl McpHttpHandler {
    pub(super) fn new(server_state: Arc<McpServerState>) -> Self {
        let sessions = Arc::clone(&server_state.sessions);
        let settings = &server_state.settings;
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(settings.hosts.clone())
            .with_allowed_origins(settings.origins.clone())
            .enforce_origin_validation()
            .with_max_request_body_bytes(settings.request.bytes)
            .with_json_response(true);
        let hosts = AllowedHosts::new(&settings.hosts);
        config.session_store = Some(Arc::<McpSessionRegistry>::clone(&sessions));
        let of_server = Arc::clone(&server_state);
        let make = move || Ok(RmcpHandler::new(Arc::clone(&of_server), None));
        let service = StreamableHttpService::new(make, Arc::clone(&sessions), config);
        Self(Arc::new(HttpHandlerInner {
            server_state,
            sessions,
            service,
            seal: SessionTokens::fresh(),
            hosts,
            remembered: ClientMetaCache::default(),
        }))
    }

    /// Answers one request, whose body was read.
    pub async fn answer(&self, guest: AuthenticatedCaller, request: Request<Bytes>) -> Response {
        let (head, body) = request.into_parts();
        let body = async { Ok(body) };
        // Pinned where it is made: it is large, and would be copied from hand to hand.
        pin!(self.0.admit(guest, head, body)).await.unwrap_or_else(refused)
    }

    pub(super) fn router(self) -> Router {
        let plain = |State(http_handler): State<Self>, request| async move {
            http_handler.enter(None, request).await
        };
        let profiled = |State(http_handler): State<Self>, Path(profile): Path<String>, request| async move {
            http_handler.enter(Some(profile), request).await
        };
        let router = Router::new().route("/mcp", any(plain));
        router.route("/mcp/{profile}", any(profiled)).with_state(self)
    }

    async fn enter(self, profile: Option<String>, mut request: Request<Body>) -> Response {
        let Some(caller) = request.extensions_mut().remove::<Caller>() else {
            return refused((StatusCode::UNAUTHORIZED, "log in first"));
        };
        let trace = request.extensions_mut().remove::<Trace>();
        let trace_state = request.extensions_mut().remove::<TraceState>();
        let (head, body) = request.into_parts();
        let body = async {
            let body = axum::body::to_bytes(body, self.0.server_state.settings.request.bytes).await;
            body.map_err(|_| TOO_LARGE)
        };
        let guest = AuthenticatedCaller { caller: Arc::new(caller), profile, trace, trace_state };
        self.0.admit(guest, head, body).await.unwrap_or_else(refused)
    }
}

impl HttpHandlerInner {
    async fn admit(
        self: &Arc<Self>,
        guest: AuthenticatedCaller,
        mut head: Parts,
        body: impl Future<Output = Result<Bytes, HttpRefusal>>,
    ) -> Result<Response, HttpRefusal> {
        let AuthenticatedCaller { caller, profile, trace, trace_state } = guest;
        let headers = &mut head.headers;
        let twice = |name: &HeaderName| headers.get_all(name).iter().nth(1).is_some();
        // Of most requests the two counts tell that no header came twice.
        if headers.len() > headers.keys_len() && ONCE.iter().any(twice) {
            return Err((StatusCode::BAD_REQUEST, "a header that may come once came twice"));
        }
        let profile: Option<Arc<str>> = profile.map(Arc::from);
        let Some(crib) = self.server_state.cribs.crib(profile.as_deref()) else {
            return Err((StatusCode::NOT_FOUND, "there is nothing here"));
        };
        own_pages(headers);
        let session = self.unseal(headers, &caller, profile.as_ref())?;
        let discovery = discovery(headers)?;
        let request_context = McpRequestContext {
            caller,
            profile,
            crib,
            session,
            trace,
            trace_state,
            discovery,
            key: None,
        };
        let body = body.await?;
        if body.len() > self.server_state.settings.request.bytes {
            return Err(TOO_LARGE);
        }
        if head.method == Method::POST && request_context.session.is_some() {
            if batch::opens(&body) && self.has_batches(&head.headers) {
                // Rare, and large.
                return Ok(Box::pin(self.batch(request_context, head, &body)).await);
            }
            // Large, and moved about before it is first polled.
            return Box::pin(self.in_session(request_context, head, body)).await;
        }
        if head.method == Method::POST
            && let Some(plain) = FastRequest::read(
                (&self.hosts, &self.remembered),
                &head.headers,
                (&body, &self.server_state.settings.request),
            )
        {
            // A call may wait long, and would hold the buffers that both are parts of.
            drop((head, body));
            return Ok(plain.answer(&self.server_state, request_context).await);
        }
        // Large, and slower by itself.
        Box::pin(self.by_sdk(request_context, head, body)).await
    }

    /// Whether whoever is at this session may say several things at once.
    fn has_batches(&self, headers: &HeaderMap) -> bool {
        let session = headers.get(SESSION).and_then(|id| id.to_str().ok());
        session.is_some_and(|session| self.sessions.has_batches(session))
    }

    async fn batch(
        self: &Arc<Self>,
        request_context: McpRequestContext,
        head: Parts,
        body: &[u8],
    ) -> Response {
        let read = match str::from_utf8(body) {
            Ok(text) => self
                .server_state
                .settings
                .request
                .read_strict(text)
                .map(|_| text)
                .map_err(|error| input_filter::code(&error)),
            Err(_) => Err(PARSE_ERROR),
        };
        match read.map(batch::split) {
            Ok(Ok(pieces)) => batch::answer(self, request_context, head, pieces).await,
            Ok(Err(told)) => said((StatusCode::BAD_REQUEST, &told), INVALID_REQUEST),
            Err(code) => said((StatusCode::BAD_REQUEST, NO_MESSAGE), code),
        }
    }

    /// What is said in a session. The SDK hears of what is not answered at once.
    pub(super) async fn in_session(
        &self,
        request_context: McpRequestContext,
        mut head: Parts,
        body: Bytes,
    ) -> Result<Response, HttpRefusal> {
        let session = head.headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
        if let Some(plain) = FastRequest::read_of_session(
            &self.hosts,
            &head.headers,
            (&body, &self.server_state.settings.request),
        ) && let Some(client) = self.sessions.begin(session, &plain.id)
        {
            match session_fast_path::begin(
                &self.server_state,
                request_context.clone(),
                plain,
                client,
            )
            .await
            {
                EarlyStart::Answered(response) => return Ok(response),
                EarlyStart::Early(early) => {
                    head.extensions.insert(early.clone());
                    let answered = Box::pin(self.by_sdk(request_context, head, body)).await;
                    if !answered.as_ref().is_ok_and(|answer| answer.status().is_success()) {
                        early.give_up();
                    }
                    return answered;
                }
            }
        }
        Box::pin(self.by_sdk(request_context, head, body)).await
    }

    async fn by_sdk(
        &self,
        mut request_context: McpRequestContext,
        head: Parts,
        body: Bytes,
    ) -> Result<Response, HttpRefusal> {
        let bounds = &self.server_state.settings.request;
        let message = match (head.method == Method::POST).then(|| read(&body, bounds)).transpose() {
            Ok(message) => message,
            Err((code, told)) => return Ok(said((StatusCode::BAD_REQUEST, told), code)),
        };
        let mut request = Request::from_parts(head, Body::from(body));
        request_context.key = message.as_ref().and_then(idempotency::proposed).map(Arc::new);
        let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
        let asked = message.as_ref().and_then(asked).zip(session).map(|(id, session)| {
            let has_begun = request.extensions().get::<EarlyCall>().is_some();
            self.sessions.asks(session, &id, has_begun).ok_or(id)
        });
        let _coming = match asked.transpose() {
            Ok(coming) => coming,
            Err(id) => return Ok(asked_twice(&id)),
        };
        let begins = |message: &Value| message.get("method").is_some_and(|is| is == "initialize");
        match (&message, session) {
            (Some(message), None) if begins(message) => {
                self.room_for_one_more(&request_context.caller)?;
            }
            (Some(message), Some(session)) if begins(message) => self.sessions.is_of(session, None),
            (Some(message), Some(session)) => {
                // The SDK does not know of the request, or knew of it before it gave its place up.
                if let Some(id) = fast_request::cancelled(&self.hosts, request.headers(), message) {
                    self.sessions.cancel(session, &id);
                }
            }
            _ => {}
        }
        if let Some(wanted) = message.as_ref().and_then(early_subscription::wanted) {
            request.extensions_mut().insert(
                EarlySubscription::begin(&self.server_state, &request_context, &wanted).await,
            );
        }
        drop(message);
        request.extensions_mut().insert(request_context.clone());
        let ends = *request.method() == Method::DELETE;
        let server_state = Arc::clone(&self.server_state);
        let mut response = self.heard(request).await?.map(|body| {
            let frames = body.into_data_stream();
            Body::from_stream(
                frames.map(move |frame| frame.map(|frame| server_state.whole.restore(frame))),
            )
        });
        if ends && response.status() == StatusCode::ACCEPTED {
            // The session is gone already, and some clients take "accepted" for a failure.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if let Some(session) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            let McpRequestContext { caller, profile, .. } = &request_context;
            self.sessions.belongs(session, caller);
            let sealed = self.seal.put(session, caller, profile.as_deref());
            let sealed = HeaderValue::from_str(&sealed);
            let sealed = sealed.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "no session"))?;
            response.headers_mut().insert(SESSION, sealed);
        }
        Ok(response)
    }

    /// What the SDK answers. A session that sleeps is woken also where its client goes away
    /// meanwhile: it would stay half awake.
    async fn heard(&self, request: Request<Body>) -> Result<Response, HttpRefusal> {
        let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
        if !session.is_some_and(|session| self.sessions.has_to_wake(session)) {
            return Ok(self.service.handle(request).await.map(Body::new));
        }
        let service = self.service.clone();
        let heard = tokio::spawn(async move { service.handle(request).await }).await;
        heard
            .map(|response| response.map(Body::new))
            .map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "the session did not wake"))
    }

    /// The session of a request, which must be one that this caller began; somebody else's is not
    /// there.
    fn unseal(
        &self,
        headers: &mut HeaderMap,
        caller: &Arc<Caller>,
        profile: Option<&Arc<str>>,
    ) -> Result<Option<Arc<str>>, HttpRefusal> {
        let mut named = headers.get_all(SESSION).iter();
        let Some(sealed) = named.next() else { return Ok(None) };
        let unknown = (StatusCode::NOT_FOUND, "there is no such session: begin a new one");
        if named.next().is_some() {
            return Err((StatusCode::BAD_REQUEST, "`Mcp-Session-Id` is named twice"));
        }
        let sealed = sealed.to_str().map_err(|_| unknown)?;
        let opened = self.seal.open(sealed, caller, profile).ok_or(unknown)?;
        headers.insert(SESSION, opened.session);
        Ok(Some(opened.conversation))
    }

    fn room_for_one_more(&self, caller: &Caller) -> Result<(), HttpRefusal> {
        let settings = &self.server_state.settings;
        if self.sessions.count() >= settings.most_sessions {
            let told = "too many sessions are open: try again later";
            return Err((StatusCode::SERVICE_UNAVAILABLE, told));
        }
        if self.sessions.of(caller) >= settings.sessions_per_caller {
            let told = "this caller has as many sessions open as one may have: end one of them";
            return Err((StatusCode::TOO_MANY_REQUESTS, told));
        }
        Ok(())
    }
}

/// A body that is a message and means one thing only: JSON without a key that stands for two
/// values, and not nested without end. Whoever reads it after this reads the same. `Err`: what is
/// wrong, and the code of that.
fn read(body: &[u8], bounds: &RepairBounds) -> Result<Value, (i32, &'static str)> {
    let text = str::from_utf8(body).map_err(|_| (PARSE_ERROR, NO_MESSAGE))?;
    let read =
        bounds.read_strict(text).map_err(|error| (input_filter::code(&error), NO_MESSAGE))?;
    let message = read.as_object().ok_or((INVALID_REQUEST, NO_MESSAGE))?;
    validation::check(message).map_err(|told| (INVALID_REQUEST, told))?;
    Ok(read)
}

/// The id of a request.
fn asked(message: &Value) -> Option<RequestId> {
    validation::id(message.as_object().filter(|message| message.contains_key("method"))?)
}

fn asked_twice(id: &RequestId) -> Response {
    let json = HeaderValue::from_static("application/json");
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, json)], batch::refusal(Some(id), TWICE))
        .into_response()
}

/// A page of our own address is no foreign one. Which addresses are ours is checked after this,
/// by the name that the request is addressed to.
fn own_pages(headers: &mut HeaderMap) {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return };
    let (Ok(origin), Some(host)) = (origin.to_str(), headers.get(HOST)) else { return };
    let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    if place.is_some_and(|place| place.as_bytes() == host.as_bytes()) {
        headers.remove(ORIGIN);
    }
}

/// A refusal before the protocol is reached, in its shape.
pub(super) fn refused(refusal: HttpRefusal) -> Response {
    said(refusal, INVALID_REQUEST)
}

fn said((status, told): (StatusCode, &str), code: i32) -> Response {
    let error = json!({ "code": code, "message": told });
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    let mut response = (status, axum::Json(body)).into_response();
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// How the client wants the tools shown, if it says so.
fn discovery(headers: &HeaderMap) -> Result<Option<Discovery>, HttpRefusal> {
    let Some(word) = headers.get(DISCOVERY) else { return Ok(None) };
    let mode = word.to_str().ok().and_then(Discovery::read);
    let wrong = (StatusCode::BAD_REQUEST, "`toolcrib-discovery` is direct, lazy or auto");
    mode.map(Some).ok_or(wrong)
}
