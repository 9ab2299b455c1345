//! What must stand in nothing that is printed, logged or left behind.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use anyhow::{Context as _, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::Value;
use toolcrib_core::{Redactor, Secrets};

/// For the whole process, by who knows them: a panic knows of nobody's output, and is masked as
/// well.
static KNOWN: RwLock<BTreeMap<u64, Vec<Arc<Redactor>>>> = RwLock::new(BTreeMap::new());

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
    KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(COMMAND_LINE, known);
}

/// A server whose secrets are masked until this is dropped: a process may have several.
pub(crate) struct SecretHolder(u64);

impl SecretHolder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(COMMAND_LINE + 1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The same as [`keep()`], for this server.
    pub(crate) fn keep(&self, known: Vec<Arc<Redactor>>) {
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(self.0, known);
    }
}

impl Drop for SecretHolder {
    fn drop(&mut self) {
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
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
    for redactor in KNOWN.read().unwrap_or_else(PoisonError::into_inner).values().flatten() {
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
