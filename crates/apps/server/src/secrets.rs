//! What must stand in nothing that is printed, logged or left behind.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, RwLockWriteGuard};

use anyhow::{Context as _, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::Value;
use toolcrib_core::{Redactor, Secret, Secrets};

/// For the whole process: a panic knows of nobody's output, and is masked as well.
static KNOWN: RwLock<KnownSecrets> =
    RwLock::new(KnownSecrets { in_use: BTreeMap::new(), gone: VecDeque::new() });

struct KnownSecrets {
    /// By who knows them.
    in_use: BTreeMap<u64, Vec<Arc<Redactor>>>,
    /// Of the files of servers that are gone, the newest last.
    gone: VecDeque<Arc<Redactor>>,
}

/// Servers that are gone and whose files are still masked: what a call of theirs said may be printed
/// after it, and a process that starts them over and over must not search for more and more.
const MOST_GONE: usize = 4;

/// The command line, of which there is one; each server has a number of its own.
const COMMAND_LINE: u64 = 0;

/// What came to be a secret since the process began, and what was one before.
static LEARNED: LazyLock<Secrets> = LazyLock::new(Secrets::default);

/// For sources that are given tokens while they run.
pub(crate) fn learned() -> Secrets {
    LEARNED.clone()
}

/// Masks what these know from now on, for the command line. Whoever takes one out has the rest learn
/// what it knew.
pub(crate) fn keep(known: Vec<Arc<Redactor>>) {
    known_now().in_use.insert(COMMAND_LINE, known);
}

fn known_now() -> RwLockWriteGuard<'static, KnownSecrets> {
    KNOWN.write().unwrap_or_else(PoisonError::into_inner)
}

/// A server, whose secrets are masked: a process may have several. It belongs to what writes, and
/// not to what answers: calls that end while the server stops are still written down.
pub(crate) struct SecretHolder {
    number: u64,
    held: Mutex<HeldSecrets>,
}

#[derive(Default)]
struct HeldSecrets {
    of_file: Option<Arc<Redactor>>,
    tokens: Vec<Secret>,
}

impl SecretHolder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(COMMAND_LINE + 1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, held: Mutex::default() }
    }

    /// Masks these from now on, for this server: the secrets of the file that is in force, and the
    /// tokens by which callers come in. Tokens that were there before stay masked.
    pub(crate) fn keep(&self, of_file: Arc<Redactor>, tokens: Vec<Secret>) {
        let of_tokens = Arc::new(Redactor::new(tokens.iter().cloned()));
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        LEARNED.learn(held.tokens.iter().filter(|old| !tokens.contains(old)));
        known_now().in_use.insert(self.number, vec![Arc::clone(&of_file), of_tokens]);
        *held = HeldSecrets { of_file: Some(of_file), tokens };
    }
}

impl Drop for SecretHolder {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        let HeldSecrets { of_file, tokens } = std::mem::take(held);
        // First, so that there is no moment in which nobody knows them.
        LEARNED.learn(&tokens);
        let mut known = known_now();
        known.in_use.remove(&self.number);
        // The secrets of a file cannot be had from what masks them, so that is what stays.
        known.gone.extend(of_file.filter(|of_file| !of_file.is_idle()));
        if known.gone.len() > MOST_GONE {
            known.gone.pop_front();
        }
    }
}

/// Has the system write no image of this process into a file when it breaks, nor of the programs
/// that it starts: the secrets stand in it.
pub(crate) fn stay_in_memory() -> Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).context("cannot keep core dumps from being written")
}

/// What was learned first: it may hold another secret, and would not be known without it.
fn each(mut mask: impl FnMut(&Redactor)) {
    mask(&LEARNED.redactor());
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    for redactor in known.in_use.values().flatten().chain(&known.gone) {
        mask(redactor);
    }
}

pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    each(|redactor| {
        if let Cow::Owned(text) = redactor.text(&masked) {
            masked = Cow::Owned(text);
        }
    });
    masked
}

/// The same for every text within.
pub(crate) fn mask(value: &mut Value) {
    each(|redactor| redactor.value(value));
}

/// Whether there is anything to mask.
pub(crate) fn are_known() -> bool {
    let mut are_known = false;
    each(|redactor| are_known |= !redactor.is_idle());
    are_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_held_is_masked_while_it_is_there_and_once_it_is_gone() {
        let [of_file, old, token] =
            ["kept-in-the-file-1", "replaced-token-2", "token-of-a-caller-3"].map(Secret::new);
        let text = [&of_file, &old, &token].map(Secret::expose).join(" ");
        let shows = || {
            let masked = masked(&text);
            [&of_file, &old, &token].map(|secret| masked.contains(secret.expose()))
        };
        let holder = SecretHolder::new();
        let redactor = Arc::new(Redactor::new([of_file.clone()]));
        assert_eq!(shows(), [true; 3]);
        holder.keep(Arc::clone(&redactor), vec![old.clone()]);
        holder.keep(redactor, vec![token.clone()]);
        assert_eq!(shows(), [false; 3]);
        drop(holder);
        assert_eq!(shows(), [false; 3]);
    }
}
