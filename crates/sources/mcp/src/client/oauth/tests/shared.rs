//! Tokens that all replicas of a server have.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolcrib_core::{BoxFuture, Caller, LedgerError, Secret, TokenLedger};

use super::resource::visit;
use super::{World, log_in, vault};
use crate::client::oauth::caller_tokens::CallerTokens;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::grant::shared_tokens::SharedTokens;
use crate::client::settings::{HttpSettings, OAuthSettings};

/// What replicas have in common.
#[derive(Default)]
struct TokensInMemory {
    documents: Mutex<HashMap<String, Vec<u8>>>,
    renewals: Mutex<HashMap<String, (String, Instant)>>,
    is_away: AtomicBool,
    is_read_only: AtomicBool,
}

impl TokensInMemory {
    fn reach(&self) -> Result<(), LedgerError> {
        if self.is_away.load(Ordering::Relaxed) {
            return Err(LedgerError::new("the database is away"));
        }
        Ok(())
    }
}

impl TokenLedger for TokensInMemory {
    fn document<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LedgerError>> {
        Box::pin(async move {
            self.reach()?;
            Ok(self.documents.lock().unwrap().get(name).cloned())
        })
    }

    fn put<'a>(
        &'a self,
        name: &'a str,
        sealed: Option<Vec<u8>>,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            self.reach()?;
            if self.is_read_only.load(Ordering::Relaxed) {
                return Err(LedgerError::new("the database cannot be written"));
            }
            let mut documents = self.documents.lock().unwrap();
            match sealed {
                Some(sealed) => documents.insert(name.to_owned(), sealed),
                None => documents.remove(name),
            };
            Ok(())
        })
    }

    fn lock<'a>(
        &'a self,
        name: &'a str,
        holder: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            self.reach()?;
            let mut renewals = self.renewals.lock().unwrap();
            let of_another =
                |(has, until): &(String, Instant)| *until > Instant::now() && has != holder;
            if renewals.get(name).is_some_and(of_another) {
                return Ok(false);
            }
            renewals.insert(name.to_owned(), (holder.to_owned(), Instant::now() + lasts));
            Ok(true)
        })
    }

    fn unlock<'a>(
        &'a self,
        name: &'a str,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(async move {
            self.reach()?;
            let mut renewals = self.renewals.lock().unwrap();
            if renewals.get(name).is_some_and(|(has, _)| has == holder) {
                renewals.remove(name);
            }
            Ok(())
        })
    }
}

/// How one replica reaches the server of this world.
fn replica(world: &World, tokens: &Arc<TokensInMemory>, secret: &str) -> HttpSettings {
    let ledger: Arc<dyn TokenLedger> = Arc::clone(tokens) as _;
    let shared = SharedTokens::new(ledger, &[Secret::new(secret)]);
    world.resource.settings(OAuthSettings { shared: Some(shared), ..OAuthSettings::default() })
}

fn replicas(world: &World, tokens: &Arc<TokensInMemory>, count: usize) -> Vec<CallerTokens> {
    (0..count).map(|_| vault(&replica(world, tokens, "the secret of all"))).collect()
}

#[tokio::test]
async fn who_signed_in_at_one_replica_is_signed_in_at_all() {
    let (world, tokens) = (World::new().await, Arc::new(TokensInMemory::default()));
    let (anna, ben) = (Caller::new("acme", "anna"), Caller::new("acme", "ben"));
    log_in(&replica(&world, &tokens, "the secret of all"), &anna).await.unwrap();
    for replica in replicas(&world, &tokens, 3) {
        assert_eq!(visit(&world.resource.url, &replica.of(&anna)).await, Ok(200));
        let other = visit(&world.resource.url, &replica.of(&ben)).await;
        assert_eq!(other, Err(OAuthError::NeedsLogin));
    }
    assert_eq!(world.issuer.asked_for("authorization_code").len(), 1);
    let documents = tokens.documents.lock().unwrap();
    for (name, sealed) in &*documents {
        let seen = String::from_utf8_lossy(sealed);
        for word in ["anna", "access", "refresh", "issuer", "127.0.0.1"] {
            assert!(!name.contains(word) && !seen.contains(word), "`{word}` can be read");
        }
    }
}

#[tokio::test]
async fn replicas_that_need_another_token_at_once_ask_for_one() {
    let (world, tokens) = (World::new().await, Arc::new(TokensInMemory::default()));
    world.issuer.set(|manners| manners.lifetime = 0);
    let caller = Caller::local();
    log_in(&replica(&world, &tokens, "the secret of all"), &caller).await.unwrap();
    world.issuer.set(|manners| manners.lifetime = 3600);
    let replicas = replicas(&world, &tokens, 8);
    // Each has the old one in its memory.
    let visits = replicas.iter().map(|replica| {
        let authorizer = replica.of(&caller);
        let url = world.resource.url.clone();
        async move { visit(&url, &authorizer).await }
    });
    let seen = futures_util::future::join_all(visits).await;
    assert_eq!(seen, vec![Ok(200); 8]);
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}

