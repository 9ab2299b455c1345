//! Tokens that were found good a moment ago.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::claims::VerifiedToken;

/// How long a token is not looked at again: what an issuer takes back ends within it.
const LONGEST: Duration = Duration::from_mins(1);
const MOST: usize = 10_000;

/// By the digest of the whole token: of two that begin alike each is its own.
#[derive(Default)]
pub(crate) struct TokenCache(Mutex<HashMap<[u8; 32], (VerifiedToken, Instant)>>);

impl TokenCache {
    pub(crate) fn get(&self, digest: &[u8; 32]) -> Option<VerifiedToken> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (verified, end) = seen.get(digest)?;
        (Instant::now() < *end).then(|| verified.clone())
    }

    pub(crate) fn keep(&self, digest: [u8; 32], verified: VerifiedToken) {
        let Some(end) = Instant::now().checked_add(verified.left().min(LONGEST)) else { return };
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST {
            seen.retain(|_, (_, end)| Instant::now() < *end);
        }
        if seen.len() < MOST {
            seen.insert(digest, (verified, end));
        }
    }
}
