//! Why something was refused, for programs that decide by more than words.

use serde_json::Value;

use crate::call::host::QuestionKind;

/// A refusal for whoever speaks a protocol that has a code for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub reason: RefusalReason,
    pub message: String,
}

/// What was wrong, in the terms of no protocol.
#[derive(Debug, Clone, PartialEq)]
pub enum RefusalReason {
    /// Nothing here answers such a request.
    UnknownMethod,
    /// What it names is not there, or what it says does not fit.
    InvalidRequest,
    /// There is no resource at this address.
    NoResource { uri: String },
    /// Nobody behind the call can answer such a question.
    HostLacks(QuestionKind),
    /// As the origin said it: the code of its protocol, and data beside it.
    Origin { code: i32, data: Option<Value> },
}

impl Refusal {
    pub fn new(reason: RefusalReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}
