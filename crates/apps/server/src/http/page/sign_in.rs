//! `/v1/session`: to begin a session, to ask about it, to end it, and to let another browser begin
//! one.

mod qr;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_auth::{ProtectedResource, is_operator};
use toolcrib_core::Caller;
use url::Url;

use super::role::{VIEW, role};
use super::sessions::{CODE_LIFE, LONGEST, SessionGrant, SignInRefusal};
use crate::http::pipeline::authentication::{ended, lacking};
use crate::http::rest::sources::EmptyBody;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// What signs in; without a code, the token of the request does.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignInBody {
    /// The code that `toolcrib serve` and `toolcrib open` print behind `#login=`. It is good once.
    #[serde(default)]
    #[schemars(length(max = 256))]
    code: Option<String>,
}

/// Seconds after which wrong codes are forgotten.
const LATER: HeaderValue = HeaderValue::from_static("60");

pub(crate) fn begin(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: SignInBody = asked.json()?;
        let gateway = &asked.gateway;
        super::admission::same_page(gateway, &asked.headers)?;
        let grant = grant(&asked, body.code.as_deref())?;
        // What the code stands for may have been taken out meanwhile.
        let found = gateway.guard.caller(&grant, ProtectedResource::Whole).await?;
        let caller = found.ok_or_else(|| {
            let why = "it brings neither a code nor a token";
            ended(&gateway.guard.access(), ProtectedResource::Whole, why)
        })?;
        if role(&caller).is_none() {
            return Err(lacking(&gateway.guard.access(), ProtectedResource::Whole, VIEW));
        }
        let whose = (caller.tenant.as_str(), caller.subject.as_str());
        let halves = gateway.page.sessions.begin(grant, whose, Instant::now()).map_err(problem)?;
        gateway.telemetry.watched.begin();
        let mut told = told(&asked, &caller, Some(LONGEST));
        if let Value::Object(fields) = &mut told {
            fields.insert("page_key".to_owned(), halves.page.into());
        }
        let secure = if gateway.page.is_https() { "; Secure" } else { "" };
        let cookie = format!(
            "{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}",
            gateway.page.cookie(),
            halves.cookie,
            LONGEST.as_secs(),
        );
        let mut reply = reply(&told);
        if let Ok(mut cookie) = HeaderValue::from_str(&cookie) {
            cookie.set_sensitive(true);
            reply.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        Ok(reply)
    })
}

/// What the session is to be good for: what a code was made with, else the token of the request.
fn grant(asked: &GatewayRequest, code: Option<&str>) -> Result<SessionGrant, HttpProblem> {
    if let Some(code) = code {
        let spent = asked.gateway.page.sessions.spend(code, asked.visit.peer, Instant::now());
        return spent.map_err(|refusal| match refusal {
            SignInRefusal::WrongCode => {
                let why = "its code is none of this server, was used, or is too old";
                ended(&asked.gateway.guard.access(), ProtectedResource::Whole, why)
            }
            SignInRefusal::TooMany | SignInRefusal::Full => problem(refusal),
        });
    }
    Ok(presented(&asked.headers))
}

/// The token of a request, and nothing else of it.
fn presented(headers: &HeaderMap) -> SessionGrant {
    let token = headers.get(header::AUTHORIZATION).cloned();
    let token = token.map(|mut value| {
        value.set_sensitive(true);
        (header::AUTHORIZATION, value)
    });
    Arc::new(token.into_iter().collect())
}

fn problem(refusal: SignInRefusal) -> HttpProblem {
    let detail = match refusal {
        SignInRefusal::Full => "as many are signed in as there is room for: let one sign out",
        SignInRefusal::TooMany | SignInRefusal::WrongCode => {
            "too many wrong codes came from this address: wait a minute"
        }
    };
    HttpProblem::new(ProblemKind::TooMany, detail).with(header::RETRY_AFTER, LATER)
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let left = asked.session.as_ref().map(|session| session.left);
        Ok(reply(&told(&asked, &asked.caller, left)))
    })
}

/// A session ends itself; a token, all sessions of its caller.
pub(crate) fn end(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let sessions = &asked.gateway.page.sessions;
        let ended = match &asked.session {
            Some(session) => {
                sessions.end(session);
                1
            }
            None => sessions.end_all((asked.caller.tenant.as_str(), asked.caller.subject.as_str())),
        };
        Ok(reply(&json!({ "ended": ended })))
    })
}

