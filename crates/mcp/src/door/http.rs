//! The door over HTTP: `/mcp` and `/mcp/{profile}`, one address for all revisions.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures_util::StreamExt as _;
use http::header::{HOST, ORIGIN, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use toolcrib_core::{Caller, Discovery, Trace};
use toolcrib_json::repair::read_strict;

use super::attentive::{self, Carried};
use super::desk::{Desk, Entrance, Room};
use super::once;
use super::seal::Seal;
use super::sessions::Sessions;
use super::short::{Hosts, Plain};

pub(super) const SESSION: &str = "mcp-session-id";
/// Who reads the first of two and who reads the last would not mean the same.
const ONCE: [&str; 5] = [SESSION, "mcp-protocol-version", "mcp-method", "mcp-name", DISCOVERY];
/// In it a client says how it wants the tools shown.
const DISCOVERY: &str = "toolcrib-discovery";

#[derive(Clone)]
struct Porch(Arc<Inner>);

struct Inner {
    room: Arc<Room>,
    sessions: Arc<Sessions>,
    service: StreamableHttpService<Desk, Sessions>,
    seal: Seal,
    hosts: Hosts,
}

pub(super) fn router(room: Arc<Room>) -> Router {
    let sessions = Arc::clone(&room.sessions);
    let settings = &room.settings;
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(settings.hosts.clone())
        .with_allowed_origins(settings.origins.clone())
        .enforce_origin_validation()
        .with_max_request_body_bytes(settings.largest_request)
        .with_json_response(true);
    let hosts = Hosts::new(&settings.hosts);
    config.session_store = Some(Arc::<Sessions>::clone(&sessions));
    let of_desk = Arc::clone(&room);
    let make = move || Ok(Desk::new(Arc::clone(&of_desk), None));
    let service = StreamableHttpService::new(make, Arc::clone(&sessions), config);
    let porch = Porch(Arc::new(Inner { room, sessions, service, seal: Seal::fresh(), hosts }));
    let plain =
        |State(porch): State<Porch>, request| async move { porch.enter(None, request).await };
    let profiled = |State(porch): State<Porch>, Path(profile): Path<String>, request| async move {
        porch.enter(Some(profile), request).await
    };
    Router::new().route("/mcp", any(plain)).route("/mcp/{profile}", any(profiled)).with_state(porch)
}

impl Porch {
    async fn enter(self, profile: Option<String>, request: Request) -> Response {
        match self.0.admit(profile, request).await {
            Ok(response) => response,
            Err((status, told)) => refused(status, told),
        }
    }
}

impl Inner {
    async fn admit(
        &self,
        profile: Option<String>,
        mut request: Request,
    ) -> Result<Response, (StatusCode, &'static str)> {
        let Some(caller) = request.extensions_mut().remove::<Caller>().map(Arc::new) else {
            return Err((StatusCode::UNAUTHORIZED, "log in first"));
        };
        let trace = request.extensions_mut().remove::<Trace>();
        let twice = |name| request.headers().get_all(name).iter().nth(1).is_some();
        if ONCE.into_iter().any(twice) {
            return Err((StatusCode::BAD_REQUEST, "a header that may come once came twice"));
        }
        let profile: Option<Arc<str>> = profile.map(Arc::from);
        if profile.as_ref().is_some_and(|name| !self.room.house.has_profile(&caller, name)) {
            return Err((StatusCode::NOT_FOUND, "there is nothing here"));
        }
        own_pages(request.headers_mut());
        let session = self.unseal(request.headers_mut(), &caller, profile.as_deref())?;
        let (mut request, message) = read(request, self.room.settings.largest_request).await?;
        let key = message.as_ref().and_then(once::proposed).map(Arc::new);
        let begins = |message: &Value| message.get("method").is_some_and(|is| is == "initialize");
        if message.as_ref().is_some_and(begins) {
            self.room_for_one_more()?;
        }
        let listens = message.as_ref().and_then(attentive::wanted);
        let is_alone = session.is_none();
        let discovery = discovery(request.headers())?;
        let entrance = Entrance { caller, profile, session, trace, discovery, key };
        let plain = message.filter(|_| is_alone);
        let plain = plain.and_then(|message| Plain::of(&self.hosts, request.headers(), message));
        if let Some(plain) = plain {
            return Ok(plain.answer(&self.room, entrance).await);
        }
        if let Some(wanted) = listens {
            request.extensions_mut().insert(Carried::begin(&self.room, &entrance, &wanted).await);
        }
        request.extensions_mut().insert(entrance.clone());
        let ends = *request.method() == Method::DELETE;
        let room = Arc::clone(&self.room);
        let mut response = self.service.handle(request).await.map(|body| {
            let frames = Body::new(body).into_data_stream();
            Body::from_stream(frames.map(move |frame| frame.map(|frame| room.whole.restore(frame))))
        });
        if ends && response.status() == StatusCode::ACCEPTED {
            // The session is gone already, and some clients take "accepted" for a failure.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if let Some(session) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            let Entrance { caller, profile, .. } = &entrance;
            let sealed = self.seal.put(session, caller, profile.as_deref());
            let sealed = HeaderValue::from_str(&sealed);
            let sealed = sealed.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "no session"))?;
            response.headers_mut().insert(SESSION, sealed);
        }
        Ok(response)
    }

    /// The session of a request, which must be one that this caller began; somebody else's is not
    /// there.
    fn unseal(
        &self,
        headers: &mut HeaderMap,
        caller: &Caller,
        profile: Option<&str>,
    ) -> Result<Option<Arc<str>>, (StatusCode, &'static str)> {
        let mut named = headers.get_all(SESSION).iter();
        let Some(sealed) = named.next() else { return Ok(None) };
        let unknown = (StatusCode::NOT_FOUND, "there is no such session: begin a new one");
        if named.next().is_some() {
            return Err((StatusCode::BAD_REQUEST, "`Mcp-Session-Id` is named twice"));
        }
        let sealed = sealed.to_str().map_err(|_| unknown)?;
        let session = self.seal.open(sealed, caller, profile).ok_or(unknown)?;
        let named = HeaderValue::from_str(session).map_err(|_| unknown)?;
        let conversation = self.seal.conversation(session);
        headers.insert(SESSION, named);
        Ok(Some(conversation))
    }

    fn room_for_one_more(&self) -> Result<(), (StatusCode, &'static str)> {
        if self.sessions.count() < self.room.settings.most_sessions {
            return Ok(());
        }
        Err((StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open: try again later"))
    }
}

/// A request whose body means one thing only: JSON without a key that stands for two values, and
/// not nested without end. Whoever reads it after this reads the same.
async fn read(
    request: Request,
    largest: usize,
) -> Result<(Request, Option<Value>), (StatusCode, &'static str)> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, largest).await;
    let body = body.map_err(|_| (StatusCode::PAYLOAD_TOO_LARGE, "the request is too large"))?;
    let mut message = None;
    if head.method == Method::POST {
        let text = str::from_utf8(&body).ok();
        let read = text.and_then(|text| read_strict(text).ok());
        let told = "the body must be one JSON object, read as it is";
        let read = read.filter(Value::is_object).ok_or((StatusCode::BAD_REQUEST, told))?;
        message = Some(read);
    }
    Ok((Request::from_parts(head, Body::from(body)), message))
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
fn refused(status: StatusCode, told: &str) -> Response {
    let error = json!({ "code": -32600, "message": told });
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    let mut response = (status, axum::Json(body)).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// How the client wants the tools shown, if it says so.
fn discovery(headers: &HeaderMap) -> Result<Option<Discovery>, (StatusCode, &'static str)> {
    let Some(word) = headers.get(DISCOVERY) else { return Ok(None) };
    let mode = word.to_str().ok().and_then(Discovery::read);
    let wrong = (StatusCode::BAD_REQUEST, "`toolcrib-discovery` is direct, lazy or auto");
    mode.map(Some).ok_or(wrong)
}
