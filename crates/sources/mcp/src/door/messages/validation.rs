//! Which JSON objects are messages of JSON-RPC 2.0. The SDK takes more for one, and tells of what
//! is none without its `id`, or as a body of another type.

use rmcp::model::RequestId;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::protocol::id::StrictRequestId;

/// `Err`: why it is none.
pub(crate) fn check(message: &Map<String, Value>) -> Result<(), &'static str> {
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
pub(crate) fn id(message: &Map<String, Value>) -> Option<RequestId> {
    message
        .get("id")
        .and_then(|id| StrictRequestId::deserialize(id).ok())
        .map(|StrictRequestId(id)| id)
}
