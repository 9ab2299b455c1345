//! From a refusal to another token.

pub(crate) mod scopes;
pub(crate) mod single_flight;

use std::time::Duration;

use tokio::time::Instant;
use toolcrib_core::Secret;
use url::Url;

use super::authorizer::Authorizer;
use super::discovery::{OAuthDiscovery, discover};
use super::error::{OAuthError, cut};
use super::grant::TokenGrant;
use super::login::{LoginPurpose, OAuthLogin};
use super::registration::OAuthClient;
use super::shared::{OAuthShared, locked};
use super::token_endpoint::TokenRequest;
use crate::client::http::token_provider::TokenRefusal;
use crate::client::oauth::discovery::challenge::BearerChallenge;
use crate::client::oauth::login::callback::LoginCallback;
use scopes::{OFFLINE, ScopeChoice};
use single_flight::RenewalOutcome;

/// A token that is refused this soon after it was asked for anew will not be accepted later.
const SOON: Duration = Duration::from_secs(30);

impl Authorizer {
    /// The server refused a request that carried `sent`: the token for one more try.
    pub(crate) async fn refused(
        &self,
        sent: Option<&Secret>,
        refusal: &TokenRefusal,
    ) -> Result<Secret, OAuthError> {
        loop {
            let this = self.clone();
            let (old, why) = (sent.cloned(), refusal.clone());
            let renew = || async move { renew(&this, old.as_ref(), &why).await };
            let (outcome, own) = self.slot.flight.join(renew).await;
            // Somebody else's renewal may have been for another reason than ours.
            if own || outcome.as_ref().map_or(true, |token| Some(token) != sent) {
                return outcome;
            }
        }
    }
}

async fn renew(this: &Authorizer, sent: Option<&Secret>, refusal: &TokenRefusal) -> RenewalOutcome {
    let step_up = refusal.wants_more_scopes();
    if refusal.status != 401 && !step_up {
        return Err(OAuthError::Forbidden);
    }
    let before = this.read()?;
    if let Some(grant) = before.as_deref().filter(|grant| Some(&grant.access) != sent) {
        // Another call, or a person elsewhere, was faster.
        if !grant.is_over() {
            return Ok(grant.access.clone());
        }
    }
    if !step_up && is_newest(this, sent) {
        return Err(OAuthError::InVain);
    }
    let challenge = refusal.challenge();
    let shared = &this.shared;
    let found = discover(&shared.wire, &challenge).await?;
    let before = before.filter(|grant| is_of(grant, &found));
    if let Some(grant) = before.as_deref() {
        if step_up {
            is_a_step(grant, &challenge)?;
        } else if let Some(token) = by_refresh(this, grant, &found).await? {
            return Ok(token);
        }
    }
    let scopes = choose(shared, &found, &challenge, before.as_deref());
    let grant = if shared.settings.machine {
        by_credentials(this, &found, &scopes).await?
    } else {
        by_person(this, found, scopes).await?
    };
    *locked(&this.slot.newest) = Some((grant.access.clone(), Instant::now()));
    Ok(this.take(grant))
}

fn is_newest(this: &Authorizer, sent: Option<&Secret>) -> bool {
    let newest = locked(&this.slot.newest);
    newest.as_ref().is_some_and(|(token, when)| Some(token) == sent && when.elapsed() < SOON)
}

/// Tokens and clients belong to the issuer that gave them; another one must not see them.
pub(super) fn is_of(grant: &TokenGrant, found: &OAuthDiscovery) -> bool {
    grant.issuer == found.issuer.issuer && grant.resource == found.resource
}

/// To ask again for what was asked for would go on for ever.
fn is_a_step(grant: &TokenGrant, challenge: &BearerChallenge) -> Result<(), OAuthError> {
    let wanted = challenge.scopes();
    if wanted.iter().all(|scope| grant.asked.contains(scope) || grant.granted.contains(scope)) {
        return Err(OAuthError::StepUpInVain(cut(&wanted.join(" "))));
    }
    Ok(())
}

