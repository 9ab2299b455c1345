//! Who we are to an authorization server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use toolcrib_core::Secret;
use url::Url;
use url::form_urlencoded::byte_serialize;

use super::discovery::OAuthDiscovery;
use super::error::{OAuthEndpoint, OAuthError};
use super::transport::OAuthTransport;
use crate::client::settings::OAuthSettings;

/// What other people read when they are asked to let us in.
const NAME: &str = "toolcrib";

/// A client as one issuer knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OAuthClient {
    pub(super) id: String,
    #[serde(
        default,
        with = "super::grant::secret::optional",
        skip_serializing_if = "Option::is_none"
    )]
    secret: Option<Secret>,
    method: ClientAuthMethod,
}

/// How a client shows its secret at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClientAuthMethod {
    None,
    ClientSecretBasic,
    ClientSecretPost,
}

#[derive(Serialize)]
struct RegistrationRequest<'a> {
    client_name: &'static str,
    redirect_uris: [&'a str; 1],
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

#[derive(Deserialize)]
struct RegistrationResponse {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

impl OAuthClient {
    /// The client that the operator registered by hand.
    pub(super) fn registered(settings: &OAuthSettings, found: &OAuthDiscovery) -> Option<Self> {
        let id = settings.client_id.clone()?;
        let secret = settings.client_secret.clone();
        let method = ClientAuthMethod::chosen(found, secret.is_some());
        Some(Self { id, secret, method })
    }

    /// The one that goes with our metadata document, where the issuer takes such.
    pub(super) fn documented(settings: &OAuthSettings, found: &OAuthDiscovery) -> Option<Self> {
        let document = settings.client_metadata.as_ref()?;
        let taken = found.issuer.client_id_metadata_document_supported;
        taken.then(|| Self {
            id: document.to_string(),
            secret: None,
            method: ClientAuthMethod::None,
        })
    }

    /// A new one, by RFC 7591.
    pub(super) async fn register(
        wire: &OAuthTransport,
        found: &OAuthDiscovery,
        redirect: &Url,
        scopes: &[String],
    ) -> Result<Self, OAuthError> {
        let Some(endpoint) = &found.issuer.registration_endpoint else {
            return Err(OAuthError::Setting(
                "the authorization server registers no clients by itself: register one with it, \
                 and set `client_id` (and `client_secret`) of this source",
            ));
        };
        let registration = RegistrationRequest {
            client_name: NAME,
            redirect_uris: [redirect.as_str()],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: ClientAuthMethod::chosen(found, true).name(),
            application_type: "native",
            scope: (!scopes.is_empty()).then(|| scopes.join(" ")),
        };
        let what = "the registration of clients";
        let body = serde_json::to_vec(&registration).map_err(|_| OAuthError::Broken)?;
        let reply = wire.post_json(what, endpoint, body).await?;
        let answer: RegistrationResponse = reply.accepted(what, endpoint)?;
        // Some answer an empty secret where they mean none.
        let secret = answer.client_secret.filter(|secret| !secret.is_empty()).map(Secret::new);
        wire.learn(&secret);
        let named = answer.token_endpoint_auth_method.as_deref().and_then(ClientAuthMethod::named);
        let method = named.unwrap_or_else(|| ClientAuthMethod::chosen(found, secret.is_some()));
        if method != ClientAuthMethod::None && secret.is_none() {
            return Err(
                OAuthEndpoint::new(what, endpoint).wrong("it gave no secret for its own method")
            );
        }
        Ok(Self { id: answer.client_id, secret, method })
    }

    pub(super) fn secret(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    pub(super) fn has_secret(&self) -> bool {
        self.secret.is_some()
    }

    /// Shows who we are: by fields of the form, or by the value of `Authorization` that this
    /// returns.
    pub(super) fn sign(&self, form: &mut Vec<(&'static str, String)>) -> Option<Secret> {
        let secret = self.secret.as_ref().map_or("", Secret::expose);
        match self.method {
            ClientAuthMethod::ClientSecretBasic => {
                // RFC 6749 section 2.3.1: each part is encoded as in a form.
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encoded(&self.id), encoded(secret));
                return Some(Secret::new(format!("Basic {}", STANDARD.encode(pair))));
            }
            ClientAuthMethod::ClientSecretPost => form.push(("client_secret", secret.to_owned())),
            ClientAuthMethod::None => {}
        }
        form.push(("client_id", self.id.clone()));
        None
    }
}

impl ClientAuthMethod {
    /// What the server takes, the safest first.
    fn chosen(found: &OAuthDiscovery, has_secret: bool) -> Self {
        let Some(methods) = &found.issuer.token_endpoint_auth_methods_supported else {
            return if has_secret { Self::ClientSecretBasic } else { Self::None };
        };
        let takes = |method: Self| methods.iter().any(|name| name == method.name());
        let with_secret = [Self::ClientSecretBasic, Self::ClientSecretPost];
        with_secret.into_iter().find(|method| has_secret && takes(*method)).unwrap_or(Self::None)
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::None, Self::ClientSecretBasic, Self::ClientSecretPost]
            .into_iter()
            .find(|method| method.name() == name)
    }
}
