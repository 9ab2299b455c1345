//! A protected server, and how a request to it goes.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::Method;
use http::header::{AUTHORIZATION, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use serde_json::{Value, json};
use toolcrib_core::Secret;
use toolcrib_egress::{Egress, EgressRequest, Network};
use url::Url;

use super::issuer::Issuer;
use crate::client::http::token_provider::TokenRefusal;
use crate::client::oauth::authorizer::Authorizer;
use crate::client::oauth::error::OAuthError;
use crate::client::settings::{HttpAuthorization, HttpSettings, OAuthSettings};

pub(super) struct Resource {
    pub(super) url: Url,
    pub(super) rules: Mutex<Rules>,
    pub(super) seen: Mutex<Vec<Option<String>>>,
}

#[derive(Clone)]
pub(super) struct Rules {
    pub(super) issuer: Arc<Issuer>,
    pub(super) metadata: Value,
    pub(super) metadata_path: &'static str,
    /// Whether the refusal names the place of the metadata.
    pub(super) named: bool,
    /// What a request needs.
    pub(super) scope: &'static str,
    /// What the refusal says it needs.
    pub(super) challenged: Option<&'static str>,
    /// Accepts no token at all.
    pub(super) never: bool,
    /// Needs no token.
    pub(super) open: bool,
    /// Names this address for its metadata.
    pub(super) elsewhere: Option<String>,
}

impl Resource {
    pub(super) async fn start(issuer: &Arc<Issuer>) -> Arc<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
        let rules = Rules {
            issuer: Arc::clone(issuer),
            metadata: json!({"resource": url.as_str(), "authorization_servers": [issuer.url]}),
            metadata_path: "/.well-known/oauth-protected-resource/mcp",
            named: true,
            scope: "",
            challenged: None,
            never: false,
            open: false,
            elsewhere: None,
        };
        let resource = Arc::new(Self { url, rules: Mutex::new(rules), seen: Mutex::default() });
        let router = Router::new()
            .route("/mcp", post(serve))
            .fallback(metadata)
            .with_state(Arc::clone(&resource));
        tokio::spawn(async move { axum::serve(listener, router).await });
        resource
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Rules)) {
        change(&mut self.rules.lock().unwrap());
    }

    pub(super) fn settings(&self, oauth: OAuthSettings) -> HttpSettings {
        HttpSettings {
            url: self.url.clone(),
            headers: Vec::new(),
            authorization: HttpAuthorization::OAuth(oauth),
            network: loopback(),
        }
    }
}

async fn metadata(State(resource): State<Arc<Resource>>, uri: Uri) -> Response {
    let rules = resource.rules.lock().unwrap().clone();
    if uri.path() == rules.metadata_path {
        return Json(rules.metadata).into_response();
    }
    StatusCode::NOT_FOUND.into_response()
}

async fn serve(
    State(resource): State<Arc<Resource>>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Response {
    let rules = resource.rules.lock().unwrap().clone();
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = bearer.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    resource.seen.lock().unwrap().push(token.clone());
    let live = rules.issuer.live.lock().unwrap();
    let granted = token.as_ref().and_then(|token| live.get(token)).filter(|_| !rules.never);
    let lacks = |granted: &str| {
        rules.scope.split_whitespace().any(|scope| !granted.split(' ').any(|it| it == scope))
    };
    if rules.open {
        return answer(&body, "nobody");
    }
    let (status, error) = match granted {
        None => (StatusCode::UNAUTHORIZED, "invalid_token"),
        Some(granted) if lacks(granted) => (StatusCode::FORBIDDEN, "insufficient_scope"),
        Some(_) => return answer(&body, &token.unwrap_or_default()),
    };
    let mut challenge = format!("Bearer error=\"{error}\"");
    if rules.named {
        let at = rules.elsewhere.as_deref().unwrap_or(rules.metadata_path);
        let at = resource.url.join(at).unwrap();
        write!(challenge, ", resource_metadata=\"{at}\"").unwrap();
    }
    if let Some(scope) = rules.challenged {
        write!(challenge, ", scope=\"{scope}\"").unwrap();
    }
    (status, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
}

/// A server of the protocol with one tool, which tells the token that it was called with.
fn answer(body: &[u8], token: &str) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        return "welcome".into_response();
    };
    let mut result = match request["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "protected", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{
            "name": "whoami",
            "inputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}},
            "annotations": {"readOnlyHint": true},
        }]}),
        "tools/call" => json!({"content": [{"type": "text", "text": token}]}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    result["resultType"] = "complete".into();
    (result["ttlMs"], result["cacheScope"]) = (0.into(), "private".into());
    Json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).into_response()
}

pub(super) fn loopback() -> Network {
    Network { private: vec!["127.0.0.1".parse().unwrap()] }
}

/// One request as a connection makes it: with the token, and again with another after a refusal.
pub(super) async fn visit(url: &Url, authorizer: &Authorizer) -> Result<u16, OAuthError> {
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    let mut token = authorizer.token().await?;
    for _ in 0..3 {
        let (status, refusal) = send(&egress, url, token.as_ref()).await;
        if status != 401 && status != 403 {
            return Ok(status);
        }
        token = Some(authorizer.refused(token.as_ref(), &refusal).await?);
    }
    Ok(send(&egress, url, token.as_ref()).await.0)
}

async fn send(egress: &Egress, url: &Url, token: Option<&Secret>) -> (u16, TokenRefusal) {
    let mut request = EgressRequest::new(Method::POST, url.clone());
    if let Some(token) = token {
        let value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).unwrap();
        request.headers.insert(AUTHORIZATION, value);
    }
    let answer = egress.send(request).await.unwrap();
    let status = answer.status.as_u16();
    let challenges = answer.headers.get_all(WWW_AUTHENTICATE).iter();
    let challenges = challenges.map(|value| value.to_str().unwrap().to_owned()).collect();
    (status, TokenRefusal { status, challenges })
}

/// What a browser does: opens an address and goes where it is sent.
pub(super) async fn browse(url: Url) {
    let egress = Egress::open([], loopback()).unwrap();
    let mut next = Some(url);
    while let Some(url) = next {
        let answer = egress.send(EgressRequest::new(Method::GET, url)).await.unwrap();
        next = answer.headers.get(LOCATION).map(|to| Url::parse(to.to_str().unwrap()).unwrap());
    }
}
