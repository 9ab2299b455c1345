//! Messages of JSON-RPC 2.0, taken apart: what is none, is refused with the reason.

use rmcp::model::{ErrorData, RequestId};
use serde_json::{Map, Value, json};
use toolcrib_json::repair::{RepairBounds, UnreadableJson};

use super::id::StrictRequestId;
use super::json::object_writer::ObjectWriter;

/// Codes of JSON-RPC 2.0, section 5.1.
pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;

/// One message.
pub(crate) enum RpcMessage {
    Request(RpcRequest),
    Notification(RpcNotification),
    Response(RpcResponse),
}

pub(crate) struct RpcRequest {
    pub(crate) id: RequestId,
    pub(crate) method: String,
    /// Left out, it has no fields.
    pub(crate) params: Map<String, Value>,
}

pub(crate) struct RpcNotification {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// The answer to a request of ours.
pub(crate) struct RpcResponse {
    pub(crate) id: Option<RequestId>,
    /// `None`: it is an error.
    pub(crate) result: Option<Value>,
}

/// Why something is no message.
pub(crate) struct NoMessage {
    /// Who asked, where that can be read for certain.
    pub(crate) id: Option<RequestId>,
    pub(crate) told: &'static str,
}

impl RpcMessage {
    pub(crate) fn of(mut message: Map<String, Value>) -> Result<Self, NoMessage> {
        let asked = id(&message);
        if let Err(told) = check(&message) {
            return Err(NoMessage { id: asked, told });
        }
        let Some(Value::String(method)) = message.swap_remove("method") else {
            let result = message.swap_remove("result");
            return Ok(Self::Response(RpcResponse { id: asked, result }));
        };
        let params = match message.swap_remove("params") {
            Some(Value::Object(params)) => params,
            _ => Map::new(),
        };
        Ok(match asked {
            Some(id) => Self::Request(RpcRequest { id, method, params }),
            None => Self::Notification(RpcNotification { method, params }),
        })
    }
}

/// One message of a batch. `Err`: the answer to what is none.
pub(crate) fn of_batch(piece: Value) -> Result<RpcMessage, Vec<u8>> {
    let Value::Object(message) = piece else {
        return Err(refusal(None, INVALID_REQUEST, "a message is one JSON object"));
    };
    let message = RpcMessage::of(message)
        .map_err(|NoMessage { id, told }| refusal(id.as_ref(), INVALID_REQUEST, told))?;
    match &message {
        RpcMessage::Request(RpcRequest { id, method, .. }) if method == "initialize" => {
            Err(refusal(Some(id), INVALID_REQUEST, "`initialize` comes by itself"))
        }
        RpcMessage::Request(_) | RpcMessage::Notification(_) | RpcMessage::Response(_) => {
            Ok(message)
        }
    }
}

impl RpcRequest {
    /// What its client says beside the parameters.
    pub(crate) fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.get("_meta")?.as_object()
    }
}

/// JSON that means one thing only: no key stands for two values, and nothing is nested without end.
pub(crate) fn read(text: &str, bounds: &RepairBounds) -> Result<Value, UnreadableJson> {
    bounds.read_strict(text)
}

/// What is no JSON, and what is some that is not taken.
pub(crate) fn code(error: &UnreadableJson) -> i32 {
    if matches!(error, UnreadableJson::Syntax { .. }) { PARSE_ERROR } else { INVALID_REQUEST }
}

/// The answer to a request. `result`: as JSON.
pub(crate) fn answer(id: &RequestId, answered: Result<Vec<u8>, ErrorData>) -> Vec<u8> {
    let mut message = begun();
    message.field("id", id);
    match answered {
        Ok(result) => message.text("result", &result),
        Err(error) => message.field("error", &error),
    }
    message.end()
}

/// A refusal of what is no request, or none that is taken.
pub(crate) fn refusal(id: Option<&RequestId>, code: i32, told: &str) -> Vec<u8> {
    let mut message = begun();
    message.field("id", &id);
    message.field("error", &json!({ "code": code, "message": told }));
    message.end()
}

/// The same with what programs read beside the words.
pub(crate) fn refusal_with(id: Option<&RequestId>, error: &ErrorData) -> Vec<u8> {
    let mut message = begun();
    message.field("id", &id);
    message.field("error", error);
    message.end()
}

/// A notification, or with an `id` a request.
pub(crate) fn call(id: Option<u64>, method: &str, params: &Value) -> Vec<u8> {
    let mut message = begun();
    if let Some(id) = id {
        message.field("id", &id);
    }
    message.field("method", method);
    // Not every message has parameters, and `null` would be some.
    if !params.is_null() {
        message.field("params", params);
    }
    message.end()
}

fn begun() -> ObjectWriter {
    let mut message = ObjectWriter::new();
    message.text("jsonrpc", b"\"2.0\"");
    message
}

/// `Err`: why it is no message.
fn check(message: &Map<String, Value>) -> Result<(), &'static str> {
    if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err("`jsonrpc` is \"2.0\" in every message");
    }
    let asked = message.get("id");
    if asked.is_some_and(|id| !id.is_null()) && id(message).is_none() {
        return Err("`id` is a text, or a whole number that every reader reads alike");
    }
    let has_no_id = asked.is_some_and(Value::is_null);
    match (message.get("method"), message.get("result"), message.get("error")) {
        (Some(_), None, None) if has_no_id => Err("`id` is left out where no answer is wanted"),
        (Some(method), None, None) if method.is_string() => {
            let params = message.get("params").filter(|params| !params.is_null());
            let meta = params.and_then(|params| params.get("_meta"));
            let fits = params.is_none_or(Value::is_object)
                && meta.is_none_or(|meta| meta.is_object() || meta.is_null());
            if fits { Ok(()) } else { Err("`params` is an object, and `_meta` in it is another") }
        }
        (None, Some(_), None) if id(message).is_some() => Ok(()),
        (None, None, Some(error)) if is_error(error) => Ok(()),
        _ => Err("a message has a `method`, or answers an `id` with a `result` or an `error`"),
    }
}

fn is_error(error: &Value) -> bool {
    let code = error.get("code").and_then(Value::as_i64);
    code.is_some_and(|code| i32::try_from(code).is_ok())
        && error.get("message").is_some_and(Value::is_string)
}

/// Who asked, where that can be read for certain.
fn id(message: &Map<String, Value>) -> Option<RequestId> {
    let id = StrictRequestId::of(message.get("id")?);
    id.map(|StrictRequestId(id)| id)
}
