//! What a client of AG-UI sends as a thread, in the shape of a chat.

use serde_json::{Value, json};
use toolcrib_agent::ThreadItem;
use toolcrib_agent::model::CallerTool;

use super::super::api_error::ApiError;
use super::super::input;

/// The messages, with what the application says of itself before them.
pub(super) fn items(body: &Value) -> Result<Vec<ThreadItem>, ApiError> {
    let mut items: Vec<ThreadItem> = context(body)?.into_iter().collect();
    let messages = body.get("messages").and_then(Value::as_array);
    let messages = messages
        .ok_or_else(|| ApiError::invalid("messages", "`messages` must be a list of messages"))?;
    let mut chat = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        chat.extend(of_chat(message, &format!("messages[{index}]"))?);
    }
    items.extend(input::messages(&json!({ "messages": chat }))?);
    Ok(items)
}

fn context(body: &Value) -> Result<Option<ThreadItem>, ApiError> {
    let mut lines = Vec::new();
    for (index, entry) in list(body, "context")?.iter().enumerate() {
        let word = |key: &str| entry.get(key).and_then(Value::as_str);
        let (Some(description), Some(value)) = (word("description"), word("value")) else {
            let at = format!("context[{index}]");
            let message = format!("`{at}` must have a `description` and a `value`, both texts");
            return Err(ApiError::invalid(&at, message));
        };
        lines.push(format!("{description}: {value}"));
    }
    Ok((!lines.is_empty()).then(|| ThreadItem::System { text: lines.join("\n") }))
}

/// A message of a chat; `None`: one that no model reads.
fn of_chat(message: &Value, at: &str) -> Result<Option<Value>, ApiError> {
    let content = message.get("content").cloned().unwrap_or_default();
    let field = |key: &str| message.get(key).cloned().unwrap_or_default();
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    Ok(Some(match role {
        "system" | "developer" => json!({ "role": role, "content": content }),
        "assistant" => {
            json!({ "role": role, "content": content, "tool_calls": field("toolCalls") })
        }
        "tool" => {
            let is_empty = content.is_null() || content == "";
            let content = if is_empty { field("error") } else { content };
            json!({ "role": role, "content": content, "tool_call_id": field("toolCallId") })
        }
        "user" => {
            let content = match content {
                Value::String(_) => content,
                Value::Array(parts) => {
                    let parts = parts.iter().enumerate();
                    let parts = parts
                        .map(|(index, part)| part_of_chat(part, &format!("{at}.content[{index}]")));
                    parts.collect::<Result<Vec<_>, _>>()?.into()
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                    let at = format!("{at}.content");
                    let message = format!("`{at}` must be a text or a list of parts");
                    return Err(ApiError::invalid(&at, message));
                }
            };
            json!({ "role": role, "content": content })
        }
        // What a user interface shows beside the conversation.
        "activity" | "reasoning" => return Ok(None),
        other => {
            let at = format!("{at}.role");
            let message = format!(
                "`{at}` is `{other}`: it must be system, developer, user, assistant, tool, \
                 activity or reasoning"
            );
            return Err(ApiError::invalid(&at, message));
        }
    }))
}

fn part_of_chat(part: &Value, at: &str) -> Result<Value, ApiError> {
    let word = |pointer: &str| part.pointer(pointer).and_then(Value::as_str);
    let (value, mime) = (word("/source/value"), word("/source/mimeType"));
    let data = || {
        let mime = mime.unwrap_or("application/octet-stream");
        format!("data:{mime};base64,{}", value.unwrap_or_default())
    };
    match (word("/type"), word("/source/type"), value) {
        (Some("text"), _, _) => Ok(json!({ "type": "text", "text": part.get("text") })),
        (Some("image"), Some("url"), Some(url)) => {
            Ok(json!({ "type": "image_url", "image_url": { "url": url } }))
        }
        (Some("image"), Some("data"), Some(_)) => {
            Ok(json!({ "type": "image_url", "image_url": { "url": data() } }))
        }
        (Some("document"), Some("data"), Some(_)) => {
            let name = word("/metadata/filename").unwrap_or("document");
            Ok(json!({ "type": "file", "file": { "filename": name, "file_data": data() } }))
        }
        _ => {
            let message = format!(
                "`{at}` cannot be shown to an agent: send text, an image as data or by its \
                 address, or a document as data"
            );
            Err(ApiError::invalid(at, message))
        }
    }
}

/// The tools that the client runs.
pub(super) fn tools(body: &Value) -> Result<Vec<CallerTool>, ApiError> {
    let tools = list(body, "tools")?.iter().map(|tool| {
        let field = |key: &str| tool.get(key).cloned().unwrap_or_default();
        json!({
            "type": "function", "name": field("name"), "description": field("description"),
            "parameters": field("parameters"),
        })
    });
    input::caller_tools(&json!({ "tools": tools.collect::<Vec<_>>() }))
}

/// A list that may be left out.
fn list<'a>(body: &'a Value, key: &str) -> Result<&'a [Value], ApiError> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            Err(ApiError::invalid(key, format!("`{key}` must be a list")))
        }
    }
}
