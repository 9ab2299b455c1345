//! OAuth 2 client credentials: tokens, each asked for once however many calls wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};
use tokio::time::Instant;
use toolcrib_core::{ErrorKind, Redactor, Secret, Secrets, ToolError};
use toolcrib_egress::{Egress, EgressBody, EgressRequest, EgressTimeouts};
use url::Url;

use super::placement::sensitive;
use crate::request::Encoding;
use crate::settings::ApiBounds;

/// What a token is asked for with. Two callers with one grant share its token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ClientGrant {
    /// As the operator says.
    pub(crate) token_url: Option<Url>,
    /// As the document says, which counts where the operator says nothing.
    pub(crate) by_document: Option<String>,
    pub(crate) client_id: String,
    pub(crate) client_secret: Secret,
    pub(crate) scopes: Vec<String>,
}

/// The tokens of one API.
#[derive(Default)]
pub(crate) struct GrantCache {
    /// All that have been given, of which old ones may still come back.
    learned: Secrets,
    slots: Mutex<HashMap<ClientGrant, Arc<tokio::sync::Mutex<GrantSlot>>>>,
}

#[derive(Default)]
struct GrantSlot {
    token: Option<CachedToken>,
    failure: Option<(Instant, ToolError)>,
}

/// A token, and what masks it: made once, since that takes longer than to mask an answer.
#[derive(Clone)]
pub(crate) struct IssuedToken {
    pub(crate) secret: Secret,
    pub(crate) redactor: Arc<Redactor>,
}

#[derive(Clone)]
struct CachedToken {
    given: IssuedToken,
    /// From here on a new one is asked for, while this one still opens doors.
    stale: Instant,
    dead: Instant,
}

/// How a token server failed.
struct GrantFailure {
    error: ToolError,
    /// It may work the next time, so an old token is kept.
    passes: bool,
}

/// Where no lifetime is said.
const USUAL_LIFETIME: u64 = 3_600;
const LONGEST_LIFETIME: u64 = 30 * 24 * 3_600;
const TIMEOUT: Duration = Duration::from_secs(15);

impl GrantCache {
    /// Tells these of every token.
    pub(crate) fn telling(learned: Secrets) -> Self {
        Self { learned, ..Self::default() }
    }

    pub(crate) fn learned(&self) -> &Secrets {
        &self.learned
    }

    /// The token of a grant; `rejected` is one that the API no longer takes.
    ///
    /// Whoever comes while another asks waits for that answer, be it a token or a failure.
    pub(crate) async fn token(
        &self,
        grant: &ClientGrant,
        server: &Url,
        rejected: Option<&Secret>,
        ways: &ApiEgress,
    ) -> Result<IssuedToken, ToolError> {
        let came = Instant::now();
        let slot = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(grant.clone()).or_default())
        };
        let mut slot = slot.lock().await;
        let now = Instant::now();
        let kept = slot.token.clone().filter(|token| Some(&token.given.secret) != rejected);
        if let Some(token) = kept.as_ref().filter(|token| token.stale > now) {
            return Ok(token.given.clone());
        }
        if let Some((_, error)) = slot.failure.as_ref().filter(|(when, _)| *when >= came) {
            return Err(error.clone());
        }
        match grant.ask(server, ways).await {
            Ok(token) => {
                let given = token.given.clone();
                self.learned.learn([&given.secret]);
                *slot = GrantSlot { token: Some(token), failure: None };
                Ok(given)
            }
            Err(GrantFailure { error, passes }) => {
                let living = kept.filter(|token| passes && token.dead > Instant::now());
                if let Some(token) = living {
                    return Ok(token.given);
                }
                slot.failure = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }
}

/// The ways out.
pub(crate) struct ApiEgress {
    /// To the API itself.
    pub(crate) api: Egress,
    /// To the token servers that the operator has named.
    pub(crate) named: Egress,
    /// To what the document names: public addresses only.
    pub(crate) public: Egress,
    /// What comes back by them at the most.
    pub(crate) bounds: ApiBounds,
}

