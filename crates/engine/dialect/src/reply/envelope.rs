//! What is around the calls: whether a reply is one of this API at all.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};

/// Why a reply holds no turn of a model. It is for the host and the operator: the model did not
/// write it and cannot mend it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "not_a_reply", rename_all = "snake_case")]
pub enum NotAReply {
    #[error("this is an error of the API and no message: {message}")]
    ApiError { message: String },
    #[error("the API blocked the request: {reason}; change it and send it again")]
    Blocked { reason: String },
    #[error("this looks like a reply of `{dialect}`: read it with that dialect")]
    OtherDialect { dialect: &'static str },
}

/// Judges the outermost object alone; a list of items has no envelope.
pub(crate) fn not_a_reply(dialect: &str, reply: &Value) -> Option<NotAReply> {
    let fields = reply.as_object()?;
    let shape = shape(reply);
    if shape.is_none_or(|shape| shape == dialect)
        && let Some(error) = fields.get("error").filter(|error| !error.is_null())
        && !fields.contains_key("choices")
        && !fields.contains_key("content")
    {
        let message = error.get("message").or(Some(error)).map(text).unwrap_or_default();
        return Some(NotAReply::ApiError { message });
    }
    let blocked = reply.pointer("/promptFeedback/blockReason").filter(|_| shape.is_none());
    if let Some(reason) = blocked {
        return Some(NotAReply::Blocked { reason: text(reason) });
    }
    shape.filter(|shape| *shape != dialect).map(|dialect| NotAReply::OtherDialect { dialect })
}

/// The error that a chunk of a stream tells, as the API says it where nothing is streamed.
pub(crate) fn failure(chunk: &Value) -> Option<Value> {
    let error = chunk.get("error").filter(|error| !error.is_null())?;
    Some(json!({ "error": error }))
}

/// The API that writes replies of this shape, if only one does.
fn shape(reply: &Value) -> Option<&'static str> {
    let has = |field: &str| reply.get(field).is_some_and(Value::is_array);
    let blocks = reply.get("content").and_then(Value::as_array);
    let is_tool_use = |block: &Value| block.get("type").is_some_and(|kind| kind == "tool_use");
    if has("choices") || has("tool_calls") {
        Some(OpenAiChat::NAME)
    } else if has("output") {
        Some(OpenAiResponses::NAME)
    } else if has("candidates") || has("parts") {
        Some(Gemini::NAME)
    } else if blocks.is_some_and(|blocks| blocks.iter().any(is_tool_use)) {
        Some(Anthropic::NAME)
    } else {
        None
    }
}

/// A foreign text on one line, 300 characters at the most.
fn text(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    text.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
