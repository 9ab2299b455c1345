//! What a caller was given: tokens, and to whom they belong.

pub(crate) mod secret;
pub(crate) mod store;

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolcrib_core::{Caller, Secret};

use super::registration::OAuthClient;

/// The tokens of one caller at one resource, by one issuer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TokenGrant {
    pub(super) owner: TokenOwner,
    pub(super) issuer: String,
    pub(super) resource: String,
    pub(super) client: OAuthClient,
    #[serde(with = "secret")]
    pub(super) access: Secret,
    #[serde(default, with = "secret::optional", skip_serializing_if = "Option::is_none")]
    pub(super) refresh: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) term: Option<TokenLifetime>,
    pub(super) granted: Vec<String>,
    pub(super) asked: Vec<String>,
}

impl TokenGrant {
    /// All that nobody else may see.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        [&self.access].into_iter().chain(&self.refresh).chain(self.client.secret())
    }
}

/// Whose tokens these are. It stands in the file too, so that a file that was moved or whose
/// name was made by hand helps nobody.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct TokenOwner {
    pub(super) tenant: String,
    pub(super) subject: String,
}

impl TokenOwner {
    pub(super) fn of(caller: &Caller) -> Self {
        Self { tenant: caller.tenant.clone(), subject: caller.subject.clone() }
    }

    /// Nobody: no tenant's name begins like this.
    pub(super) fn machine() -> Self {
        Self { tenant: "\0machine".to_owned(), subject: String::new() }
    }
}

/// How long a token is good, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TokenLifetime {
    /// From here on another one is asked for before this one is sent.
    renew: u64,
    end: u64,
}

/// A request on its way must not be overtaken by the end of its token.
const MARGIN: u64 = 30;

impl TokenLifetime {
    /// Of a token that is good for so many seconds from now. One of a short life is used for
    /// most of it, or each request would ask for another.
    pub(super) fn of(seconds: u64) -> Self {
        let now = now();
        let margin = MARGIN.min(seconds / 10);
        Self { renew: now.saturating_add(seconds - margin), end: now.saturating_add(seconds) }
    }
}

impl TokenGrant {
    /// Whether it is time to ask for another token.
    pub(super) fn is_due(&self) -> bool {
        self.term.is_some_and(|term| term.renew <= now())
    }

    pub(super) fn is_over(&self) -> bool {
        self.term.is_some_and(|term| term.end <= now())
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