impl ClientGrant {
    /// Where the token is had from, and by which way. A secret goes to a place that only the
    /// document names if that is public and cannot be listened to.
    fn place<'w>(&self, server: &Url, ways: &'w ApiEgress) -> Result<(Url, &'w Egress), ToolError> {
        if let Some(url) = &self.token_url {
            return Ok((url.clone(), &ways.named));
        }
        let none = || {
            ToolError::told(
                "nothing was sent: neither the configuration nor the document says where to get a \
                 token. Tell the user to set `token_url` under `auth` of this source",
            )
        };
        let said = self.by_document.as_ref().ok_or_else(none)?;
        let url = server.join(said).map_err(|_| none())?;
        if url.origin() == server.origin() {
            return Ok((url, &ways.api));
        }
        if url.scheme() != "https" {
            return Err(ToolError::told(format!(
                "nothing was sent: the document names a token server without TLS, at `{}`. Tell \
                 the user to set `token_url` under `auth` of this source",
                url.host_str().unwrap_or_default()
            )));
        }
        Ok((url, &ways.public))
    }

    async fn ask(&self, server: &Url, ways: &ApiEgress) -> Result<CachedToken, GrantFailure> {
        let lasting = |error| GrantFailure { error, passes: false };
        let (url, egress) = self.place(server, ways).map_err(lasting)?;
        let way = (egress, ways.bounds);
        let mut form = vec![("grant_type", "client_credentials".to_owned())];
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        // The standard has name and secret in the header; some take them in the form alone.
        let escaped = |text: &str| Encoding::Form.apply(text);
        let (id, secret) = (escaped(&self.client_id), escaped(self.client_secret.expose()));
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")));
        let asked = Instant::now();
        let first = Self::send(way, &url, &form, Some(&basic)).await?;
        let (status, answer) = if is_unknown_client(&first) {
            form.push(("client_id", self.client_id.clone()));
            form.push(("client_secret", self.client_secret.expose().to_owned()));
            Self::send(way, &url, &form, None).await?
        } else {
            first
        };
        CachedToken::read(&answer, asked).filter(|_| status.is_success()).ok_or_else(|| {
            let said = answer.get("error").and_then(Value::as_str).unwrap_or("no `access_token`");
            let said: String =
                said.chars().filter(|letter| !letter.is_control()).take(60).collect();
            let message = format!(
                "nothing was sent: the token server `{}` gave no token ({}: {said}). Do not repeat \
                 the call; tell the user to check the client under `auth` of this source",
                url.host_str().unwrap_or_default(),
                status.as_u16(),
            );
            lasting(ToolError::told(message))
        })
    }

    async fn send(
        (egress, bounds): (&Egress, ApiBounds),
        url: &Url,
        form: &[(&str, String)],
        basic: Option<&str>,
    ) -> Result<(StatusCode, Map<String, Value>), GrantFailure> {
        let fields =
            form.iter().map(|(name, value)| format!("{name}={}", Encoding::Form.apply(value)));
        let body = fields.collect::<Vec<_>>().join("&");
        let mut request = EgressRequest::new(Method::POST, url.clone());
        request.body = EgressBody::Bytes(Bytes::from(body));
        request.unpack = bounds.unpack;
        request.timeouts =
            EgressTimeouts { first_byte: TIMEOUT, total: TIMEOUT, ..EgressTimeouts::default() };
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers.insert(CONTENT_TYPE, form_type);
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(basic) = basic.and_then(|basic| sensitive(basic).ok()) {
            request.headers.insert(AUTHORIZATION, basic);
        }
        let response =
            egress.send(request).await.map_err(|error| unreachable_server(url, error))?;
        let status = response.status;
        let passes = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        let body = response.bytes(bounds.token).await;
        let body = body.map_err(|error| unreachable_server(url, error))?;
        if passes {
            let host = url.host_str().unwrap_or_default();
            let message = format!(
                "nothing was sent: the token server `{host}` answers {} now. Try again later",
                status.as_u16()
            );
            return Err(GrantFailure {
                error: ToolError::new(ErrorKind::Unavailable, message),
                passes,
            });
        }
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }
}

fn is_unknown_client((status, answer): &(StatusCode, Map<String, Value>)) -> bool {
    let is_client_fault = matches!(*status, StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED);
    let names_it = ["invalid_client", "invalid_request"].map(Value::from);
    is_client_fault && answer.get("error").is_none_or(|error| names_it.contains(error))
}

fn unreachable_server(url: &Url, error: toolcrib_egress::EgressError) -> GrantFailure {
    let host = url.host_str().unwrap_or_default();
    let message = format!(
        "nothing was sent: there is no token from `{host}` to call with ({error}). Try again \
         later, or tell the user"
    );
    let passes = error.kind != toolcrib_egress::EgressErrorKind::Refused;
    let kind = if passes { ErrorKind::Unavailable } else { ErrorKind::Tool };
    GrantFailure { error: ToolError::new(kind, message).because(error), passes }
}

impl CachedToken {
    fn read(answer: &Map<String, Value>, asked: Instant) -> Option<Self> {
        let secret = answer.get("access_token")?.as_str().filter(|token| !token.is_empty())?;
        let kind = answer.get("token_type").and_then(Value::as_str).unwrap_or("bearer");
        if !kind.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let lifetime = answer
            .get("expires_in")
            .and_then(|lifetime| lifetime.as_u64().or_else(|| lifetime.as_str()?.parse().ok()));
        let lifetime = lifetime.unwrap_or(USUAL_LIFETIME).min(LONGEST_LIFETIME);
        // A tenth of its life before its end, a minute at most.
        let early = (lifetime / 10).min(60);
        let secret = Secret::new(secret);
        let redactor = Arc::new(Redactor::new([secret.clone()]));
        Some(Self {
            given: IssuedToken { secret, redactor },
            stale: asked + Duration::from_secs(lifetime - early),
            dead: asked + Duration::from_secs(lifetime),
        })
    }
}
