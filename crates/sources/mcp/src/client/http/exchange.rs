//! One HTTP request, repeated with a better token where the server asks for one.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream::StreamExt as _;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::time::timeout;
use toolcrib_core::Secret;
use toolcrib_egress::{Egress, EgressError, EgressErrorKind, EgressRoute, StreamedResponse};
use url::Url;

use super::token_provider::{TokenProvider, TokenProviderError, TokenRefusal};

/// Requests that are made for one: a refusal, a refreshed token, a wider scope.
const MOST_TRIES: usize = 3;
/// A server that wants more time than this to be left alone is left alone for this long.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Why an HTTP request has no answer that the protocol could read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpExchangeError {
    #[error("it cannot be connected to")]
    NotConnected(#[source] TokenProviderError),
    #[error("the line broke")]
    Broken(#[source] TokenProviderError),
    #[error("HTTP {status}")]
    Status { status: u16, retry_after: Option<Duration> },
    #[error("authorization: {0}")]
    Unauthorized(TokenProviderError),
    #[error("it says nothing")]
    Silent,
    #[error("its answer is too large")]
    TooLarge,
    #[error("{0}")]
    Unreadable(&'static str),
}

/// The head of an answer, and its body still on the line.
pub(super) struct HttpAnswer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: StreamedResponse,
}

impl HttpAnswer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(super) fn is(&self, mime: &str) -> bool {
        let found = self.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        found.get(..mime.len()).is_some_and(|start| start.eq_ignore_ascii_case(mime.as_bytes()))
    }

    /// The whole body, if it is not larger.
    pub(super) async fn bytes(mut self, most: usize) -> Result<Bytes, HttpExchangeError> {
        let mut whole = Bytes::new();
        while let Some(chunk) = self.body.next().await {
            let chunk = chunk.map_err(broken)?;
            if whole.len() + chunk.len() > most {
                return Err(HttpExchangeError::TooLarge);
            }
            // Most come in one piece, and need no copy.
            whole = if whole.is_empty() { chunk } else { joined(whole, &chunk) };
        }
        Ok(whole)
    }

    pub(super) fn failure(&self) -> HttpExchangeError {
        let seconds = self.header(RETRY_AFTER.as_str()).and_then(|value| value.trim().parse().ok());
        let retry_after = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_WAIT));
        HttpExchangeError::Status { status: self.status.as_u16(), retry_after }
    }

    /// Whether another token might help.
    fn refusal(&self) -> Option<TokenRefusal> {
        let values = self.headers.get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<_> =
            values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
        let wants_scope = || challenges.iter().any(|value| value.contains("insufficient_scope"));
        let refused = self.status == StatusCode::UNAUTHORIZED
            || (self.status == StatusCode::FORBIDDEN && wants_scope());
        refused.then(|| TokenRefusal { status: self.status.as_u16(), challenges })
    }
}

/// Where nearly every request goes.
pub(crate) struct HttpEndpoint {
    pub(super) url: Url,
    pub(super) route: EgressRoute,
}

/// Sends requests as one caller, with the tokens that this one has.
#[derive(Clone)]
pub(crate) struct HttpExchanger {
    pub(super) egress: Egress,
    pub(super) home: Arc<HttpEndpoint>,
    pub(super) bearer: Option<Secret>,
    pub(super) authorize: Option<Arc<dyn TokenProvider>>,
    /// How long the server may take to begin its answer; a person may take longer to log in.
    pub(super) patience: Option<Duration>,
}

impl HttpExchanger {
    pub(super) async fn exchange(
        &self,
        method: Method,
        url: &str,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<HttpAnswer, HttpExchangeError> {
        let mut token = match (&self.bearer, &self.authorize) {
            (Some(bearer), _) => Some(bearer.clone()),
            (None, Some(authorize)) => {
                authorize.token().await.map_err(HttpExchangeError::Unauthorized)?
            }
            (None, None) => None,
        };
        let mut tries = 1;
        loop {
            if let Some(token) = &token {
                headers.insert(AUTHORIZATION, bearer(token)?);
            }
            let authorize = self.authorize.as_ref().filter(|_| tries < MOST_TRIES);
            let sent = match authorize {
                Some(_) => headers.clone(),
                // They are not needed again.
                None => std::mem::take(&mut headers),
            };
            let answer = self.once(method.clone(), url, sent, body.clone()).await?;
            let Some(refusal) = answer.refusal() else {
                return Ok(answer);
            };
            let Some(authorize) = authorize else {
                let cure = "it refuses our credentials: set `bearer`, a header, or `oauth`";
                return Err(HttpExchangeError::Unauthorized(cure.into()));
            };
            tries += 1;
            let better = authorize.refused(token.as_ref(), refusal).await;
            token = Some(better.map_err(HttpExchangeError::Unauthorized)?);
        }
    }

    async fn once(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<HttpAnswer, HttpExchangeError> {
        let elsewhere;
        let route = if url == self.home.url.as_str() {
            &self.home.route
        } else {
            let url =
                Url::parse(url).map_err(|error| HttpExchangeError::NotConnected(error.into()))?;
            elsewhere = self.egress.route(&url).map_err(unsent)?;
            &elsewhere
        };
        let sent = match self.patience {
            Some(patience) => {
                let sending = Box::pin(self.egress.exchange(route, method, headers, body));
                timeout(patience, sending).await.map_err(|_| HttpExchangeError::Silent)?
            }
            None => self.egress.exchange(route, method, headers, body).await,
        };
        let mut streamed = sent.map_err(|error| match error.kind {
            _ if error.never_sent() => unsent(error),
            EgressErrorKind::Refused
            | EgressErrorKind::NotConnected
            | EgressErrorKind::Timeout(_) => unsent(error),
            EgressErrorKind::Broken | EgressErrorKind::TooLarge => {
                HttpExchangeError::Broken(error.into())
            }
        })?;
        let headers = std::mem::take(&mut streamed.headers);
        Ok(HttpAnswer { status: streamed.status, headers, body: streamed })
    }
}

/// A whole that grows by doubling, since nobody else holds it.
fn joined(whole: Bytes, chunk: &[u8]) -> Bytes {
    let mut whole = BytesMut::from(whole);
    whole.extend_from_slice(chunk);
    whole.freeze()
}

pub(super) fn broken(error: EgressError) -> HttpExchangeError {
    HttpExchangeError::Broken(error.into())
}

fn unsent(error: EgressError) -> HttpExchangeError {
    HttpExchangeError::NotConnected(error.into())
}

fn bearer(token: &Secret) -> Result<HeaderValue, HttpExchangeError> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
    let mut value = value.map_err(|_| {
        HttpExchangeError::Unauthorized("the token holds characters that no header may hold".into())
    })?;
    value.set_sensitive(true);
    Ok(value)
}
