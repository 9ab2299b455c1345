//! Why a text is no pin file.

use toolcrib_json::told;

/// The version of the form that is read and written.
pub(super) const VERSION: u64 = 1;

/// Why a text is no pin file.
#[derive(Debug, thiserror::Error)]
pub enum PinFileError {
    #[error(
        "the pin file cannot be read: {}: restore it, or delete it and accept the tools anew",
        told(.0)
    )]
    Unreadable(serde_json::Error),
    #[error(
        "the pin file has version {found}, this program knows {VERSION}: use the program that \
         wrote it, or delete it and accept the tools anew"
    )]
    Version { found: u64 },
}

/// Not as a cause, since it would be told once more with names of types.
impl From<serde_json::Error> for PinFileError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl PinFileError {
    /// Counted from 1, where a line is to blame.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Unreadable(error) => Some(error.line()),
            Self::Version { .. } => None,
        }
    }
}
