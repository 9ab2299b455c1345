//! Why a message cannot be written.

use super::address::NotAnAddress;
use crate::backend::{BackendError, BackendErrorKind};

/// Why a message cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MimeWriteError {
    #[error(transparent)]
    Address(#[from] NotAnAddress),
    #[error("it goes to {0} people, and at most 200 are allowed")]
    Receivers(usize),
    #[error("its {0} is too long: 1000 bytes for a line and 1 MiB for the text are allowed")]
    TooLong(&'static str),
    #[error("it has too many or too large attachments: 20 of 20 MiB together are allowed")]
    Files,
}

impl From<MimeWriteError> for BackendError {
    fn from(error: MimeWriteError) -> Self {
        Self::new(BackendErrorKind::Invalid, format!("the message cannot be written: {error}"))
    }
}
