//! What must stand in nothing that is printed, logged or left behind.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use anyhow::{Context as _, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::Value;
use toolcrib_core::{Redactor, Secrets};

/// For the whole process: a panic knows of nobody's output, and is masked as well.
static KNOWN: RwLock<Vec<Arc<Redactor>>> = RwLock::new(Vec::new());

/// What came to be a secret since the process began, and what was one before.
static LEARNED: LazyLock<Secrets> = LazyLock::new(Secrets::default);

/// For sources that are given tokens while they run.
pub(crate) fn learned() -> Secrets {
    LEARNED.clone()
}

/// Masks what these know from now on. Whoever takes one out has the rest learn what it knew.
pub(crate) fn keep(known: Vec<Arc<Redactor>>) {
    *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = known;
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
    for redactor in &*KNOWN.read().unwrap_or_else(PoisonError::into_inner) {
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
