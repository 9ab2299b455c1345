//! The three ways to a token: a code, a refresh token, our own credentials.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use toolcrib_core::Secret;
use url::Url;

use super::discovery::Discovered;
use super::error::{OAuthError, Place};
use super::grant::{Grant, Owner, Term};
use super::registration::Client;
use super::transport::Wire;
use crate::client::oauth::discovery::metadata::IssuerMetadata;
use crate::client::oauth::renewal::scopes;

const WHAT: &str = "the authorization server";

/// What a token endpoint answers.
#[derive(Deserialize)]
struct Answer {
    #[serde(deserialize_with = "super::grant::secret::deserialize")]
    access_token: Secret,
    token_type: Option<String>,
    #[serde(default, deserialize_with = "seconds")]
    expires_in: Option<u64>,
    #[serde(default, deserialize_with = "super::grant::optional::deserialize")]
    refresh_token: Option<Secret>,
    scope: Option<String>,
}

/// Some write the seconds as a string; what is no number is no limit that we know.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Seconds {
        Whole(u64),
        Text(String),
        Other(serde::de::IgnoredAny),
    }
    // By a value: what is tried in several ways takes no number of a text.
    let said = Option::<Value>::deserialize(deserializer)?.unwrap_or_default();
    Ok(match Option::<Seconds>::deserialize(said).map_err(D::Error::custom)? {
        Some(Seconds::Whole(seconds)) => Some(seconds),
        Some(Seconds::Text(text)) => text.trim().parse().ok(),
        Some(Seconds::Other(_)) | None => None,
    })
}

/// Who asks whom for what.
pub(super) struct Asking<'a> {
    pub(super) wire: &'a Wire,
    pub(super) owner: &'a Owner,
    pub(super) found: &'a Discovered,
    pub(super) client: &'a Client,
    pub(super) scopes: &'a [String],
}

type Form = Vec<(&'static str, String)>;

impl Asking<'_> {
    /// Turns a code into tokens.
    pub(super) async fn by_code(
        &self,
        code: &str,
        verifier: &Secret,
        redirect: &Url,
    ) -> Result<Grant, OAuthError> {
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
    pub(super) async fn by_credentials(&self) -> Result<Grant, OAuthError> {
        let mut form = vec![
            ("grant_type", "client_credentials".to_owned()),
            ("resource", self.found.resource.clone()),
        ];
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        self.grant(form).await
    }

    async fn grant(&self, form: Form) -> Result<Grant, OAuthError> {
        let answer = ask(self.wire, &self.found.issuer, self.client, form).await?;
        // A server that says nothing of scopes has granted what was asked for.
        let granted = answer.scope.as_deref().map_or_else(|| self.scopes.to_vec(), scopes::split);
        Ok(Grant {
            owner: self.owner.clone(),
            issuer: self.found.issuer.issuer.clone(),
            resource: self.found.resource.clone(),
            client: self.client.clone(),
            access: answer.access_token,
            refresh: answer.refresh_token,
            term: answer.expires_in.map(Term::of),
            granted,
            asked: self.scopes.to_vec(),
        })
    }
}

/// A new access token for an old refresh token, by the issuer that gave it.
pub(super) async fn refresh(
    wire: &Wire,
    issuer: &IssuerMetadata,
    grant: &Grant,
) -> Result<Grant, OAuthError> {
    let token = grant.refresh.as_ref().ok_or(OAuthError::NeedsLogin)?;
    let form = vec![
        ("grant_type", "refresh_token".to_owned()),
        ("refresh_token", token.expose().to_owned()),
        ("resource", grant.resource.clone()),
    ];
    let answer = ask(wire, issuer, &grant.client, form).await?;
    let granted = answer.scope.as_deref().map_or_else(|| grant.granted.clone(), scopes::split);
    Ok(Grant {
        access: answer.access_token,
        // Where none comes, the old one goes on.
        refresh: answer.refresh_token.or_else(|| grant.refresh.clone()),
        term: answer.expires_in.map(Term::of),
        granted,
        ..grant.clone()
    })
}

/// Whether a refusal means that the refresh token is worth nothing any more.
pub(super) fn is_dead(error: &OAuthError) -> bool {
    matches!(error, OAuthError::Refused { code, .. } if code == "invalid_grant")
}

async fn ask(
    wire: &Wire,
    issuer: &IssuerMetadata,
    client: &Client,
    mut form: Form,
) -> Result<Answer, OAuthError> {
    let endpoint = &issuer.token_endpoint;
    let authorization = client.sign(&mut form);
    let reply = wire.post_form(WHAT, endpoint, &form, authorization.as_ref()).await?;
    let answer: Answer = reply.accepted(WHAT, endpoint)?;
    wire.learn([&answer.access_token].into_iter().chain(&answer.refresh_token));
    let place = || Place::new(WHAT, endpoint);
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
