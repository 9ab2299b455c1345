//! Secrets that are met while the process runs: tokens that were given, keys that were replaced.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use super::redactor::Redactor;
use super::secret::Secret;

/// Secrets that are known at the same time. Of more, those that nobody holds any more are
/// forgotten first, and then those that were learned the longest ago: a token lives for an hour or
/// a day, and is learned anew when it is renewed.
const MOST_SECRETS: usize = 1_000;
/// The same in bytes: what is searched for costs memory.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// What has been a secret since the process began. Cheap to clone; clones know the same.
///
/// Whoever goes on using a secret keeps the [`Secret`] that it had learned, or a clone of it: as
/// long as it does, others that come give way before this one.
#[derive(Clone, Default)]
pub struct Secrets(Arc<SecretsState>);

#[derive(Default)]
struct SecretsState {
    known: Mutex<KnownSecrets>,
    redactor: RwLock<Arc<Redactor>>,
}

#[derive(Default)]
struct KnownSecrets {
    /// In the order in which they were learned last.
    secrets: VecDeque<LearnedSecret>,
    bytes: usize,
}

struct LearnedSecret {
    /// A copy of our own, so that only others hold what `holders` point at.
    secret: Secret,
    /// One of each that was learned and may still be held: a file that is read twice makes two.
    holders: Vec<Weak<str>>,
}

impl Secrets {
    /// Masks these from now on. What is known already, or too short for a redactor, costs nothing.
    pub fn learn<'a>(&self, secrets: impl IntoIterator<Item = &'a Secret>) {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_new = false;
        for secret in secrets.into_iter().filter(|secret| Redactor::masks(secret)) {
            is_new |= known.take(secret);
        }
        if !is_new {
            return;
        }
        known.make_room();
        let secrets = known.secrets.iter().map(|learned| learned.secret.clone());
        let redactor = Arc::new(Redactor::new(secrets));
        // While the lock is held, so that the newest set is the one that stays.
        *self.0.redactor.write().unwrap_or_else(PoisonError::into_inner) = redactor;
    }

    /// Masks what is known now.
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.redactor.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl KnownSecrets {
    /// Puts a secret last; whether it was not known.
    fn take(&mut self, secret: &Secret) -> bool {
        let before = self.secrets.iter().position(|learned| learned.secret == *secret);
        let before = before.and_then(|place| self.secrets.remove(place));
        let is_new = before.is_none();
        let mut learned = before.unwrap_or_else(|| {
            self.bytes += secret.expose().len();
            LearnedSecret { secret: Secret::new(secret.expose()), holders: Vec::new() }
        });
        // Also takes out those that are gone, so that there are never more than are held.
        learned.holders.retain(|holder| holder.strong_count() > 0 && !secret.is_held_by(holder));
        learned.holders.push(secret.holder());
        self.secrets.push_back(learned);
        is_new
    }

    fn make_room(&mut self) {
        while self.secrets.len() > MOST_SECRETS || self.bytes > MOST_BYTES {
            let free = self.secrets.iter().position(|learned| !learned.is_held());
            let Some(gone) = self.secrets.remove(free.unwrap_or_default()) else { break };
            self.bytes -= gone.secret.expose().len();
        }
    }
}

impl LearnedSecret {
    fn is_held(&self) -> bool {
        self.holders.iter().any(|holder| holder.strong_count() > 0)
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
