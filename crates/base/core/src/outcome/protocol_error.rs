//! An error as the protocol of its origin has it.

use serde_json::Value;

/// An error as the protocol has it, for clients that read its code.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtocolError {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
}

impl ProtocolError {
    pub const METHOD_NOT_FOUND: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    /// In the revisions before 2026-07-28, which says `INVALID_PARAMS` of it.
    pub const NO_RESOURCE: i32 = -32002;
    pub const CLIENT_LACKS: i32 = -32021;

    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    #[must_use]
    pub fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}
