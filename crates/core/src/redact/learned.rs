//! Secrets that are met while the process runs: tokens that were given, keys that were replaced.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::Redactor;
use crate::secret::Secret;

/// Secrets that are known at the same time. Of more the oldest are forgotten, which have ended by
/// then: a token lives for an hour or a day.
const MOST_SECRETS: usize = 1_000;
/// The same in bytes: what is searched for costs memory.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// What has been a secret since the process began. Cheap to clone; clones know the same.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Inner>);

#[derive(Default)]
struct Inner {
    known: Mutex<Known>,
    redactor: RwLock<Arc<Redactor>>,
}

#[derive(Default)]
struct Known {
    secrets: VecDeque<Secret>,
    bytes: usize,
}

impl Secrets {
    /// Masks these from now on. What is known already, or too short for a redactor, costs nothing.
    pub fn learn<'a>(&self, secrets: impl IntoIterator<Item = &'a Secret>) {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_new = false;
        for secret in secrets {
            if Redactor::masks(secret) && !known.secrets.contains(secret) {
                known.bytes += secret.expose().len();
                known.secrets.push_back(secret.clone());
                is_new = true;
            }
        }
        if !is_new {
            return;
        }
        while known.secrets.len() > MOST_SECRETS || known.bytes > MOST_BYTES {
            let Some(oldest) = known.secrets.pop_front() else { break };
            known.bytes -= oldest.expose().len();
        }
        let redactor = Arc::new(Redactor::new(known.secrets.iter().cloned()));
        // While the lock is held, so that the newest set is the one that stays.
        *self.0.redactor.write().unwrap_or_else(PoisonError::into_inner) = redactor;
    }

    /// Masks what is known now.
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.redactor.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Two are the same if they learn together.
impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}
