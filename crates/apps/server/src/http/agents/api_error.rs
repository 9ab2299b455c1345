//! What went wrong, as clients of this API read it.

use http::StatusCode;
use serde_json::{Value, json};
use toolcrib_agent::model::{ModelFault, ModelFaultKind};

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{self, HttpReply};

/// What is wrong with a request, as clients of this API read it.
#[derive(Debug, Clone)]
pub(in crate::http) struct ApiError {
    pub(super) status: StatusCode,
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

    pub(super) fn conflict(parameter: &str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, ..Self::invalid(parameter, message) }
    }

    /// The thread has a run that has not ended.
    pub(super) fn busy(run: &str) -> Self {
        let message = format!(
            "the conversation is worked on by `resp_{run}`: wait for that one, or cancel it"
        );
        Self::conflict("conversation", message).coded("conversation_busy")
    }

    /// Another request adds to the thread at this moment.
    pub(super) fn held() -> Self {
        let message =
            "another request adds to the conversation now: send this one when that is done";
        Self::conflict("conversation", message).coded("conversation_busy")
    }

    /// What was presented makes nobody the caller any more.
    pub(super) fn unauthenticated() -> Self {
        let message = "the token is not accepted any more: connect again with another one";
        let (status, kind) = (StatusCode::UNAUTHORIZED, "authentication_error");
        Self { status, kind, code: "unauthenticated", ..Self::invalid("", message) }
    }

    /// The same as a problem of our own routes.
    pub(super) fn of_problem(problem: &HttpProblem) -> Self {
        let (kind, message) = problem.told();
        let status = kind.status();
        if [StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY].contains(&status) {
            return Self::invalid("", message);
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            return Self::too_many(message);
        }
        let is_ours = status.is_server_error();
        let error = if is_ours { Self::unavailable(message) } else { Self::invalid("", message) };
        Self { status, code: kind.name(), ..error }
    }

    /// The same, as a program knows it.
    pub(super) fn coded(self, code: &'static str) -> Self {
        Self { code, ..self }
    }

    pub(super) fn too_large(message: impl Into<String>) -> Self {
        let error = Self::invalid("", message).coded("too_large");
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, ..error }
    }

    /// The same, of this field.
    pub(super) fn about(self, parameter: &str) -> Self {
        Self { parameter: Some(parameter.to_owned()), ..self }
    }

    pub(super) fn unavailable(message: &str) -> Self {
        let (status, kind) = (StatusCode::SERVICE_UNAVAILABLE, "server_error");
        Self { status, kind, code: "unavailable", ..Self::invalid("", message) }
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

    /// The same as the problem of our own routes; `missing`: what is not there.
    pub(in crate::http) fn problem(&self, missing: ProblemKind) -> HttpProblem {
        let kind = match self.status {
            StatusCode::NOT_FOUND if self.code == "model_not_found" => ProblemKind::UnknownAgent,
            StatusCode::NOT_FOUND => missing,
            StatusCode::CONFLICT => ProblemKind::RunBusy,
            StatusCode::TOO_MANY_REQUESTS => ProblemKind::TooMany,
            StatusCode::SERVICE_UNAVAILABLE => ProblemKind::Unavailable,
            _ => ProblemKind::InvalidBody,
        };
        HttpProblem::new(kind, self.message.clone())
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
