//! The one way in: which host, which route, who asks, what comes; only then the answer.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::BodyExt;
use hyper::body::Body;
use hyper::upgrade::OnUpgrade;
use toolcrib_auth::{LOCAL, OPERATOR, ProtectedResource, enters, is_operator, needed};
use toolcrib_core::Caller;

use super::access_log::AccessLog;
use super::authentication::{ended, lacking, refused};
use super::body;
use super::compression::{self, compressed};
use super::guarded_body::GuardedBody;
use super::handshake::wants_socket;
use super::host_check::single;
use super::wake_filter::WakeFilter;
use crate::http::mcp;
use crate::http::page::admission::session;
use crate::http::page::door::{ListenerKind, Visit};
use crate::http::page::headers::protect;
use crate::http::page::sessions::PageSession;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::HttpReply;
use crate::http::routes::request::{GatewayRequest, QueryValues};
use crate::http::routes::route::{Route, RouteAccess};
use crate::http::routes::router::{find, unknown_route};
use crate::http::state::GatewayState;

/// By what name the log knows a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(crate) async fn answer<B: Body<Data = Bytes>>(
    gateway: Arc<GatewayState>,
    visit: Visit,
    request: Request<B>,
) -> Result<HttpReply, Infallible> {
    let began = Instant::now();
    let seen = AccessLog::of(&gateway, &request);
    let _under_way = gateway.telemetry.figures.request();
    // Pinned where it is made: it is large, and would be copied from hand to hand.
    let admitted = pin!(admit(Arc::clone(&gateway), (visit, request), &seen));
    // A panic costs the request that met it, and no other.
    let answering = AssertUnwindSafe(admitted).catch_unwind();
    let mut reply = match answering.await {
        Ok(answered) => answered.unwrap_or_else(HttpProblem::into_reply),
        Err(_) => {
            HttpProblem::new(ProblemKind::Broken, "this must not happen: tell us").into_reply()
        }
    };
    seen.answered(&gateway, reply.status(), began.elapsed());
    let headers = reply.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&seen.trace.trace_id()) {
        headers.insert(REQUEST_ID, id);
    }
    protect(headers, seen.route.get().copied());
    Ok(reply)
}

async fn admit<B: Body<Data = Bytes>>(
    gateway: Arc<GatewayState>,
    (visit, request): (Visit, Request<B>),
    seen: &AccessLog,
) -> Result<HttpReply, HttpProblem> {
    let (mut parts, body) = request.into_parts();
    let (route, segments) = here(&gateway, visit, &parts)?;
    // It is set once, by the only one who comes by here.
    let _ = seen.route.set(route);
    let session = session(&gateway, visit, &parts, route)?;
    let caller = allowed(&gateway, (&parts, session.as_ref()), route, &segments).await?;
    let is_compressed = compression::takes(&parts.method, route, &parts.headers);
    let query = QueryValues::read(parts.uri.query().unwrap_or_default(), route.query)?;
    // What anybody may ask is answered at once, and also by a server that is full.
    let place = match route.access {
        RouteAccess::Anybody => None,
        RouteAccess::Caller | RouteAccess::Operator => Some(gateway.busy.enter(&caller)?),
    };
    let listens =
        if route.path.starts_with("/mcp") { mcp::listens(&parts) } else { route.listens() };
    let listening = if listens { Some(gateway.busy.listen(&caller)?) } else { None };
    let end = (listens || route.follows()).then(|| {
        let presented = (&parts.headers, session.as_ref());
        end_of(&gateway, route, &segments, presented, &caller)
    });
    let body = match route.body {
        Some(_) => {
            if !route.judges_content() {
                is_json(&parts)?;
            }
            body::read(body, &gateway.bounds).await?
        }
        None => Bytes::new(),
    };
    let upgrade = if route.is_socket { parts.extensions.remove::<OnUpgrade>() } else { None };
    let Parts { method, uri, headers, .. } = parts;
    let (trace, trace_state) = (seen.trace, seen.trace_state.clone());
    let asked = GatewayRequest {
        gateway,
        method,
        uri,
        caller,
        visit,
        session,
        segments,
        query,
        headers,
        body,
        trace,
        trace_state,
        upgrade,
    };
    let reply = WakeFilter::new((route.answer)(asked)).await?;
    if reply.body().size_hint().exact().is_some() {
        return Ok(if is_compressed { compressed(reply).await } else { reply });
    }
    // What goes on after its head keeps its place, or goes on among those who listen.
    let place = listening.or(place);
    Ok(reply.map(|body| GuardedBody { body, end, place }.boxed_unsync()))
}

