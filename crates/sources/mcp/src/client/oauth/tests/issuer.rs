//! An authorization server that holds clients to the standards.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

/// How it behaves; each test sets what it is about.
#[derive(Clone)]
pub(super) struct Manners {
    pub(super) metadata: BTreeMap<&'static str, Value>,
    pub(super) metadata_path: &'static str,
    /// What `iss` says in the answer; `None`: it is left out.
    pub(super) iss: Option<String>,
    pub(super) refresh: Refresh,
    pub(super) lifetime: u64,
    /// The scopes that it grants; `None`: all that are asked for.
    pub(super) grants: Option<&'static str>,
    /// Answers errors with everything that it was sent.
    pub(super) echo: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Refresh {
    Good,
    Status(u16),
    Code(&'static str),
}

/// One request to the token endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked {
    pub(super) grant: String,
    pub(super) client: String,
    pub(super) method: String,
    pub(super) form: HashMap<String, String>,
}

pub(super) struct Issuer {
    pub(super) url: String,
    pub(super) manners: Mutex<Manners>,
    pub(super) registered: Mutex<Vec<Value>>,
    pub(super) authorized: Mutex<Vec<HashMap<String, String>>>,
    pub(super) asked: Mutex<Vec<Asked>>,
    /// Access tokens that are good, with their scopes.
    pub(super) live: Mutex<HashMap<String, String>>,
    codes: Mutex<HashMap<String, HashMap<String, String>>>,
    refresh_tokens: Mutex<HashMap<String, String>>,
    count: Mutex<u32>,
}

impl Issuer {
    pub(super) async fn start() -> Arc<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let manners = Manners {
            metadata: BTreeMap::new(),
            metadata_path: "/.well-known/oauth-authorization-server",
            iss: Some(url.clone()),
            refresh: Refresh::Good,
            lifetime: 3600,
            grants: None,
            echo: false,
        };
        let issuer = Arc::new(Self {
            url,
            manners: Mutex::new(manners),
            registered: Mutex::default(),
            authorized: Mutex::default(),
            asked: Mutex::default(),
            live: Mutex::default(),
            codes: Mutex::default(),
            refresh_tokens: Mutex::default(),
            count: Mutex::default(),
        });
        let router = Router::new()
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .fallback(get(metadata))
            .with_state(Arc::clone(&issuer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        issuer
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Manners)) {
        change(&mut self.manners.lock().unwrap());
    }

    pub(super) fn asked_for(&self, grant: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|asked| asked.grant == grant).cloned().collect()
    }

    fn manners(&self) -> Manners {
        self.manners.lock().unwrap().clone()
    }

    fn next(&self) -> u32 {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        *count
    }

    fn give(&self, scope: &str) -> Response {
        let number = self.next();
        let (access, refresh) = (format!("access-{number}"), format!("refresh-{number}"));
        let manners = self.manners();
        let scope = manners.grants.unwrap_or(scope);
        self.live.lock().unwrap().insert(access.clone(), scope.to_owned());
        self.refresh_tokens.lock().unwrap().insert(refresh.clone(), scope.to_owned());
        Json(json!({
            "access_token": access, "refresh_token": refresh, "token_type": "Bearer",
            "expires_in": manners.lifetime, "scope": scope,
        }))
        .into_response()
    }

    fn no(&self, code: &str, form: &HashMap<String, String>) -> Response {
        let echo = if self.manners().echo { format!("{code} {form:?}") } else { code.to_owned() };
        (StatusCode::BAD_REQUEST, Json(json!({"error": echo, "error_description": echo})))
            .into_response()
    }

    fn by_code(&self, form: &HashMap<String, String>) -> Response {
        let Some(asked) = self.codes.lock().unwrap().remove(&form["code"]) else {
            return self.no("invalid_grant", form);
        };
        let digest = Sha256::digest(&form["code_verifier"]);
        let is_right = URL_SAFE_NO_PAD.encode(digest) == asked["code_challenge"]
            && asked["code_challenge_method"] == "S256"
            && asked["redirect_uri"] == form["redirect_uri"]
            && asked["resource"] == form["resource"];
        if !is_right {
            return self.no("invalid_grant", form);
        }
        self.give(asked.get("scope").map_or("", String::as_str))
    }

