//! Answers for Chat Completions: text alone, since a tool message takes nothing else.

use serde_json::{Value, json};
use toolcrib_core::Response;

pub(super) fn message(response: &Response) -> Value {
    let text = response.text();
    if response.wire.echo.get("type").and_then(Value::as_str) == Some("function_call") {
        return json!({ "role": "function", "name": response.wire.name, "content": text });
    }
    json!({ "role": "tool", "tool_call_id": response.id, "content": text })
}
