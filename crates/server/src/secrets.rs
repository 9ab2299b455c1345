//! What must stand in nothing that is printed or logged.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use toolcrib::Redactor;

/// For the whole process: a panic knows of nobody's output, and is masked as well.
static KNOWN: RwLock<Vec<Arc<Redactor>>> = RwLock::new(Vec::new());

/// Masks what these know from now on, and no longer what others knew.
pub(crate) fn keep(known: Vec<Arc<Redactor>>) {
    *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = known;
}

pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().fold(Cow::Borrowed(text), |text, redactor| match redactor.text(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(masked) => Cow::Owned(masked),
    })
}

/// The same for every text within.
pub(crate) fn mask(value: &mut Value) {
    for redactor in &*KNOWN.read().unwrap_or_else(PoisonError::into_inner) {
        redactor.value(value);
    }
}

/// Whether there is anything to mask.
pub(crate) fn are_known() -> bool {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().any(|redactor| !redactor.is_idle())
}
