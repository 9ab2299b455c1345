//! The way to authorization servers. They are named by others, so everything goes through the
//! guarded way out.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolcrib_core::{Secret, Secrets};
use toolcrib_egress::{Egress, EgressBody, EgressErrorKind, EgressRequest};
use url::form_urlencoded::Serializer;
use url::{Host, Url};

use super::error::{OAuthEndpoint, OAuthError};
use crate::client::http::token_provider::TokenRefusal;
use crate::client::settings::{HttpAuthorization, HttpSettings};

/// Metadata and tokens are small, and quick.
const LARGEST: u64 = 64 * 1024;
const LONGEST: Duration = Duration::from_secs(20);

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The errors that the standards name; any other text is the server's own and goes nowhere.
const KNOWN: &[&str] = &[
    "access_denied",
    "consent_required",
    "interaction_required",
    "invalid_client",
    "invalid_client_metadata",
    "invalid_grant",
    "invalid_redirect_uri",
    "invalid_request",
    "invalid_scope",
    "invalid_software_statement",
    "invalid_target",
    "login_required",
    "server_error",
    "temporarily_unavailable",
    "unapproved_software_statement",
    "unauthorized_client",
    "unsupported_grant_type",
    "unsupported_response_type",
];

pub(super) struct OAuthTransport {
    egress: Egress,
    server: Url,
    learned: Option<Secrets>,
    /// Longest answer, in bytes.
    largest: u64,
}

/// An answer that is neither a fault of the line nor one that passes.
pub(super) struct OAuthReply {
    status: StatusCode,
    body: Bytes,
}

impl OAuthTransport {
    pub(super) fn new(settings: &HttpSettings) -> Result<Self, OAuthError> {
        let server = settings.url.clone();
        let egress = Egress::open([server.clone()], settings.network.clone())
            .map_err(|error| OAuthEndpoint::new("the server", &server).wrong(error.message()))?;
        let (learned, largest) = match &settings.authorization {
            HttpAuthorization::OAuth(oauth) => (oauth.learned.clone(), oauth.document),
            HttpAuthorization::None | HttpAuthorization::Bearer(_) => (None, None),
        };
        Ok(Self { egress, server, learned, largest: largest.unwrap_or(LARGEST) })
    }

