//! A log-in that waits for a person.

pub(crate) mod callback;
pub(crate) mod command;
mod pkce;
pub(crate) mod prompt;

use std::sync::Arc;

use toolcrib_core::Secret;
use url::Url;

use super::discovery::OAuthDiscovery;
use super::error::{OAuthEndpoint, OAuthError};
use super::grant::TokenGrant;
use super::registration::OAuthClient;
use super::shared::OAuthShared;
use super::token_endpoint::TokenRequest;
use super::{grant::TokenOwner, transport};
use callback::AuthorizationResponse;
use pkce::{challenge, same, unguessable};

/// Begun, and waiting for the answer of the authorization server.
pub struct OAuthLogin {
    pub(super) shared: Arc<OAuthShared>,
    pub(super) owner: TokenOwner,
    pub(super) found: OAuthDiscovery,
    pub(super) client: OAuthClient,
    pub(super) scopes: Vec<String>,
    pub(super) redirect: Url,
    url: Url,
    state: Secret,
    verifier: Secret,
}

/// What a log-in is for.
pub(super) struct LoginPurpose {
    pub(super) owner: TokenOwner,
    pub(super) found: OAuthDiscovery,
    pub(super) client: OAuthClient,
    pub(super) scopes: Vec<String>,
    pub(super) redirect: Url,
}

impl OAuthLogin {
    pub(super) fn new(shared: Arc<OAuthShared>, purpose: LoginPurpose) -> Result<Self, OAuthError> {
        let LoginPurpose { owner, found, client, scopes, redirect } = purpose;
        let what = "the authorization server";
        let place = OAuthEndpoint::new(what, &found.issuer.token_endpoint);
        found.issuer.takes_s256(&place)?;
        let Some(mut url) = found.issuer.authorization_endpoint.clone() else {
            return Err(place.wrong("it has no address where a person can log in"));
        };
        let (state, verifier) = (unguessable(), unguessable());
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &client.id)
                .append_pair("redirect_uri", redirect.as_str())
                .append_pair("state", state.expose())
                .append_pair("code_challenge", &challenge(&verifier))
                .append_pair("code_challenge_method", "S256")
                .append_pair("resource", &found.resource);
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes.join(" "));
            }
            if scopes.iter().any(|scope| scope == crate::client::oauth::renewal::scopes::OFFLINE) {
                // Without it OpenID Connect has the server ignore that scope.
                query.append_pair("prompt", "consent");
            }
        }
        Ok(Self { shared, owner, found, client, scopes, redirect, url, state, verifier })
    }

    /// What the person has to open in a browser.
    pub fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn state(&self) -> &Secret {
        &self.state
    }

    /// Takes the answer, gets the tokens, and keeps them for the caller.
    pub async fn finish(self, answer: AuthorizationResponse) -> Result<(), OAuthError> {
        self.grant(answer).await.map(|_| ())
    }

    pub(super) async fn grant(
        self,
        answer: AuthorizationResponse,
    ) -> Result<TokenGrant, OAuthError> {
        if !answer.state.as_ref().is_some_and(|given| same(&self.state, given.expose())) {
            return Err(OAuthError::Forged("its `state` is not ours"));
        }
        self.issuer_is_right(&answer)?;
        if let Some(error) = &answer.error {
            return Err(self.denied(error));
        }
        let code = answer.code.ok_or(OAuthError::Forged("it has no code"))?;
        let asking = TokenRequest {
            wire: &self.shared.wire,
            owner: &self.owner,
            found: &self.found,
            client: &self.client,
            scopes: &self.scopes,
        };
        let grant = asking.by_code(code.expose(), &self.verifier, &self.redirect).await?;
        self.shared.keep(&grant).await?;
        Ok(grant)
    }

    /// RFC 9207, letter by letter: the answer of another server would hand its code to this one.
    fn issuer_is_right(&self, answer: &AuthorizationResponse) -> Result<(), OAuthError> {
        let expected = &self.found.issuer;
        match &answer.issuer {
            Some(issuer) if *issuer == expected.issuer => Ok(()),
            Some(_) => Err(OAuthError::Forged("its `iss` is another server")),
            None if expected.authorization_response_iss_parameter_supported => {
                Err(OAuthError::Forged("its `iss` is missing"))
            }
            None => Ok(()),
        }
    }

    fn denied(&self, error: &str) -> OAuthError {
        if error == "access_denied" {
            return OAuthError::Declined;
        }
        let place =
            OAuthEndpoint::new("the authorization server", &self.found.issuer.token_endpoint);
        OAuthError::Refused { place, code: transport::known(error).to_owned() }
    }
}

impl std::fmt::Debug for OAuthLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address holds the state.
        f.debug_struct("OAuthLogin")
            .field("issuer", &self.found.issuer.issuer)
            .finish_non_exhaustive()
    }
}
