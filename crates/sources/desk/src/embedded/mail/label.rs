//! What a message lies under: a place, and any labels of the owner.

use crate::backend::{BackendError, BackendErrorKind};

/// Where a message lies: it has one of these at a time, and any labels of the owner beside it.
pub(super) const PLACES: &[&str] =
    &["inbox", "sent", "outbox", "drafts", "archive", "trash", "spam"];

/// A label as it is kept: a place in lower case, one of the owner as it was written.
pub(super) fn label_name(label: &str) -> Result<String, BackendError> {
    let label = label.trim();
    let lower = label.to_ascii_lowercase();
    if PLACES.contains(&&*lower) {
        return Ok(lower);
    }
    if label.is_empty() || label.chars().count() > 60 || label.chars().any(char::is_control) {
        let message = "a label is one line of 1 to 60 characters";
        return Err(BackendError::new(BackendErrorKind::Invalid, message));
    }
    Ok(label.to_owned())
}