/// `None`: there is nothing to refresh with any more.
async fn by_refresh(
    this: &Authorizer,
    grant: &TokenGrant,
    found: &OAuthDiscovery,
) -> Result<Option<Secret>, OAuthError> {
    if grant.refresh.is_none() {
        return Ok(None);
    }
    let _alone = this.shared.store.alone(&this.slot.owner).await?;
    // Another process may have been faster, or even with another issuer.
    let Some(now) = this.read()?.filter(|now| is_of(now, found)) else { return Ok(None) };
    if now.access != grant.access && !now.is_over() {
        return Ok(Some(now.access.clone()));
    }
    let renewed = this.redeem(&now, &found.issuer).await;
    if matches!(renewed, Err(OAuthError::Refused { .. } | OAuthError::NeedsLogin)) {
        return Ok(None);
    }
    renewed.map(Some)
}

pub(super) fn choose(
    shared: &OAuthShared,
    found: &OAuthDiscovery,
    challenge: &BearerChallenge,
    before: Option<&TokenGrant>,
) -> Vec<String> {
    let OAuthShared { settings, .. } = shared;
    let knows_offline = found.issuer.scopes_supported.iter().any(|scope| scope == OFFLINE);
    let choice = ScopeChoice {
        configured: &settings.scopes,
        challenged: &challenge.scopes(),
        supported: &found.scopes,
        before: before.map_or(&[], |grant| &grant.asked),
        offline: knows_offline && !settings.machine,
    };
    choice.scopes()
}

async fn by_credentials(
    this: &Authorizer,
    found: &OAuthDiscovery,
    scopes: &[String],
) -> Result<TokenGrant, OAuthError> {
    let shared = &this.shared;
    let missing = OAuthError::Setting(
        "a source that logs in by itself needs `client_id` and `client_secret`",
    );
    let client = OAuthClient::registered(&shared.settings, found).filter(OAuthClient::has_secret);
    let client = client.ok_or(missing)?;
    shared.store.bind(&client.id, &found.issuer.issuer)?;
    let owner = &this.slot.owner;
    let asking = TokenRequest { wire: &shared.wire, owner, found, client: &client, scopes };
    let grant = asking.by_credentials().await?;
    shared.keep(&grant).await?;
    Ok(grant)
}

async fn by_person(
    this: &Authorizer,
    found: OAuthDiscovery,
    scopes: Vec<String>,
) -> Result<TokenGrant, OAuthError> {
    let people = &this.slot.people;
    if people.is_empty() {
        return Err(OAuthError::NeedsLogin);
    }
    let callback = LoginCallback::listen().await?;
    let login = begin(this, found, scopes, callback.address().clone()).await?;
    let state = login.state().clone();
    let answering = callback.answer(&state);
    tokio::pin!(answering);
    let answer = tokio::select! {
        // The person may be done in the browser before the host has said so.
        answer = &mut answering => answer?,
        shown = people.show(this.shared.wire.server(), login.url()) => {
            shown?;
            answering.await?
        }
    };
    login.grant(answer).await
}

/// Decides who we are to this issuer, and begins.
pub(super) async fn begin(
    this: &Authorizer,
    found: OAuthDiscovery,
    scopes: Vec<String>,
    redirect: Url,
) -> Result<OAuthLogin, OAuthError> {
    let OAuthShared { settings, wire, store, .. } = &*this.shared;
    store.is_ready()?;
    let client = if let Some(client) = OAuthClient::registered(settings, &found) {
        store.bind(&client.id, &found.issuer.issuer)?;
        client
    } else if let Some(client) = OAuthClient::documented(settings, &found) {
        client
    } else {
        OAuthClient::register(wire, &found, &redirect, &scopes).await?
    };
    let owner = this.slot.owner.clone();
    let purpose = LoginPurpose { owner, found, client, scopes, redirect };
    OAuthLogin::new(std::sync::Arc::clone(&this.shared), purpose)
}
