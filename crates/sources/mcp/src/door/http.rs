//! The door over HTTP: `/mcp` and `/mcp/{profile}`, one address for all revisions.

mod allowed_hosts;
mod headers;
mod messages;
mod replies;
mod sessions;
mod shared_timer;

use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http::header::{ALLOW, HOST, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Request, StatusCode};
use toolcrib_core::{Caller, Discovery, Trace, TraceState};

use super::session::McpSessionRegistry;
use super::state::{McpRequestContext, McpServerState};
use crate::door::methods::dispatch::hear_again;
use crate::door::session::event_log::EventLog;
use crate::door::session::token::{ResolvedSession, SessionTokens};
use allowed_hosts::AllowedHosts;
use headers::{EVENTS, Era};
use replies::{HttpRefusal, ListeningStream, failed, refused, request_events};
use shared_timer::SharedTimer;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// In it a client says how it wants the tools shown.
const DISCOVERY: HeaderName = HeaderName::from_static("toolcrib-discovery");
/// Who reads the first of two and who reads the last would not mean the same.
const ONCE: [HeaderName; 6] =
    [HOST, SESSION, headers::REVISION, headers::METHOD, headers::NAME, DISCOVERY];
const TOO_LARGE: HttpRefusal = (StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
const NO_SESSION: HttpRefusal =
    (StatusCode::NOT_FOUND, "there is no such session: begin a new one");
const SESSION_MISSING: HttpRefusal =
    (StatusCode::BAD_REQUEST, "the header `Mcp-Session-Id` is missing: begin by `initialize`");

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

struct HttpHandlerInner {
    server_state: Arc<McpServerState>,
    sessions: Arc<McpSessionRegistry>,
    tokens: SessionTokens,
    hosts: AllowedHosts,
    timer: Arc<SharedTimer>,
}

/// A request of which it is known who asks.
struct HttpRequest {
    head: Parts,
    request_context: McpRequestContext,
    session: Option<ResolvedSession>,
}

impl McpHttpHandler {
    pub(super) fn new(
        server_state: Arc<McpServerState>,
        sessions: Arc<McpSessionRegistry>,
    ) -> Self {
        let settings = &server_state.settings;
        let hosts = AllowedHosts::new(&settings.hosts, &settings.origins);
        let tokens = SessionTokens::new(server_state.persistence.secret.as_ref());
        let timer = Arc::default();
        Self(Arc::new(HttpHandlerInner { server_state, sessions, tokens, hosts, timer }))
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
        named_by_address(&mut head);
        let headers = &head.headers;
        let twice = |name: &HeaderName| headers.get_all(name).iter().nth(1).is_some();
        // Of most requests the two counts tell that no header came twice.
        if headers.len() > headers.keys_len() && ONCE.iter().any(twice) {
            return Err((StatusCode::BAD_REQUEST, "a header that may come once came twice"));
        }
        if !self.hosts.admit(headers) {
            return Err((
                StatusCode::FORBIDDEN,
                "this server is not called so: name it in `names`",
            ));
        }
        if !self.hosts.admit_page(headers) {
            let told = "no page of this origin may ask: name it in `origins`";
            return Err((StatusCode::FORBIDDEN, told));
        }
        let profile: Option<Arc<str>> = profile.map(Arc::from);
        let Some(crib) = self.server_state.cribs.crib(profile.as_deref()) else {
            return Err((StatusCode::NOT_FOUND, "there is nothing here"));
        };
        let session = self.unseal(headers, &caller, profile.as_ref()).await?;
        let discovery = discovery(headers)?;
        let conversation = session.as_ref().map(|session| Arc::clone(&session.conversation));
        let request_context = McpRequestContext {
            caller,
            profile,
            crib,
            session: conversation,
            trace,
            trace_state,
            discovery,
            key: None,
        };
        let body = body.await?;
        if body.len() > self.server_state.settings.request.bytes {
            return Err(TOO_LARGE);
        }
        let request = HttpRequest { head, request_context, session };
        match request.head.method {
            Method::POST => self.post(request, body).await,
            Method::GET => self.get(&request).await,
            Method::DELETE => self.delete(&request).await,
            _ => Ok(not_allowed("GET, POST, DELETE")),
        }
    }

    /// A stream of an older client: of what belongs to no request, or the rest of one that broke.
    async fn get(&self, request: &HttpRequest) -> Result<Response, HttpRefusal> {
        let headers = &request.head.headers;
        if !headers::accepts(headers, EVENTS) {
            return Err((StatusCode::NOT_ACCEPTABLE, "a stream is text/event-stream: accept it"));
        }
        match headers::era_without_message(headers) {
            Err(error) => return Ok(failed(None, &error)),
            Ok(Era::Modern) => return Ok(not_allowed("POST")),
            Ok(Era::Older) => {}
        }
        let session = self.session_of(request).await?;
        hear_again(&self.server_state, &request.request_context, &session.conversation);
        let Some(behind) = headers.get(LAST_EVENT) else {
            return Ok(ListeningStream::of(session, None));
        };
        // One that names no event of ours would come back for ever if it were refused.
        let behind = behind.to_str().unwrap_or_default();
        let (count, stream) = match behind.split_once('/') {
            Some((count, stream)) => (count.parse().ok(), Some(stream.parse::<u64>().ok())),
            None => (behind.parse().ok(), None),
        };
        let gone = || {
            let ended = EventLog::of_session(Arc::default(), 0);
            ended.end(None);
            request_events(ended.read(None), false)
        };
        Ok(match (count, stream) {
            (Some(count), None) => ListeningStream::of(session, Some(count)),
            (Some(count), Some(Some(stream))) => session
                .streams
                .find(stream)
                .map_or_else(gone, |log| request_events(log.read(Some(count)), false)),
            _ => gone(),
        })
    }

    async fn delete(&self, request: &HttpRequest) -> Result<Response, HttpRefusal> {
        match headers::era_without_message(&request.head.headers) {
            Err(error) => return Ok(failed(None, &error)),
            Ok(Era::Modern) => return Ok(not_allowed("POST")),
            Ok(Era::Older) => {}
        }
        let named = request.session.as_ref().ok_or(SESSION_MISSING)?;
        self.sessions.end(named).await.map_err(sessions::refusal)?;
        // Some clients take "accepted" for a failure.
        Ok(replies::empty(StatusCode::NO_CONTENT))
    }
}

/// A request of HTTP/2 says in its address how this server is called, and may have no `Host`.
fn named_by_address(head: &mut Parts) {
    let Some(authority) = head.uri.authority().filter(|_| !head.headers.contains_key(HOST)) else {
        return;
    };
    // What stands before an `@` names no server.
    let named = authority.as_str().rsplit('@').next().map(HeaderValue::from_str);
    head.headers.extend(named.and_then(Result::ok).map(|named| (HOST, named)));
}

fn not_allowed(allowed: &'static str) -> Response {
    let told = "there is no such method here";
    let mut response = refused((StatusCode::METHOD_NOT_ALLOWED, told));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// How the client wants the tools shown, if it says so.
fn discovery(headers: &HeaderMap) -> Result<Option<Discovery>, HttpRefusal> {
    let Some(word) = headers.get(DISCOVERY) else { return Ok(None) };
    let mode = word.to_str().ok().and_then(Discovery::read);
    let wrong = (StatusCode::BAD_REQUEST, "`toolcrib-discovery` is direct, lazy or auto");
    mode.map(Some).ok_or(wrong)
}
