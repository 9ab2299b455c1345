//! Why a backend could not do something: two faces, as every error has.

use toolcrib_core::{ErrorKind, ToolError};

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendErrorKind {
    /// There is no such event, task, message, list or label.
    NotFound,
    /// It was changed by somebody else since it was read.
    Conflict,
    /// The backend does not let us: credentials, or a right that is missing.
    Refused,
    /// What was asked cannot be done here or with these values; the message says what can.
    Invalid,
    /// The server could not be reached; nothing was sent.
    Unreachable,
    /// The server is overloaded or asks for patience; nothing was done.
    Busy,
    /// It was asked, no answer came, and asking again does no harm.
    Interrupted,
    /// It was sent and no answer came: it may have been done.
    Unknown,
    /// The server or the file said something that is not understood, or failed by itself.
    Broken,
}

/// Why a backend could not do something. The message is for the model and names a cure; the cause
/// is for the operator's log.
#[derive(Debug)]
pub struct BackendError {
    pub kind: BackendErrorKind,
    pub message: String,
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl BackendError {
    pub fn new(kind: BackendErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    /// The same with what brought it about.
    #[must_use]
    pub fn because(self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// That there is no `what` of this id.
    pub fn no(what: &str, id: &str) -> Self {
        let message = format!("there is no {what} `{id}`: list or search to see which there are");
        Self::new(BackendErrorKind::NotFound, message)
    }
}

impl BackendError {
    /// The error of a tool, as the gate takes it.
    pub fn into_error(self) -> ToolError {
        let kind = match self.kind {
            BackendErrorKind::NotFound
            | BackendErrorKind::Conflict
            | BackendErrorKind::Invalid
            | BackendErrorKind::Refused
            | BackendErrorKind::Broken => ErrorKind::Tool,
            BackendErrorKind::Unreachable => ErrorKind::Unavailable,
            BackendErrorKind::Busy => ErrorKind::RateLimited,
            BackendErrorKind::Interrupted => ErrorKind::Network,
            BackendErrorKind::Unknown => ErrorKind::UnknownOutcome,
        };
        let error = ToolError::new(kind, self.message);
        match self.cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }
}
