//! What all callers of a server share: how it is asked, and where its tokens are kept.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcrib_core::Caller;

use super::error::OAuthError;
use super::grant::TokenOwner;
use super::transport::OAuthTransport;
use crate::client::oauth::grant::store::TokenStore;
use crate::client::settings::{HttpAuthorization, HttpSettings, OAuthSettings};

/// What all callers of a server share.
pub(super) struct OAuthShared {
    pub(super) wire: OAuthTransport,
    pub(super) store: TokenStore,
    pub(super) settings: OAuthSettings,
}

impl OAuthShared {
    pub(super) fn new(settings: &HttpSettings) -> Result<Option<Self>, OAuthError> {
        let HttpAuthorization::OAuth(oauth) = &settings.authorization else { return Ok(None) };
        let store = TokenStore::new(&settings.url, oauth);
        let wire = OAuthTransport::new(settings)?;
        Ok(Some(Self { wire, store, settings: oauth.clone() }))
    }

    /// Credentials of the server's own belong to no caller.
    pub(super) fn owner(&self, caller: &Caller) -> TokenOwner {
        if self.settings.machine { TokenOwner::machine() } else { TokenOwner::of(caller) }
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is done under the lock that could leave a half-made value.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
