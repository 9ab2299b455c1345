//! Why there is no answer, and whether anything was sent.

use std::error::Error;
use std::fmt;

/// A request without an answer. Its text is for models and users and names no address that was
/// looked up; the causes (`source`) are for the operator alone.
pub struct EgressError {
    pub kind: EgressErrorKind,
    message: String,
    never_sent: bool,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EgressErrorKind {
    /// The rules forbid it, or it is no request at all. Trying again will not help.
    Refused,
    /// The name is not known, or nobody answers, or there is no TLS with them.
    NotConnected,
    /// The line broke, or what came is no HTTP.
    Broken,
    Timeout(EgressPhase),
    /// The answer is larger than the caller takes, or unpacks to more than it should.
    TooLarge,
}

/// What took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EgressPhase {
    /// Looking up the name, connecting, and TLS.
    Connect,
    /// From the request to the head of the answer.
    FirstByte,
    /// Silence inside the answer's body.
    Body,
    /// All together.
    Total,
}

impl EgressPhase {
    fn words(self) -> &'static str {
        match self {
            Self::Connect => "no connection in time",
            Self::FirstByte => "no answer in time",
            Self::Body => "the answer stopped half-way",
            Self::Total => "the whole took too long",
        }
    }
}

impl EgressError {
    pub(crate) fn new(kind: EgressErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), never_sent: false, cause: None }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(EgressErrorKind::Refused, message).unsent()
    }

    pub(crate) fn timeout(phase: EgressPhase, place: impl fmt::Display) -> Self {
        Self::new(EgressErrorKind::Timeout(phase), format!("`{place}`: {}", phase.words()))
    }

    /// Nothing of the request has left.
    #[must_use]
    pub(crate) fn unsent(mut self) -> Self {
        self.never_sent = true;
        self
    }

    #[must_use]
    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Whether the request certainly had no effect, because nothing of it left.
    pub fn never_sent(&self) -> bool {
        self.never_sent
    }

    /// For models and users; the same as the text of the error.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The causes on one line, for the operator: `outer: inner: innermost`.
    pub fn causes(&self) -> Option<String> {
        let mut next = self.source();
        let mut texts = Vec::new();
        while let Some(cause) = next {
            texts.push(cause.to_string());
            next = cause.source();
        }
        (!texts.is_empty()).then(|| texts.join(": "))
    }
}

impl fmt::Display for EgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for EgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)?;
        self.causes().map_or(Ok(()), |causes| write!(f, " ({causes})"))
    }
}

impl Error for EgressError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
