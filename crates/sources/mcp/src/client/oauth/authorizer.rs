//! The tokens of one caller: which to send, and how they are read, kept and refreshed.

use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use toolcrib_core::{CallContext, Secret};
use uuid::Uuid;

use super::discovery;
use super::error::{OAuthEndpoint, OAuthError};
use super::grant::{TokenGrant, TokenOwner};
use super::shared::{OAuthShared, locked};
use super::token_endpoint;
use crate::client::oauth::login::prompt::PromptableCalls;
use crate::client::oauth::renewal::single_flight::{RenewalOutcome, SingleFlight};

/// Cheap to clone; clones share renewals.
#[derive(Clone)]
pub(crate) struct Authorizer {
    pub(super) shared: Arc<OAuthShared>,
    pub(super) slot: Arc<CallerTokenState>,
}

/// What belongs to one caller.
pub(super) struct CallerTokenState {
    pub(super) owner: TokenOwner,
    pub(super) people: PromptableCalls,
    cached: Mutex<Option<Arc<TokenGrant>>>,
    pub(super) flight: SingleFlight,
    /// The last token that was asked for anew, and when: if that is refused too, asking again
    /// would go on for ever.
    pub(super) newest: Mutex<Option<(Secret, Instant)>>,
}

/// While it lives, the host behind its call may be asked, by whoever asks for tokens of the same
/// caller.
pub(crate) struct LoginPromptGuard {
    slot: Arc<CallerTokenState>,
    number: Uuid,
}

impl Drop for LoginPromptGuard {
    fn drop(&mut self) {
        self.slot.people.leave(self.number);
    }
}

impl CallerTokenState {
    pub(super) fn new(owner: TokenOwner) -> Self {
        Self {
            owner,
            people: PromptableCalls::default(),
            cached: Mutex::default(),
            flight: SingleFlight::default(),
            newest: Mutex::default(),
        }
    }
}

impl Authorizer {
    pub(super) fn new(shared: Arc<OAuthShared>, slot: Arc<CallerTokenState>) -> Self {
        Self { shared, slot }
    }

    /// The token to send now, renewed if it is about to end; `None`: there is none, and the
    /// refusal of the server will say how to get one.
    pub(crate) async fn token(&self) -> Result<Option<Secret>, OAuthError> {
        let Some(grant) = self.current()? else { return Ok(None) };
        if !grant.is_due() {
            return Ok(Some(grant.access.clone()));
        }
        let still_good = || (!grant.is_over()).then(|| grant.access.clone());
        if grant.refresh.is_none() {
            return Ok(still_good());
        }
        let stale = grant.access.clone();
        let this = self.clone();
        let refresh = || async move { this.refresh(&stale).await };
        let (renewed, _) = self.slot.flight.join(refresh).await;
        match renewed {
            Ok(token) => Ok(Some(token)),
            Err(error) if error.passes() => still_good().map(Some).ok_or(error),
            // It cannot be renewed at all: the server will say how to get another.
            Err(_) => Ok(still_good()),
        }
    }

    /// While the guard lives, the host behind this call may be asked to open an address.
    pub(crate) fn attended_by(&self, context: &CallContext) -> LoginPromptGuard {
        let number = self.slot.people.come(context);
        LoginPromptGuard { slot: Arc::clone(&self.slot), number }
    }

    /// The tokens as we know them, else as the file has them: a person may have logged in beside
    /// us.
    fn current(&self) -> Result<Option<Arc<TokenGrant>>, OAuthError> {
        if let Some(grant) = locked(&self.slot.cached).clone() {
            return Ok(Some(grant));
        }
        self.read()
    }

    /// The tokens as the file has them.
    pub(super) fn read(&self) -> Result<Option<Arc<TokenGrant>>, OAuthError> {
        let grant = self.shared.store.current(&self.slot.owner)?.map(Arc::new);
        let secrets = grant.iter().flat_map(|grant| grant.secrets());
        self.shared.wire.learn(secrets);
        locked(&self.slot.cached).clone_from(&grant);
        Ok(grant)
    }

    pub(super) fn take(&self, grant: TokenGrant) -> Secret {
        let token = grant.access.clone();
        *locked(&self.slot.cached) = Some(Arc::new(grant));
        token
    }

    async fn refresh(&self, stale: &Secret) -> RenewalOutcome {
        let _alone = self.shared.store.alone(&self.slot.owner).await?;
        let grant = self.read()?.ok_or(OAuthError::NeedsLogin)?;
        if grant.access != *stale && !grant.is_due() {
            return Ok(grant.access.clone());
        }
        let issuer = discovery::issuer(&self.shared.wire, &grant.issuer).await?;
        let issuer = issuer.ok_or_else(|| {
            OAuthEndpoint::new("the server", self.shared.wire.server())
                .wrong("its authorization server says nothing of itself any more")
        })?;
        self.redeem(&grant, &issuer).await
    }

    /// Uses the refresh token. Only a server that says it is dead makes us forget it.
    pub(super) async fn redeem(
        &self,
        grant: &TokenGrant,
        issuer: &crate::client::oauth::discovery::metadata::IssuerMetadata,
    ) -> RenewalOutcome {
        match token_endpoint::refresh(&self.shared.wire, issuer, grant).await {
            Ok(fresh) => {
                // The old one is used up: a full disk must not lose the new one for this process.
                let token = self.take(fresh.clone());
                self.shared.keep(&fresh).await?;
                Ok(token)
            }
            Err(error) => {
                if token_endpoint::is_dead(&error) {
                    self.shared.store.forget(grant)?;
                    self.read()?;
                }
                Err(error)
            }
        }
    }
}
