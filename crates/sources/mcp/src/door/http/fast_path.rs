//! The short way: a `tools/call` of 2026-07-28 that wants its result and nothing before it, and a
//! `tools/list`, are answered without the SDK, whose tasks and channels cost more than the call,
//! and whose types cost more than the list. What comes this way, [`FastRequest`] says; what of it
//! belongs to a session, `session_fast_path` begins.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, RequestId};

use super::fast_request::{FastMethod, FastRequest};
use crate::door::call::tool_call::{self, ToolCallMetadata};
use crate::door::client::channel::ClientChannel;
use crate::door::client::features::ClientFeatures;
use crate::door::methods::tools_list;
use crate::door::sdk::results::CallAnswer;
use crate::door::state::{McpRequestContext, McpServerState};
use crate::protocol::object_writer::ObjectWriter;

const JSON: &str = "application/json";

impl FastRequest {
    pub(crate) async fn answer(
        self,
        server_state: &Arc<McpServerState>,
        request_context: McpRequestContext,
    ) -> Response {
        let Self { id, wanted, trace, key, capabilities } = self;
        let client = ClientFeatures::modern(&capabilities);
        let (tool, arguments) = match wanted {
            FastMethod::Call(tool, arguments) => (tool, arguments),
            FastMethod::Tools(cursor) => {
                return listed(server_state, &request_context, &client, &id, cursor.as_deref());
            }
        };
        let line = ClientChannel::silent(&id, client, server_state.settings.patience);
        // One that repeats an argument does not come this way.
        let headers = Some(&HeaderMap::new());
        let marks =
            ToolCallMetadata { trace: trace.as_deref(), key: key.as_ref(), again: None, headers };
        let asked = (tool, arguments, None);
        // On the heap: what holds this future is moved about before it is first polled.
        let answered =
            Box::pin(tool_call::answer(server_state, request_context, line, marks, asked)).await;
        replied(&id, true, answered.map(|(_, answer)| answer))
    }
}

/// The answer to a `tools/list`.
pub(crate) fn listed(
    server_state: &McpServerState,
    request_context: &McpRequestContext,
    client: &ClientFeatures,
    id: &RequestId,
    cursor: Option<&str>,
) -> Response {
    let list = tools_list::tools_as_json(server_state, request_context, client, cursor);
    replied(id, client.is_modern, list.map(CallAnswer::Written))
}

/// The answer to a request as it goes out.
pub(crate) fn replied(
    id: &RequestId,
    is_modern: bool,
    answered: Result<CallAnswer, ErrorData>,
) -> Response {
    let mut message = begun(id);
    let mut code = StatusCode::OK;
    match answered {
        Ok(CallAnswer::Written(result)) => message.text("result", &result),
        Ok(CallAnswer::Result(result) | CallAnswer::Asks(result)) => {
            message.field("result", &result);
        }
        Ok(CallAnswer::Task(task)) => message.field("result", &task),
        Err(error) => {
            // To the clients before it another status says that the server cannot be reached.
            if is_modern {
                code = status(&error);
            }
            message.field("error", &error);
        }
    }
    plainly(code, message)
}

fn begun(id: &RequestId) -> ObjectWriter {
    let mut message = ObjectWriter::new();
    message.text("jsonrpc", b"\"2.0\"");
    message.field("id", id);
    message
}

fn plainly(status: StatusCode, message: ObjectWriter) -> Response {
    let mut response = Response::new(Body::from(message.end()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// The status that 2026-07-28 gives an error, whose request was well formed.
fn status(error: &ErrorData) -> StatusCode {
    match error.code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
