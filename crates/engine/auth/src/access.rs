//! One answer for whatever is presented.

pub(crate) mod error;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::Caller;
use url::Url;

use self::error::AccessError;
use crate::api_key::{ApiKey, digest, id_of, same};
use crate::claims::VerifiedToken;
use crate::issuer::Issuer;
use crate::issuer::settings::IssuerSettings;
use crate::resource::ProtectedResource;
use crate::token::JsonWebToken;
use crate::token_cache::TokenCache;

/// Who may come in, as the configuration says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessSettings {
    /// How others reach us: an origin. Without one no token of an issuer is accepted.
    pub url: Option<Url>,
    pub keys: Vec<ApiKey>,
    pub issuers: Vec<IssuerSettings>,
}

impl AccessSettings {
    /// Whether nobody comes in by it.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.issuers.is_empty()
    }
}

/// What is wrong with a request, in the words of RFC 6750.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge<'a> {
    /// Nothing was presented.
    Missing,
    /// What was presented is not accepted.
    Invalid,
    /// It lacks this scope.
    Insufficient(&'a str),
}

/// Who may come in. It changes whole, with its file.
#[derive(Default)]
pub struct AccessControl {
    url: Option<Url>,
    keys: HashMap<String, ApiKey>,
    issuers: Vec<Arc<Issuer>>,
    seen: TokenCache,
}

impl AccessControl {
    /// An issuer that `before` has with the same settings keeps its keys.
    pub fn new(settings: AccessSettings, before: Option<&Self>) -> Self {
        let keys = settings.keys.into_iter().map(|key| (key.id.clone(), key)).collect();
        let issuers = settings.issuers.into_iter().map(|settings| {
            let old = before.iter().flat_map(|before| &before.issuers);
            let old = old.into_iter().find(|issuer| issuer.settings == settings);
            old.map_or_else(|| Arc::new(Issuer::new(settings)), Arc::clone)
        });
        Self { url: settings.url, keys, issuers: issuers.collect(), seen: TokenCache::default() }
    }

    /// Whose API key this is.
    pub fn key(&self, presented: &str) -> Result<Caller, AccessError> {
        let unknown = AccessError::Rejected("it is no key of this server");
        let key = id_of(presented).and_then(|id| self.keys.get(id)).ok_or(unknown)?;
        if !same(&key.digest, &digest(presented)) {
            return Err(unknown);
        }
        if key.is_over() {
            return Err(AccessError::Rejected("it has expired"));
        }
        Ok(key.caller())
    }

    /// About whom a token of an issuer is, if it is made out to us or to this way in.
    pub async fn token(
        &self,
        presented: &str,
        resource: ProtectedResource<'_>,
    ) -> Result<Caller, AccessError> {
        let Some(url) = &self.url else {
            return Err(AccessError::Rejected("it is none of this server"));
        };
        let verified = self.verified(presented).await?;
        if !verified.is_for(&resource.names(url)) {
            return Err(AccessError::Rejected("it is made out to somebody else"));
        }
        Ok(verified.caller)
    }

    async fn verified(&self, presented: &str) -> Result<VerifiedToken, AccessError> {
        let digest = digest(presented);
        if let Some(verified) = self.seen.get(&digest) {
            return Ok(verified);
        }
        let token = JsonWebToken::read(presented).map_err(AccessError::Rejected)?;
        let name = token.claims.get("iss").and_then(Value::as_str);
        let issuer = self.issuers.iter().find(|own| Some(own.settings.name.as_str()) == name);
        let issuer = issuer.ok_or(AccessError::Rejected("its issuer is not accepted"))?;
        let verified = issuer.verify(&token).await?;
        self.seen.keep(digest, verified.clone());
        Ok(verified)
    }

    /// How others reach us: an origin.
    pub fn url(&self) -> Option<&Url> {
        self.url.as_ref()
    }

    /// Protected resource metadata (RFC 9728); `None`: no issuer is accepted.
    pub fn metadata(&self, resource: ProtectedResource<'_>) -> Option<Value> {
        let issuers: Vec<_> =
            self.issuers.iter().map(|issuer| issuer.settings.name.as_str()).collect();
        let url = self.url.as_ref().filter(|_| !issuers.is_empty())?;
        Some(resource.metadata(url, &issuers))
    }

    /// The value of `WWW-Authenticate`: letters that need no quoting, whatever was asked for.
    pub fn challenge(&self, resource: ProtectedResource<'_>, challenge: Challenge<'_>) -> String {
        let (error, scope) = match challenge {
            Challenge::Missing => ("", resource.scope()),
            Challenge::Invalid => (", error=\"invalid_token\"", resource.scope()),
            Challenge::Insufficient(scope) => (", error=\"insufficient_scope\"", scope.to_owned()),
        };
        let url = self.url.as_ref().filter(|_| !self.issuers.is_empty());
        let metadata = url.map(|url| format!(", resource_metadata=\"{}\"", resource.place(url)));
        let metadata = metadata.unwrap_or_default();
        format!("Bearer realm=\"toolcrib\"{error}, scope=\"{scope}\"{metadata}")
    }

    /// Has the keys of every issuer at hand before a token needs them.
    pub async fn warm(&self) {
        for issuer in &self.issuers {
            issuer.warm().await;
        }
    }

    /// What keeps the keys of issuers away, for the operator.
    pub fn troubles(&self) -> Vec<String> {
        let troubles = self.issuers.iter().filter_map(|issuer| {
            let name = &issuer.settings.name;
            Some(format!(
                "the keys of the issuer `{name}` are not to be had: {}",
                issuer.trouble()?
            ))
        });
        troubles.collect()
    }
}
