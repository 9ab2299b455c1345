//! Why a source has nothing to give.

use std::error::Error;

/// Why a source has no list to give: for the operator, with its causes.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    message: String,
    #[source]
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl SourceError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None }
    }

    #[must_use]
    pub fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }
}
