//! What went wrong, as clients of this API read it.

use http::StatusCode;
use serde_json::{Value, json};
use toolcrib::agent::model::{ModelFault, ModelFaultKind};

use crate::http::routes::reply::{self, HttpReply};

/// What is wrong with a request, as clients of this API read it.
#[derive(Debug, Clone)]
pub(super) struct ApiError {
    status: StatusCode,
    kind: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// The field that is wrong.
    parameter: Option<String>,
}

impl ApiError {
    pub(super) fn invalid(parameter: &str, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            kind: "invalid_request_error",
            code: "invalid_request",
            message: message.into(),
            parameter: (!parameter.is_empty()).then(|| parameter.to_owned()),
        }
    }

    pub(super) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        let error = Self::invalid("", message);
        Self { status: StatusCode::NOT_FOUND, code, ..error }
    }

    pub(super) fn too_many(message: impl Into<String>) -> Self {
        let error = Self::invalid("", message);
        let (kind, code) = ("rate_limit_error", "rate_limit_exceeded");
        Self { status: StatusCode::TOO_MANY_REQUESTS, kind, code, ..error }
    }

    /// Of a model that gave no answer.
    pub(super) fn of_model(fault: &ModelFault) -> Self {
        let (status, kind) = match fault.kind {
            ModelFaultKind::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error"),
            ModelFaultKind::TooLong => (StatusCode::BAD_REQUEST, "invalid_request_error"),
            ModelFaultKind::Timeout => (StatusCode::GATEWAY_TIMEOUT, "server_error"),
            ModelFaultKind::Unreachable
            | ModelFaultKind::Unauthorized
            | ModelFaultKind::NotFound
            | ModelFaultKind::Refused
            | ModelFaultKind::Unavailable
            | ModelFaultKind::Broken
            | ModelFaultKind::Blocked => (StatusCode::BAD_GATEWAY, "server_error"),
        };
        let is_too_long = fault.kind == ModelFaultKind::TooLong;
        let code = if is_too_long { "context_length_exceeded" } else { fault.kind.as_str() };
        Self { status, kind, code, message: fault.message.clone(), parameter: None }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "message": self.message, "type": self.kind, "param": self.parameter, "code": self.code,
        })
    }

    pub(super) fn reply(&self) -> HttpReply {
        reply::status(self.status, &json!({ "error": self.json() }))
    }
}
