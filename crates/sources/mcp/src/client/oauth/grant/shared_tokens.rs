//! Tokens that all replicas of a server share: sealed by what they have in common, and renewed by one
//! of them at a time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};
use toolcrib_core::{LedgerError, Secret, TokenLedger};

/// Begins a document that is sealed as this release does it.
const FORM: u8 = 1;

/// Longer than a renewal may take: the answers of an authorization server have 20 seconds each.
const LONGEST_RENEWAL: Duration = Duration::from_secs(90);

/// Where replicas keep what people were given when they signed in.
#[derive(Clone)]
pub struct SharedTokens(Arc<TokenVault>);

struct TokenVault {
    ledger: Arc<dyn TokenLedger>,
    /// The first seals, and any of them opens.
    keys: Vec<LessSafeKey>,
}

/// Why a document cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SharedTokenError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("no token can be sealed: give `[cluster]` a secret")]
    Unsealed,
    #[error("it was sealed under another secret")]
    OtherSecret,
}

impl SharedTokens {
    /// In a ledger, sealed under a key of the first of these secrets. What was sealed under one of
    /// the others opens too.
    pub fn new(ledger: Arc<dyn TokenLedger>, secrets: &[Secret]) -> Self {
        let keys = secrets.iter().filter_map(key_of).collect();
        Self(Arc::new(TokenVault { ledger, keys }))
    }

    pub(crate) async fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SharedTokenError> {
        let Some(sealed) = self.0.ledger.document(name).await? else { return Ok(None) };
        self.open(name, &sealed).map(Some).ok_or(SharedTokenError::OtherSecret)
    }

    pub(crate) async fn write(&self, name: &str, bytes: &[u8]) -> Result<(), SharedTokenError> {
        let sealed = self.seal(name, bytes).ok_or(SharedTokenError::Unsealed)?;
        Ok(self.0.ledger.put(name, Some(sealed)).await?)
    }

    pub(crate) async fn remove(&self, name: &str) -> Result<(), SharedTokenError> {
        Ok(self.0.ledger.put(name, None).await?)
    }

    /// The right to renew what has this name, if no other replica has it now.
    pub(crate) async fn lock(
        &self,
        name: &str,
        holder: &str,
    ) -> Result<Option<SharedRenewal>, SharedTokenError> {
        let is_taken = self.0.ledger.lock(name, holder, LONGEST_RENEWAL).await?;
        let renewal = || SharedRenewal {
            tokens: self.clone(),
            name: name.to_owned(),
            holder: holder.to_owned(),
        };
        Ok(is_taken.then(renewal))
    }

    /// A document names what it is of: moved to another name it does not open.
    fn seal(&self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let key = self.0.keys.first()?;
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut sealed = bytes.to_vec();
        let number = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(number, Aad::from(name), &mut sealed).ok()?;
        Some([&[FORM][..], &nonce, &sealed].concat())
    }

    fn open(&self, name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (form, rest) = sealed.split_first()?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN).filter(|_| *form == FORM)?;
        self.0.keys.iter().find_map(|key| {
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let mut bytes = sealed.to_vec();
            Some(key.open_in_place(nonce, Aad::from(name), &mut bytes).ok()?.to_vec())
        })
    }
}

/// Not the secret itself: other keys of it are for other ends.
fn key_of(secret: &Secret) -> Option<LessSafeKey> {
    let salt = Salt::new(HKDF_SHA256, b"toolcrib");
    let random = salt.extract(secret.expose().as_bytes());
    let key = random.expand(&[b"tokens of sign-ins"], &AES_256_GCM).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(key)))
}

impl PartialEq for SharedTokens {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for SharedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedTokens").field("keys", &self.0.keys.len()).finish_non_exhaustive()
    }
}

/// While it lives, no other replica renews the same tokens.
pub(crate) struct SharedRenewal {
    tokens: SharedTokens,
    name: String,
    holder: String,
}

impl Drop for SharedRenewal {
    fn drop(&mut self) {
        // If nobody can give it back, its time ends it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let tokens = self.tokens.clone();
        let (name, holder) = (std::mem::take(&mut self.name), std::mem::take(&mut self.holder));
        runtime.spawn(async move {
            let _ = tokens.0.ledger.unlock(&name, &holder).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use toolcrib_core::BoxFuture;

    use super::*;

    struct NoLedger;

    impl TokenLedger for NoLedger {
        fn document<'a>(
            &'a self,
            _: &'a str,
        ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LedgerError>> {
            Box::pin(async { Ok(None) })
        }

        fn put<'a>(
            &'a self,
            _: &'a str,
            _: Option<Vec<u8>>,
        ) -> BoxFuture<'a, Result<(), LedgerError>> {
            Box::pin(async { Ok(()) })
        }

        fn lock<'a>(
            &'a self,
            _: &'a str,
            _: &'a str,
            _: Duration,
        ) -> BoxFuture<'a, Result<bool, LedgerError>> {
            Box::pin(async { Ok(true) })
        }

        fn unlock<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), LedgerError>> {
            Box::pin(async { Ok(()) })
        }
    }

    fn under(secrets: &[&str]) -> SharedTokens {
        let secrets: Vec<_> = secrets.iter().map(|secret| Secret::new(*secret)).collect();
        SharedTokens::new(Arc::new(NoLedger), &secrets)
    }

    #[test]
    fn a_document_opens_under_its_name_and_secret_alone() {
        let (ours, others) = (under(&["first secret"]), under(&["another secret"]));
        let sealed = ours.seal("name", b"token").unwrap();
        assert_eq!(ours.open("name", &sealed).as_deref(), Some(&b"token"[..]));
        assert_eq!(ours.open("other name", &sealed), None);
        assert_eq!(others.open("name", &sealed), None);
        assert_ne!(ours.seal("name", b"token").unwrap(), sealed, "a nonce was used twice");
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(ours.open("name", &changed), None, "byte {place} may be changed");
            assert_eq!(ours.open("name", &sealed[..place]), None, "{place} bytes are enough");
        }
    }

    #[test]
    fn while_a_secret_is_exchanged_both_open_and_the_first_seals() {
        let (before, during, after) = (under(&["a"]), under(&["b", "a"]), under(&["b"]));
        let old = before.seal("name", b"token").unwrap();
        let new = during.seal("name", b"token").unwrap();
        let opens = |tokens: &SharedTokens, sealed: &[u8]| tokens.open("name", sealed).is_some();
        assert!(opens(&during, &old) && opens(&during, &new) && opens(&after, &new));
        assert!(!opens(&before, &new) && !opens(&after, &old));
    }
}
