//! Who we are: an access token, renewed shortly before it ends or when it is not accepted.
//!
//! RFC 6749, 6. Whoever needs a token while one is being renewed waits for that renewal, and the
//! renewal goes on when whoever began it goes away: a server that gives a new refresh token each
//! time has used up the old one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode};
use serde::{Deserialize, Deserializer};
use tokio::sync::Mutex;
use tokio::time::Instant;
use toolcrib_core::Secret;
use toolcrib_egress::{Egress, EgressBody, EgressError, EgressRequest};
use url::form_urlencoded;

use super::settings::{GoogleSettings, RefreshTokenLocation};
use super::token_file;
use super::way_out::timeouts;
use crate::backend::{BackendError, BackendErrorKind};

/// Largest answer of the token server, in bytes.
const LARGEST: u64 = 64 * 1024;
/// A request on its way must not be overtaken by the end of its token.
const MARGIN: u64 = 60;
/// Longest life of a token that is believed, in seconds.
const LONGEST_LIFE: u64 = 7 * 24 * 60 * 60;

pub(super) struct GoogleTokens(Arc<GoogleTokensShared>);

struct GoogleTokensShared {
    settings: GoogleSettings,
    egress: Egress,
    /// Renewals that have ended.
    ended: AtomicU64,
    held: Mutex<GoogleTokensState>,
}

#[derive(Default)]
struct GoogleTokensState {
    access: Option<GoogleAccessToken>,
    /// The last one: that of the settings or of their file, or one that was given in its place.
    refresh: Option<Secret>,
    /// One that the server says is worth nothing any more.
    dead: Option<Secret>,
    /// How the last renewal failed.
    failure: Option<(BackendErrorKind, String)>,
}

struct GoogleAccessToken {
    token: Secret,
    /// From here on another is asked for before this one is sent.
    due: Option<Instant>,
}

/// What the token server gives.
#[derive(Deserialize)]
pub(super) struct GoogleTokenResponse {
    #[serde(deserialize_with = "secret")]
    access_token: Secret,
    #[serde(default, deserialize_with = "secret_if_any")]
    pub(super) refresh_token: Option<Secret>,
    #[serde(default)]
    expires_in: Option<u64>,
    #[serde(default)]
    token_type: Option<String>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
    String::deserialize(deserializer).map(Secret::new)
}

fn secret_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    Option::<String>::deserialize(deserializer).map(|text| text.map(Secret::new))
}

#[derive(Deserialize)]
struct GoogleTokenRefusal {
    error: String,
}

impl GoogleTokens {
    pub(super) fn new(settings: GoogleSettings, egress: Egress) -> Self {
        settings.secrets.learn(&settings.client_secret);
        let (ended, held) = (AtomicU64::new(0), Mutex::default());
        Self(Arc::new(GoogleTokensShared { settings, egress, ended, held }))
    }

    /// The token to send now; not `rejected`, which was sent and not accepted.
    pub(super) async fn access(&self, rejected: Option<&Secret>) -> Result<Secret, BackendError> {
        let ended = self.0.ended.load(Ordering::Acquire);
        {
            let held = self.0.held.lock().await;
            if let Some(token) = held.good(rejected) {
                return Ok(token);
            }
        }
        let (shared, rejected) = (Arc::clone(&self.0), rejected.cloned());
        let renewal = tokio::spawn(async move { shared.renew(ended, rejected.as_ref()).await });
        renewal.await.unwrap_or_else(|cause| {
            Err(BackendError::new(BackendErrorKind::Broken, "the sign-in at Google fell over")
                .because(cause))
        })
    }
}

impl GoogleTokensState {
    fn good(&self, rejected: Option<&Secret>) -> Option<Secret> {
        let access = self.access.as_ref()?;
        let is_due = access.due.is_some_and(|due| due <= Instant::now());
        (!is_due && Some(&access.token) != rejected).then(|| access.token.clone())
    }
}

impl GoogleTokensShared {
    /// `ended`: the renewals that had ended when the caller looked; one that has ended since was
    /// for us too.
    async fn renew(&self, ended: u64, rejected: Option<&Secret>) -> Result<Secret, BackendError> {
        let mut held = self.held.lock().await;
        if let Some(token) = held.good(rejected) {
            return Ok(token);
        }
        if self.ended.load(Ordering::Acquire) != ended
            && let Some((kind, message)) = &held.failure
        {
            return Err(BackendError::new(*kind, message.clone()));
        }
        let renewed = self.redeem(&mut held).await;
        held.failure = renewed.as_ref().err().map(|fault| (fault.kind, fault.message.clone()));
        self.ended.fetch_add(1, Ordering::Release);
        renewed
    }

