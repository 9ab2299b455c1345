//! What all callers of a server share: how it is asked, and where its tokens are kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolcrib_core::Caller;

use super::error::OAuthError;
use super::grant::{TokenGrant, TokenOwner};
use super::transport::OAuthTransport;
use crate::client::oauth::grant::store::TokenStore;
use crate::client::settings::{HttpAuthorization, HttpSettings, OAuthSettings};

/// What all callers of a server share.
pub(super) struct OAuthShared {
    pub(super) wire: OAuthTransport,
    pub(super) store: Arc<TokenStore>,
    pub(super) settings: OAuthSettings,
}

impl OAuthShared {
    pub(super) fn new(settings: &HttpSettings) -> Result<Option<Self>, OAuthError> {
        let HttpAuthorization::OAuth(oauth) = &settings.authorization else { return Ok(None) };
        let store = TokenStore::new(&settings.url, oauth.tokens.as_deref());
        let wire = OAuthTransport::new(settings)?;
        Ok(Some(Self { wire, store: Arc::new(store), settings: oauth.clone() }))
    }

    /// Credentials of the server's own belong to no caller.
    pub(super) fn owner(&self, caller: &Caller) -> TokenOwner {
        if self.settings.machine { TokenOwner::machine() } else { TokenOwner::of(caller) }
    }

    /// Keeps tokens; a thread of its own waits for the disk.
    pub(super) async fn keep(&self, grant: &TokenGrant) -> Result<(), OAuthError> {
        let (store, grant) = (Arc::clone(&self.store), grant.clone());
        let kept = tokio::task::spawn_blocking(move || store.keep(&grant)).await;
        kept.unwrap_or(Err(OAuthError::Broken))
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is done under the lock that could leave a half-made value.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