    fn by_refresh(&self, form: &HashMap<String, String>) -> Response {
        match self.manners().refresh {
            Refresh::Status(status) => {
                return StatusCode::from_u16(status).unwrap().into_response();
            }
            Refresh::Code(code) => return self.no(code, form),
            Refresh::Good => {}
        }
        // Each is good once: who uses one twice loses it.
        let scope = self.refresh_tokens.lock().unwrap().remove(&form["refresh_token"]);
        scope.map_or_else(|| self.no("invalid_grant", form), |scope| self.give(&scope))
    }
}

async fn metadata(State(issuer): State<Arc<Issuer>>, uri: axum::http::Uri) -> Response {
    let manners = issuer.manners();
    if uri.path() != manners.metadata_path {
        return StatusCode::NOT_FOUND.into_response();
    }
    let url = &issuer.url;
    let mut metadata = json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "registration_endpoint": format!("{url}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["plain", "S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    for (name, value) in manners.metadata {
        metadata[name] = value;
    }
    Json(metadata).into_response()
}

async fn register(State(issuer): State<Arc<Issuer>>, Json(body): Json<Value>) -> Response {
    let number = issuer.next();
    issuer.registered.lock().unwrap().push(body.clone());
    let answer = json!({
        "client_id": format!("client-{number}-of-{}", issuer.url),
        "client_secret": format!("client-secret-{number}"),
        "redirect_uris": body["redirect_uris"],
        "token_endpoint_auth_method": body["token_endpoint_auth_method"],
    });
    (StatusCode::CREATED, Json(answer)).into_response()
}

async fn authorize(
    State(issuer): State<Arc<Issuer>>,
    Query(query): Query<HashMap<String, String>>,
) -> Redirect {
    let code = format!("code-{}", issuer.next());
    let mut back = Url::parse(&query["redirect_uri"]).unwrap();
    back.query_pairs_mut().append_pair("code", &code).append_pair("state", &query["state"]);
    if let Some(iss) = &issuer.manners().iss {
        back.query_pairs_mut().append_pair("iss", iss);
    }
    issuer.authorized.lock().unwrap().push(query.clone());
    issuer.codes.lock().unwrap().insert(code, query);
    Redirect::to(back.as_str())
}

async fn token(
    State(issuer): State<Arc<Issuer>>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Response {
    let fields = url::form_urlencoded::parse(&body);
    let form: HashMap<String, String> = fields.into_owned().collect();
    let (client, method) = who(&headers, &form);
    let grant = form["grant_type"].clone();
    let asked = Asked { grant: grant.clone(), client, method, form: form.clone() };
    issuer.asked.lock().unwrap().push(asked);
    // Whoever comes meanwhile has to wait for this one.
    tokio::time::sleep(Duration::from_millis(50)).await;
    match grant.as_str() {
        "authorization_code" => issuer.by_code(&form),
        "refresh_token" => issuer.by_refresh(&form),
        "client_credentials" => issuer.give(form.get("scope").map_or("", String::as_str)),
        _ => issuer.no("unsupported_grant_type", &form),
    }
}

fn who(headers: &HeaderMap, form: &HashMap<String, String>) -> (String, String) {
    let basic = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some(pair) = basic.and_then(|value| value.strip_prefix("Basic ")) {
        let pair = String::from_utf8(STANDARD.decode(pair).unwrap()).unwrap();
        let pair = pair.split(':').next().unwrap().as_bytes();
        let client = url::form_urlencoded::parse(pair).next().unwrap().0.into_owned();
        return (client, "client_secret_basic".to_owned());
    }
    let method = if form.contains_key("client_secret") { "client_secret_post" } else { "none" };
    (form["client_id"].clone(), method.to_owned())
}