    async fn redeem(&self, held: &mut GoogleTokensState) -> Result<Secret, BackendError> {
        let refresh = match &self.settings.refresh {
            RefreshTokenLocation::Token(token) => {
                held.refresh.clone().unwrap_or_else(|| token.clone())
            }
            // A person may have signed in beside us.
            RefreshTokenLocation::File(path) => token_file::read(path, &self.settings)?,
        };
        self.settings.secrets.learn([&refresh]);
        // Held also where it is read from its file each time: it is masked for as long.
        held.refresh = Some(refresh.clone());
        if held.dead.as_ref() == Some(&refresh) {
            return Err(dead(&self.settings));
        }
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        let given = match request(&self.settings, &self.egress, &form).await {
            Ok(given) => given,
            Err(GoogleTokenDenial::Grant) => {
                held.dead = Some(refresh);
                held.access = None;
                return Err(dead(&self.settings));
            }
            Err(GoogleTokenDenial::Other(fault)) => return Err(fault),
        };
        let token = given.access_token;
        let due = given.expires_in.map(|seconds| {
            let seconds = seconds.min(LONGEST_LIFE);
            // One of a short life is used for most of it, or each request would ask for another.
            Instant::now() + Duration::from_secs(seconds - MARGIN.min(seconds.div_ceil(10)))
        });
        held.access = Some(GoogleAccessToken { token: token.clone(), due });
        if let Some(next) = given.refresh_token.filter(|next| *next != refresh) {
            if let RefreshTokenLocation::File(path) = &self.settings.refresh {
                token_file::write(path, &self.settings, &next)?;
            }
            held.refresh = Some(next);
        }
        Ok(token)
    }
}

/// Why no token was given.
pub(super) enum GoogleTokenDenial {
    /// The code or the refresh token is worth nothing (any more).
    Grant,
    Other(BackendError),
}

fn dead(settings: &GoogleSettings) -> BackendError {
    let cure = settings.cure();
    BackendError::new(
        BackendErrorKind::Refused,
        format!("Google has ended the sign-in: the user has to {cure}"),
    )
}

/// One request to the token server, with the client's own name on it.
pub(super) async fn request(
    settings: &GoogleSettings,
    egress: &Egress,
    fields: &[(&str, &str)],
) -> Result<GoogleTokenResponse, GoogleTokenDenial> {
    let mut request = EgressRequest::new(Method::POST, settings.token.clone());
    let media = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers.insert(CONTENT_TYPE, media);
    request.body = EgressBody::Bytes(form(settings, fields).into());
    request.timeouts = timeouts(settings);
    let response = egress.send(request).await.map_err(unreached)?;
    let status = response.status;
    let body = response.bytes(LARGEST).await.map_err(unreached)?;
    if !status.is_success() {
        return Err(denied(settings, status, &body));
    }
    let odd = || BackendError::new(BackendErrorKind::Broken, "Google gave a token that is none");
    let given: GoogleTokenResponse = serde_json::from_slice(&body)
        .map_err(|cause| GoogleTokenDenial::Other(odd().because(cause)))?;
    let is_bearer = given.token_type.as_ref().is_none_or(|it| it.eq_ignore_ascii_case("bearer"));
    let token = given.access_token.expose();
    if !is_bearer || token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(GoogleTokenDenial::Other(odd()));
    }
    settings.secrets.learn([&given.access_token].into_iter().chain(&given.refresh_token));
    Ok(given)
}

fn form(settings: &GoogleSettings, fields: &[(&str, &str)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields).append_pair("client_id", &settings.client_id);
    if let Some(secret) = &settings.client_secret {
        form.append_pair("client_secret", secret.expose());
    }
    form.finish()
}

/// Nothing of what was asked for has been sent, whatever became of the token.
fn unreached(error: EgressError) -> GoogleTokenDenial {
    let message = format!("no token could be had: {error}; try again later");
    GoogleTokenDenial::Other(
        BackendError::new(BackendErrorKind::Unreachable, message).because(error),
    )
}

/// What the server says in words is not passed on: it may hold what was sent.
fn denied(settings: &GoogleSettings, status: StatusCode, body: &[u8]) -> GoogleTokenDenial {
    let error = serde_json::from_slice::<GoogleTokenRefusal>(body).map(|denied| denied.error);
    let error = error.unwrap_or_default();
    let fault = match (error.as_str(), status) {
        ("invalid_grant", _) => return GoogleTokenDenial::Grant,
        ("invalid_client" | "unauthorized_client", _) => BackendError::new(
            BackendErrorKind::Refused,
            "Google does not know our client: check its id and secret in the configuration",
        ),
        (_, StatusCode::TOO_MANY_REQUESTS) => BackendError::new(
            BackendErrorKind::Busy,
            "Google gives no token for the time being: wait a minute before you try again",
        ),
        _ if status.is_server_error() => BackendError::new(
            BackendErrorKind::Unreachable,
            format!("Google gives no token ({status}): nothing was sent; try again later"),
        ),
        _ => BackendError::new(
            BackendErrorKind::Refused,
            format!("Google gives no token ({status}): the user has to {}", settings.cure()),
        ),
    };
    GoogleTokenDenial::Other(fault)
}