/// The sessions of the caller; those of all, for an operator.
pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let sessions = &asked.gateway.page.sessions;
        let rows = sessions.list(within(&asked.caller), asked.session.as_ref(), Instant::now());
        Ok(reply(&json!({ "sessions": rows })))
    })
}

/// Ends one of them.
pub(crate) fn end_one(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let sessions = &asked.gateway.page.sessions;
        if sessions.end_one(asked.segment(), within(&asked.caller)) {
            return Ok(reply(&json!({ "ended": 1 })));
        }
        let detail = "no session has this name, or it is over: `GET /v1/sessions` lists them";
        Err(HttpProblem::new(ProblemKind::UnknownSession, detail))
    })
}

/// Whose sessions a caller may look at and end; `None`: those of all.
fn within(caller: &Caller) -> Option<(&str, &str)> {
    (!is_operator(caller)).then_some((caller.tenant.as_str(), caller.subject.as_str()))
}

/// A link that signs one more browser in, as whoever asks.
pub(crate) fn link(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let EmptyBody {} = asked.json()?;
        let grant = match &asked.session {
            Some(session) => Arc::clone(&session.grant),
            None => presented(&asked.headers),
        };
        let door = &asked.gateway.page;
        let shown = door.shown().ok_or_else(|| {
            let detail = "this server has no page where others reach it: `[page]` says whether";
            HttpProblem::new(ProblemKind::UnknownRoute, detail)
        })?;
        // Whoever asks where the page is comes by a name that leads here.
        let own = asked.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = own.filter(|_| door.is_at(asked.visit.listener)).unwrap_or(shown);
        let code = door.sessions.code(grant, Instant::now());
        let phone = match reachable(&asked) {
            Ok(host) => of_phone(&format!("https://{host}/#login={code}")),
            Err(why) => json!({ "url": null, "qr": null, "why": why }),
        };
        let url = door.link(host, &code);
        Ok(reply(&json!({ "url": url, "expires": later(CODE_LIFE), "phone": phone })))
    })
}

/// The name by which a phone reaches the page, or why there is none.
fn reachable(asked: &GatewayRequest) -> Result<String, &'static str> {
    let door = &asked.gateway.page;
    if !door.is_https() {
        return Err("browsers come to this page without TLS, and a phone is let in over https \
                    alone: set `url` and `tls`, or a proxy, under `[server]`, and `public` or \
                    `listen` under `[page]`");
    }
    let access = asked.gateway.guard.access();
    let url = access.url().filter(|url| url.scheme() == "https");
    // That of the server is none of a page with an address of its own.
    if let Some(host) = url.and_then(Url::host_str).filter(|_| door.names().is_none()) {
        let port = url.and_then(Url::port).map_or_else(String::new, |port| format!(":{port}"));
        return Ok(format!("{host}{port}"));
    }
    let shown = door.shown().filter(|_| !door.is_near());
    shown.map(ToOwned::to_owned).ok_or(
        "this page is reached from this machine alone: set `url` under `[server]`, by which others \
         reach it",
    )
}

/// A link, and the code that a camera reads.
fn of_phone(url: &str) -> Value {
    let code = qr::qr(url);
    let why = code.is_none().then_some("the address is too long for a code: type it");
    json!({ "url": url, "qr": code, "why": why })
}

fn later(after: Duration) -> String {
    let seconds = i64::try_from(after.as_secs()).unwrap_or(i64::MAX);
    let now = Timestamp::now().as_second();
    Timestamp::from_second(now.saturating_add(seconds)).unwrap_or(Timestamp::MAX).to_string()
}

/// Who asks, and what the page may offer. `left`: how long a session lasts yet; `None`: a token
/// asks.
fn told(asked: &GatewayRequest, caller: &Caller, left: Option<Duration>) -> Value {
    let gateway = &asked.gateway;
    let scopes: Vec<_> = caller.scopes.iter().collect();
    json!({
        "tenant": caller.tenant,
        "subject": caller.subject,
        "role": role(caller),
        "scopes": scopes,
        "expires": left.map(later),
        "server": {
            "name": "toolcrib",
            "version": env!("CARGO_PKG_VERSION"),
            "started": gateway.page.started.to_string(),
            "epoch": gateway.page.epoch,
            "ready": gateway.started.load(Ordering::Relaxed),
        },
        "features": {
            "record": gateway.store.is_some(),
            "audit": gateway.telemetry.audit.is_some(),
            "keep": gateway.telemetry.watched.keeps(),
        },
    })
}
