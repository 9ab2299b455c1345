//! The three ways to a token: a code, a refresh token, our own credentials.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use toolcrib_core::Secret;
use url::Url;

use super::discovery::OAuthDiscovery;
use super::error::{OAuthEndpoint, OAuthError};
use super::grant::{TokenGrant, TokenLifetime, TokenOwner};
use super::registration::OAuthClient;
use super::transport::OAuthTransport;
use crate::client::oauth::discovery::metadata::IssuerMetadata;
use crate::client::oauth::renewal::scopes;

const WHAT: &str = "the authorization server";

/// What a token endpoint answers.
#[derive(Deserialize)]
struct TokenResponse {
    #[serde(deserialize_with = "super::grant::secret::deserialize")]
    access_token: Secret,
    token_type: Option<String>,
    #[serde(default, deserialize_with = "seconds")]
    expires_in: Option<u64>,
    #[serde(default, deserialize_with = "super::grant::secret::optional::deserialize")]
    refresh_token: Option<Secret>,
    scope: Option<String>,
}

/// Some write the seconds as a string; what is no number is no limit that we know.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ExpirySeconds {
        Whole(u64),
        Text(String),
        Other(serde::de::IgnoredAny),
    }
    // By a value: what is tried in several ways takes no number of a text.
    let said = Option::<Value>::deserialize(deserializer)?.unwrap_or_default();
    Ok(match Option::<ExpirySeconds>::deserialize(said).map_err(D::Error::custom)? {
        Some(ExpirySeconds::Whole(seconds)) => Some(seconds),
        Some(ExpirySeconds::Text(text)) => text.trim().parse().ok(),
        Some(ExpirySeconds::Other(_)) | None => None,
    })
}

/// Who asks whom for what.
pub(super) struct TokenRequest<'a> {
    pub(super) wire: &'a OAuthTransport,
    pub(super) owner: &'a TokenOwner,
    pub(super) found: &'a OAuthDiscovery,
    pub(super) client: &'a OAuthClient,
    pub(super) scopes: &'a [String],
}

type TokenForm = Vec<(&'static str, String)>;

impl TokenRequest<'_> {
    /// Turns a code into tokens.
    pub(super) async fn by_code(
        &self,
        code: &str,
        verifier: &Secret,
        redirect: &Url,
    ) -> Result<TokenGrant, OAuthError> {
        let form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code.to_owned()),
            ("redirect_uri", redirect.to_string()),
            ("code_verifier", verifier.expose().to_owned()),
            ("resource", self.found.resource.clone()),
        ];
        self.grant(form).await
    }

    /// Asks with our own credentials, for nobody.
    pub(super) async fn by_credentials(&self) -> Result<TokenGrant, OAuthError> {
        let mut form = vec![
            ("grant_type", "client_credentials".to_owned()),
            ("resource", self.found.resource.clone()),
        ];
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        self.grant(form).await
    }

    async fn grant(&self, form: TokenForm) -> Result<TokenGrant, OAuthError> {
        let answer = ask(self.wire, &self.found.issuer, self.client, form).await?;
        // A server that says nothing of scopes has granted what was asked for.
        let granted = answer.scope.as_deref().map_or_else(|| self.scopes.to_vec(), scopes::split);
        Ok(TokenGrant {
            owner: self.owner.clone(),
            issuer: self.found.issuer.issuer.clone(),
            resource: self.found.resource.clone(),
            client: self.client.clone(),
            access: answer.access_token,
            refresh: answer.refresh_token,
            term: answer.expires_in.map(TokenLifetime::of),
            granted,
            asked: self.scopes.to_vec(),
        })
    }
}

/// A new access token for an old refresh token, by the issuer that gave it.
pub(super) async fn refresh(
    wire: &OAuthTransport,
    issuer: &IssuerMetadata,
    grant: &TokenGrant,
) -> Result<TokenGrant, OAuthError> {
    let token = grant.refresh.as_ref().ok_or(OAuthError::NeedsLogin)?;
    let form = vec![
        ("grant_type", "refresh_token".to_owned()),
        ("refresh_token", token.expose().to_owned()),
        ("resource", grant.resource.clone()),
    ];
    let answer = ask(wire, issuer, &grant.client, form).await?;
    let granted = answer.scope.as_deref().map_or_else(|| grant.granted.clone(), scopes::split);
    Ok(TokenGrant {
        access: answer.access_token,
        // Where none comes, the old one goes on.
        refresh: answer.refresh_token.or_else(|| grant.refresh.clone()),
        term: answer.expires_in.map(TokenLifetime::of),
        granted,
        ..grant.clone()
    })
}

/// Whether a refusal means that the refresh token is worth nothing any more.
pub(super) fn is_dead(error: &OAuthError) -> bool {
    matches!(error, OAuthError::Refused { code, .. } if code == "invalid_grant")
}

async fn ask(
    wire: &OAuthTransport,
    issuer: &IssuerMetadata,
    client: &OAuthClient,
    mut form: TokenForm,
) -> Result<TokenResponse, OAuthError> {
    let endpoint = &issuer.token_endpoint;
    let authorization = client.sign(&mut form);
    let reply = wire.post_form(WHAT, endpoint, &form, authorization.as_ref()).await?;
    let answer: TokenResponse = reply.accepted(WHAT, endpoint)?;
    wire.learn([&answer.access_token].into_iter().chain(&answer.refresh_token));
    let place = || OAuthEndpoint::new(WHAT, endpoint);
    if answer.token_type.as_deref().is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(place().wrong("its token is of another kind than `Bearer`"));
    }
    let token = answer.access_token.expose();
    let sendable = token.bytes().all(|byte| byte.is_ascii_graphic());
    if token.is_empty() || !sendable {
        return Err(place().wrong("its token is none that can be sent"));
    }
    Ok(answer)
}
