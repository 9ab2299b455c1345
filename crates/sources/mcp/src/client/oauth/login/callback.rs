//! What an authorization server sends back by way of a browser, and the wait for it.

use toolcrib_core::Secret;
use toolcrib_egress::{CallbackVerdict, LoopbackListener};
use url::Url;

use super::pkce::same;
use crate::client::oauth::error::OAuthError;

const PATH: &str = "/callback";

/// What an authorization server sends back by way of the browser.
#[derive(Debug, Clone, Default)]
pub struct AuthorizationResponse {
    pub code: Option<Secret>,
    pub state: Option<Secret>,
    /// The issuer that answers, RFC 9207.
    pub issuer: Option<String>,
    pub error: Option<String>,
}

impl AuthorizationResponse {
    /// Reads the query of the address that the browser was sent to.
    pub fn read(url: &Url) -> Self {
        let mut answer = Self::default();
        for (name, value) in url.query_pairs() {
            let value = value.into_owned();
            // Of a field that comes twice the first counts.
            match &*name {
                "code" => drop(answer.code.get_or_insert(Secret::new(value))),
                "state" => drop(answer.state.get_or_insert(Secret::new(value))),
                "iss" => drop(answer.issuer.get_or_insert(value)),
                "error" => drop(answer.error.get_or_insert(value)),
                _ => {}
            }
        }
        answer
    }
}

/// A listener for one answer.
pub(crate) struct LoginCallback(LoopbackListener);

impl LoginCallback {
    /// Listens on a port of the system's choice.
    pub(crate) async fn listen() -> Result<Self, OAuthError> {
        let failed = |_| OAuthError::Setting("no port of this machine can be listened on");
        LoopbackListener::listen(PATH).await.map(Self).map_err(failed)
    }

    /// Where the browser is to be sent.
    pub(crate) fn address(&self) -> &Url {
        self.0.address()
    }

    /// The answer that carries this state; whatever else knocks is turned away.
    pub(crate) async fn answer(self, state: &Secret) -> Result<AuthorizationResponse, OAuthError> {
        let state = state.clone();
        let judge = move |url: &Url| {
            let answer = AuthorizationResponse::read(url);
            let is_ours = answer.state.as_ref().is_some_and(|given| same(&state, given.expose()));
            match answer.error {
                _ if !is_ours => CallbackVerdict::Stray,
                None => CallbackVerdict::Welcome,
                Some(_) => CallbackVerdict::Declined,
            }
        };
        let came = self.0.answer(judge).await;
        let minutes = LoopbackListener::PATIENCE.as_secs() / 60;
        came.map(|url| AuthorizationResponse::read(&url)).ok_or(OAuthError::NobodyCame(minutes))
    }
}
