//! The tokens of all callers at one server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use toolcrib_core::Caller;

use super::authorizer::{Authorizer, CallerTokenState};
use super::error::OAuthError;
use super::grant::{TokenGrant, TokenOwner};
use super::transport::OAuthTransport;
use crate::client::oauth::grant::store::TokenStore;
use crate::client::settings::{HttpAuthorization, HttpSettings, OAuthSettings};

/// One for each source; its clones and the authorizers it gives share what is under way.
pub(crate) struct CallerTokens {
    shared: Arc<OAuthShared>,
    slots: Mutex<HashMap<TokenOwner, Weak<CallerTokenState>>>,
}

/// What all callers of a server share.
pub(super) struct OAuthShared {
    pub(super) wire: OAuthTransport,
    pub(super) store: Arc<TokenStore>,
    pub(super) settings: OAuthSettings,
}

impl CallerTokens {
    /// `None`: this server has no authorization of the kind.
    pub(crate) fn new(settings: &HttpSettings) -> Result<Option<Self>, OAuthError> {
        let Some(shared) = OAuthShared::new(settings)? else { return Ok(None) };
        Ok(Some(Self { shared: Arc::new(shared), slots: Mutex::default() }))
    }

    /// The tokens of one caller.
    pub(crate) fn of(&self, caller: &Caller) -> Authorizer {
        let owner = self.shared.owner(caller);
        let mut slots = locked(&self.slots);
        let known = slots.get(&owner).and_then(Weak::upgrade);
        let slot = known.unwrap_or_else(|| {
            // Callers come and go; what nobody holds is let go with the next that comes.
            slots.retain(|_, slot| slot.strong_count() > 0);
            let slot = Arc::new(CallerTokenState::new(owner.clone()));
            slots.insert(owner, Arc::downgrade(&slot));
            slot
        });
        drop(slots);
        Authorizer::new(Arc::clone(&self.shared), slot)
    }
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
