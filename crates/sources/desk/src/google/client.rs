//! One request: who we are is put on it, and what comes back is read or refused.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, IF_MATCH};
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolcrib_core::Secret;
use toolcrib_egress::{Egress, EgressBody, EgressRequest};
use url::Url;

use super::error;
use super::settings::GoogleSettings;
use super::tokens::GoogleTokens;
use super::way_out::{timeouts, way_out};
use crate::backend::{BackendError, BackendErrorKind};

/// Largest answer, in bytes.
const LARGEST: u64 = 8 * 1024 * 1024;
/// Largest explanation of a refusal, in bytes.
const LARGEST_REFUSAL: u64 = 64 * 1024;
/// Longest piece of a path, in bytes: ids of events have at most 1,024 letters.
const LONGEST_PIECE: usize = 2048;

/// One of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoogleApi {
    Calendar,
    Tasks,
    Gmail,
}

/// A request before it is known who asks.
pub(super) struct GoogleRequest {
    method: Method,
    api: GoogleApi,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
    if_match: Option<String>,
    most: u64,
}

impl GoogleRequest {
    pub(super) fn new(method: Method, api: GoogleApi, path: &[&str]) -> Self {
        let path = path.iter().map(|piece| (*piece).to_owned()).collect();
        Self { method, api, path, query: Vec::new(), body: None, if_match: None, most: LARGEST }
    }

    pub(super) fn get(api: GoogleApi, path: &[&str]) -> Self {
        Self::new(Method::GET, api, path)
    }

    pub(super) fn post(api: GoogleApi, path: &[&str], body: Value) -> Self {
        Self { body: Some(body), ..Self::new(Method::POST, api, path) }
    }

    pub(super) fn patch(api: GoogleApi, path: &[&str], body: Value) -> Self {
        Self { body: Some(body), ..Self::new(Method::PATCH, api, path) }
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// The same if there is a value.
    #[must_use]
    pub(super) fn maybe(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Only if nobody has changed it since.
    #[must_use]
    pub(super) fn unless_changed(self, etag: Option<String>) -> Self {
        Self { if_match: etag, ..self }
    }

    /// Takes an answer of so many bytes.
    #[must_use]
    pub(super) fn up_to(self, most: u64) -> Self {
        Self { most, ..self }
    }

    fn url(&self, base: &Url) -> Result<Url, BackendError> {
        let mut url = base.clone();
        // What the library would leave out, or an id that no server gave, must not name another
        // thing than was meant.
        let is_odd = |piece: &String| {
            matches!(piece.as_str(), "" | "." | "..")
                || piece.len() > LONGEST_PIECE
                || piece.chars().any(char::is_control)
        };
        if self.path.iter().any(is_odd) {
            return Err(BackendError::new(
                BackendErrorKind::NotFound,
                "no id of Google's looks like this",
            ));
        }
        let cannot = |()| {
            BackendError::new(BackendErrorKind::Invalid, "an address of Google cannot have a path")
        };
        url.path_segments_mut().map_err(cannot)?.pop_if_empty().extend(&self.path);
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        Ok(url)
    }
}

/// The way to Google, as one account.
pub(super) struct GoogleClient {
    settings: GoogleSettings,
    egress: Egress,
    tokens: GoogleTokens,
}

struct GoogleResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl GoogleClient {
    pub(super) fn new(settings: GoogleSettings) -> Result<Self, BackendError> {
        settings.check()?;
        let egress = way_out(&settings)?;
        let tokens = GoogleTokens::new(settings.clone(), egress.clone());
        Ok(Self { settings, egress, tokens })
    }

    pub(super) fn settings(&self) -> &GoogleSettings {
        &self.settings
    }

    /// What the answer says.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        ask: GoogleRequest,
    ) -> Result<T, BackendError> {
        let body = self.answered(&ask).await?;
        // A list would be read as an object whose fields are in their order.
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(error::not_understood(&ask.method, "the answer is no object"));
        }
        serde_json::from_slice(&body).map_err(|cause| error::not_understood(&ask.method, cause))
    }

    /// Only whether it was done.
    pub(super) async fn tell(&self, ask: GoogleRequest) -> Result<(), BackendError> {
        self.answered(&ask).await.map(|_| ())
    }

    /// Once, and once more with a new token if the first was not accepted: such a request was not
    /// let in, so nothing is done twice.
    async fn answered(&self, ask: &GoogleRequest) -> Result<Bytes, BackendError> {
        let token = self.tokens.access(None).await?;
        let mut answer = self.send(ask, &token).await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            let token = self.tokens.access(Some(&token)).await?;
            answer = self.send(ask, &token).await?;
        }
        if answer.status.is_success() {
            return Ok(answer.body);
        }
        let about_us = (self.settings.cure(), &self.settings.secrets);
        let about_us = (about_us.0.as_str(), about_us.1);
        Err(error::refused(&ask.method, answer.status, &answer.headers, &answer.body, about_us))
    }

    async fn send(
        &self,
        ask: &GoogleRequest,
        token: &Secret,
    ) -> Result<GoogleResponse, BackendError> {
        let base = match ask.api {
            GoogleApi::Calendar => &self.settings.calendar,
            GoogleApi::Tasks => &self.settings.tasks,
            GoogleApi::Gmail => &self.settings.gmail,
        };
        let mut request = EgressRequest::new(ask.method.clone(), ask.url(base)?);
        request.timeouts = timeouts(&self.settings);
        request.headers.insert(AUTHORIZATION, header(&format!("Bearer {}", token.expose()))?);
        if let Some(etag) = &ask.if_match {
            request.headers.insert(IF_MATCH, header(etag)?);
        }
        if let Some(body) = &ask.body {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = EgressBody::Bytes(body.to_string().into());
        }
        let told = |error| error::unanswered(&ask.method, error);
        let response = self.egress.send(request).await.map_err(told)?;
        let (status, headers) = (response.status, response.headers.clone());
        let body = if status.is_success() {
            response.bytes(ask.most).await.map_err(told)?
        } else {
            // A refusal is one, however its explanation ends.
            response.bytes(LARGEST_REFUSAL).await.unwrap_or_default()
        };
        Ok(GoogleResponse { status, headers, body })
    }
}

fn header(text: &str) -> Result<HeaderValue, BackendError> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|cause| error::broken("a word that no header can carry").because(cause))?;
    value.set_sensitive(true);
    Ok(value)
}
