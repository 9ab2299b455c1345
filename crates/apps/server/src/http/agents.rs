//! Agents behind the API of `OpenAI`: `/v1/models`, `/v1/chat/completions`, `/v1/responses`.
//!
//! Read in this order: `registry` (which agents there are), `input` (what clients send as a
//! thread), `running` (a run with its listener), `chat` and `responses` with `output` and `store`.

pub(crate) mod chat;
mod input;
mod output;
pub(crate) mod registry;
pub(crate) mod responses;
mod running;
pub(crate) mod store;

use http::StatusCode;
use serde_json::{Value, json};
use toolcrib::agent::model::{ModelFault, ModelFaultKind};

use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// What is wrong with a request, as clients of this API read it.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    status: StatusCode,
    kind: &'static str,
    code: &'static str,
    message: String,
    /// The field that is wrong.
    parameter: Option<String>,
}

impl ApiError {
    fn invalid(parameter: &str, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            kind: "invalid_request_error",
            code: "invalid_request",
            message: message.into(),
            parameter: (!parameter.is_empty()).then(|| parameter.to_owned()),
        }
    }

    fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        let error = Self::invalid("", message);
        Self { status: StatusCode::NOT_FOUND, code, ..error }
    }

    /// Of a model that gave no answer.
    fn of_model(fault: &ModelFault) -> Self {
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

    fn json(&self) -> Value {
        json!({
            "message": self.message, "type": self.kind, "param": self.parameter, "code": self.code,
        })
    }

    fn reply(&self) -> HttpReply {
        reply::status(self.status, &json!({ "error": self.json() }))
    }
}

/// The agents that this caller may ask.
pub(crate) fn models(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let agents = asked.gateway.agents.all();
        let seen = agents.iter().filter(|agent| asked.permit(agent.profile()).is_ok());
        let rows: Vec<Value> = seen
            .map(|agent| {
                json!({
                    "id": agent.settings.name, "object": "model", "created": 0,
                    "owned_by": "toolcrib",
                })
            })
            .collect();
        Ok(reply::json(&json!({ "object": "list", "data": rows })))
    })
}