    /// Has these masked wherever they may come back.
    pub(super) fn learn<'a>(&self, secrets: impl IntoIterator<Item = &'a Secret>) {
        if let Some(learned) = &self.learned {
            learned.learn(secrets);
        }
    }

    /// Whether a person may be sent there too: a server that we do not trust must not have the
    /// person's browser ask things of this machine or of the network around it.
    pub(super) fn may_be_opened(&self, url: &Url) -> bool {
        let mut plain = url.clone();
        let own = url.origin() == self.server.origin();
        if !own && matches!(url.host(), Some(Host::Domain(name)) if is_this_machine(name)) {
            let _ = plain.set_host(Some("127.0.0.1"));
        }
        self.egress.check(&plain).is_ok()
    }

    /// The protected server.
    pub(super) fn server(&self) -> &Url {
        &self.server
    }

    /// A document of JSON; `None`: there is none, or it is another.
    pub(super) async fn document<T: DeserializeOwned>(
        &self,
        what: &'static str,
        url: &Url,
    ) -> Result<Option<T>, OAuthError> {
        let reply = self.send(what, EgressRequest::new(Method::GET, url.clone())).await?;
        let is_there = reply.status == StatusCode::OK;
        Ok(is_there.then(|| serde_json::from_slice(&reply.body).ok()).flatten())
    }

    pub(super) async fn post_json(
        &self,
        what: &'static str,
        url: &Url,
        body: Vec<u8>,
    ) -> Result<OAuthReply, OAuthError> {
        let mut request = EgressRequest::new(Method::POST, url.clone());
        request.headers.insert(CONTENT_TYPE, JSON);
        request.body = EgressBody::Bytes(body.into());
        self.send(what, request).await
    }

    /// `authorization`: the value of that header.
    pub(super) async fn post_form(
        &self,
        what: &'static str,
        url: &Url,
        form: &[(&'static str, String)],
        authorization: Option<&Secret>,
    ) -> Result<OAuthReply, OAuthError> {
        let mut request = EgressRequest::new(Method::POST, url.clone());
        request.headers.insert(CONTENT_TYPE, FORM);
        if let Some(secret) = authorization {
            let mut value = HeaderValue::from_str(secret.expose()).map_err(|_| {
                OAuthError::Setting("`client_id` and `client_secret` must be plain text")
            })?;
            value.set_sensitive(true);
            request.headers.insert(AUTHORIZATION, value);
        }
        let body = Serializer::new(String::new()).extend_pairs(form).finish();
        request.body = EgressBody::Bytes(body.into());
        self.send(what, request).await
    }

    /// Asks the server something harmless without a token, to hear how it refuses.
    pub(super) async fn knock(&self) -> Result<TokenRefusal, OAuthError> {
        let what = "the server";
        let mut request = EgressRequest::new(Method::POST, self.server.clone());
        request.headers.insert(CONTENT_TYPE, JSON);
        let both = HeaderValue::from_static("application/json, text/event-stream");
        request.headers.insert(ACCEPT, both);
        request.body = EgressBody::Bytes(Bytes::from_static(
            br#"{"jsonrpc":"2.0","id":"knock","method":"ping"}"#,
        ));
        let sent = self.egress.send(request).await;
        let answer = sent.map_err(|error| fault(OAuthEndpoint::new(what, &self.server), &error))?;
        let status = answer.status.as_u16();
        Ok(TokenRefusal { status, challenges: challenges(&answer.headers) })
    }

    async fn send(
        &self,
        what: &'static str,
        mut request: EgressRequest,
    ) -> Result<OAuthReply, OAuthError> {
        let place = OAuthEndpoint::new(what, &request.url);
        request.headers.entry(ACCEPT).or_insert(JSON);
        request.timeouts.total = LONGEST;
        let failed = |error| fault(place.clone(), &error);
        let answer = self.egress.send(request).await.map_err(failed)?;
        let status = answer.status;
        let busy =
            [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
        if status.is_server_error() || busy.contains(&status) {
            let cause = format!("it answered with {}", status.as_u16());
            return Err(OAuthError::Unreachable { place, cause });
        }
        let body = answer.bytes(self.largest).await.map_err(failed)?;
        Ok(OAuthReply { status, body })
    }
}

fn is_this_machine(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

fn challenges(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
}

/// What the rules forbid will not pass by itself; everything else may.
fn fault(place: OAuthEndpoint, error: &toolcrib_egress::EgressError) -> OAuthError {
    match error.kind {
        EgressErrorKind::Refused | EgressErrorKind::TooLarge => place.wrong(error.message()),
        EgressErrorKind::NotConnected | EgressErrorKind::Broken | EgressErrorKind::Timeout(_) => {
            OAuthError::Unreachable { place, cause: error.message().to_owned() }
        }
    }
}

impl OAuthReply {
    /// The document of a good answer, or what the server says is wrong.
    pub(super) fn accepted<T: DeserializeOwned>(
        &self,
        what: &'static str,
        url: &Url,
    ) -> Result<T, OAuthError> {
        let place = OAuthEndpoint::new(what, url);
        if !self.status.is_success() {
            return Err(OAuthError::Refused { place, code: self.code() });
        }
        serde_json::from_slice(&self.body)
            .map_err(|_| place.wrong("its answer is not what the standard says"))
    }

    fn code(&self) -> String {
        #[derive(Deserialize)]
        struct OAuthErrorBody {
            error: String,
        }
        let problem = serde_json::from_slice::<OAuthErrorBody>(&self.body).ok();
        let status = || format!("it answered with {}", self.status.as_u16());
        problem.map_or_else(status, |problem| known(&problem.error).to_owned())
    }
}

/// An error of the standards, or words of our own for another one.
pub(super) fn known(code: &str) -> &'static str {
    KNOWN.iter().find(|known| **known == code).copied().unwrap_or("an error of its own")
}