#[tokio::test]
async fn while_the_tokens_cannot_be_had_nobody_is_asked_to_sign_in() {
    let (world, tokens) = (World::new().await, Arc::new(TokensInMemory::default()));
    let caller = Caller::local();
    log_in(&replica(&world, &tokens, "the secret of all"), &caller).await.unwrap();
    let fresh = replicas(&world, &tokens, 1).remove(0).of(&caller);
    tokens.is_away.store(true, Ordering::Relaxed);
    let error = visit(&world.resource.url, &fresh).await.unwrap_err();
    assert!(error.passes(), "{error}");
    let told = "the tokens that all replicas share cannot be had now: the ledger does not answer: \
                the database is away";
    assert_eq!(error.to_string(), told);
    tokens.is_away.store(false, Ordering::Relaxed);
    assert_eq!(visit(&world.resource.url, &fresh).await, Ok(200));
    assert_eq!(world.issuer.asked_for("authorization_code").len(), 1);
}

#[tokio::test]
async fn a_replica_with_another_secret_is_told_so_and_changes_nothing() {
    let (world, tokens) = (World::new().await, Arc::new(TokensInMemory::default()));
    let caller = Caller::local();
    log_in(&replica(&world, &tokens, "the secret of all"), &caller).await.unwrap();
    let before = tokens.documents.lock().unwrap().clone();
    let stranger = vault(&replica(&world, &tokens, "another")).of(&caller);
    let error = visit(&world.resource.url, &stranger).await.unwrap_err();
    assert!(!error.passes(), "{error}");
    let told = "was sealed under another `secret` of `[cluster]`: give this server the one that";
    assert!(error.to_string().contains(told), "{error}");
    assert_eq!(*tokens.documents.lock().unwrap(), before);
}

#[tokio::test]
async fn after_the_secret_was_exchanged_a_person_signs_in_anew() {
    let (world, tokens) = (World::new().await, Arc::new(TokensInMemory::default()));
    let caller = Caller::local();
    log_in(&replica(&world, &tokens, "the secret of all"), &caller).await.unwrap();
    let after = replica(&world, &tokens, "the next one");
    log_in(&after, &caller).await.unwrap();
    assert_eq!(visit(&world.resource.url, &vault(&after).of(&caller)).await, Ok(200));
}

#[tokio::test]
async fn a_token_that_could_not_be_kept_is_used_here_and_kept_as_soon_as_that_can_be() {
    let (world, tokens) = (World::new().await, Arc::new(TokensInMemory::default()));
    world.issuer.set(|manners| manners.lifetime = 0);
    let caller = Caller::local();
    log_in(&replica(&world, &tokens, "the secret of all"), &caller).await.unwrap();
    world.issuer.set(|manners| manners.lifetime = 3600);
    let all = replicas(&world, &tokens, 2);
    tokens.is_read_only.store(true, Ordering::Relaxed);
    let here = all[0].of(&caller);
    for _ in 0..2 {
        assert_eq!(visit(&world.resource.url, &here).await, Ok(200));
    }
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
    tokens.is_read_only.store(false, Ordering::Relaxed);
    // It waits for the one that has the right to it, and uses what that got.
    assert_eq!(visit(&world.resource.url, &all[1].of(&caller)).await, Ok(200));
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}

#[tokio::test]
async fn a_replica_that_died_while_it_renewed_is_waited_for_and_no_longer() {
    let (world, tokens) = (World::new().await, Arc::new(TokensInMemory::default()));
    world.issuer.set(|manners| manners.lifetime = 0);
    let caller = Caller::local();
    log_in(&replica(&world, &tokens, "the secret of all"), &caller).await.unwrap();
    world.issuer.set(|manners| manners.lifetime = 3600);
    let replica = replicas(&world, &tokens, 1).remove(0).of(&caller);
    let names: Vec<String> = tokens.documents.lock().unwrap().keys().cloned().collect();
    for name in names {
        assert!(tokens.lock(&name, "who died", Duration::from_millis(300)).await.unwrap());
    }
    assert_eq!(visit(&world.resource.url, &replica).await, Ok(200));
    assert!(tokens.renewals.lock().unwrap().values().all(|(_, until)| *until < Instant::now()));
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}
