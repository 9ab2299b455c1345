//! The tokens of all callers at one server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use toolcrib_core::Caller;

use super::authorizer::{Authorizer, CallerTokenState};
use super::error::OAuthError;
use super::grant::TokenOwner;
use super::shared::{OAuthShared, locked};
use crate::client::settings::HttpSettings;

/// One for each source; its clones and the authorizers it gives share what is under way.
pub(crate) struct CallerTokens {
    shared: Arc<OAuthShared>,
    slots: Mutex<HashMap<TokenOwner, Weak<CallerTokenState>>>,
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