/// The route of a request, if it is one of the listener that it came in by.
fn here(
    gateway: &GatewayState,
    visit: Visit,
    parts: &Parts,
) -> Result<(&'static Route, Vec<String>), HttpProblem> {
    let is_of_page = visit.listener == ListenerKind::Page;
    let names = gateway.page.names().filter(|_| is_of_page);
    names.unwrap_or(&gateway.names).check(parts)?;
    let wants_socket = wants_socket(&parts.headers);
    let (route, segments) = find(&parts.method, parts.uri.path(), wants_socket)?;
    let has_page = gateway.page.is_at(visit.listener);
    if !has_page && route.is_page() || is_of_page && route.is_of_programs() {
        return Err(unknown_route());
    }
    Ok((route, segments))
}

/// When a stream that listens is over, if its client stays: with the server, with its session, and
/// once what it presented does not make it the caller any more that it was.
fn end_of(
    gateway: &Arc<GatewayState>,
    route: &'static Route,
    segments: &[String],
    (headers, session): (&HeaderMap, Option<&PageSession>),
    caller: &Arc<Caller>,
) -> BoxFuture<'static, ()> {
    let headers = session.map_or(headers, |session| &session.grant);
    let presented = headers.get(header::AUTHORIZATION).cloned();
    let presented = presented.map(|value| (header::AUTHORIZATION, value)).into_iter().collect();
    let (gateway, segments, caller) = (Arc::clone(gateway), segments.to_vec(), Arc::clone(caller));
    let session = session.cloned();
    Box::pin(async move {
        let presented: HeaderMap = presented;
        let revoked = gateway.guard.refuses(&presented, route.resource(&segments), &caller);
        let over = async {
            match &session {
                Some(session) => gateway.page.sessions.over(session).await,
                None => std::future::pending().await,
            }
        };
        let ended = async {
            tokio::select! {
                () = revoked => {}
                () = over => {}
            }
        };
        gateway.stop.run_until_cancelled(ended).await;
    })
}

/// The caller, if it may take this route.
async fn allowed(
    gateway: &GatewayState,
    (parts, session): (&Parts, Option<&PageSession>),
    route: &Route,
    segments: &[String],
) -> Result<Arc<Caller>, HttpProblem> {
    let resource = route.resource(segments);
    let presented = session.map_or(&parts.headers, |session| &session.grant);
    let caller = gateway.guard.caller(presented, resource).await;
    if let (Some(session), Err(problem)) = (session, &caller)
        && !problem.is_passing()
    {
        // Its key is no more, and does not come back.
        gateway.page.sessions.end(session);
        let why = "what it began with is not accepted any more";
        return Err(ended(&gateway.guard.access(), resource, why));
    }
    let caller = caller?;
    let Some(caller) = caller else {
        return match route.access {
            RouteAccess::Anybody => Ok(Caller::new("", "anybody").into()),
            RouteAccess::Caller | RouteAccess::Operator => {
                Err(refused(&gateway.guard.access(), resource, None))
            }
        };
    };
    match route.access {
        RouteAccess::Operator if !is_operator(&caller) && caller.tenant == LOCAL => {
            Err(HttpProblem::new(ProblemKind::Forbidden, "use the token of the caller `local`"))
        }
        RouteAccess::Operator if !is_operator(&caller) => {
            Err(lacking(&gateway.guard.access(), resource, OPERATOR))
        }
        RouteAccess::Caller if route.tells_operators() && is_operator(&caller) => Ok(caller),
        RouteAccess::Caller if !enters(&caller) => {
            let profile = match resource {
                ProtectedResource::Profile(name) => Some(name),
                ProtectedResource::Whole | ProtectedResource::Mcp => None,
            };
            Err(lacking(&gateway.guard.access(), resource, &needed(profile)))
        }
        RouteAccess::Anybody | RouteAccess::Caller | RouteAccess::Operator => Ok(caller),
    }
}

/// A page of another site can send a form or a plain text without asking; JSON it cannot.
fn is_json(parts: &Parts) -> Result<(), HttpProblem> {
    let kind = single(&parts.headers, &header::CONTENT_TYPE)?.unwrap_or_default();
    let (kind, _) = kind.split_once(';').unwrap_or((kind, ""));
    let kind = kind.trim().to_ascii_lowercase();
    // `application/a2a+json` is what agents of A2A send.
    let is_kind_of_json = kind.starts_with("application/") && kind.ends_with("+json");
    if kind == "application/json" || is_kind_of_json || parts.method == Method::GET {
        return Ok(());
    }
    Err(HttpProblem::new(ProblemKind::NotJson, "send `Content-Type: application/json`"))
}
