//! Arguments as a message.

use serde_json::{Map, Value, json};
use toolcrib_core::{Arguments, ToolError};

use crate::protocol::message::AgentMessage;
use crate::protocol::part::{MessagePart, PartContent};

/// What is said with these arguments, without a name yet. `is_own`: the settings have a schema of their own, whose
/// arguments go as data. `skill`: which skill is meant.
pub(crate) fn of(
    arguments: Arguments,
    is_own: bool,
    skill: Option<&str>,
) -> Result<AgentMessage, ToolError> {
    let parts = if is_own { own(arguments) } else { usual(&arguments)? };
    let mut message = AgentMessage::of_user("", parts);
    message.metadata = skill.map(|skill| json!({ "skillId": skill }));
    Ok(message)
}

/// Agents that read words alone find the same as JSON in them.
fn own(arguments: Arguments) -> Vec<MessagePart> {
    let value = arguments.into_value();
    let text = MessagePart::text(value.to_string());
    vec![text, MessagePart::new(PartContent::Data(value))]
}

fn usual(arguments: &Arguments) -> Result<Vec<MessagePart>, ToolError> {
    let fields = arguments.fields();
    let text = fields.get("message").and_then(Value::as_str).unwrap_or_default();
    let mut parts = vec![MessagePart::text(text)];
    if let Some(data) = fields.get("data").filter(|data| !data.is_null()) {
        parts.push(MessagePart::new(PartContent::Data(data.clone())));
    }
    let files = fields.get("files").and_then(Value::as_array);
    for file in files.into_iter().flatten().filter_map(Value::as_object) {
        parts.push(file_part(file)?);
    }
    Ok(parts)
}

fn file_part(file: &Map<String, Value>) -> Result<MessagePart, ToolError> {
    let text = |name: &str| {
        let text = file.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    let content = match (text("base64"), text("url")) {
        (Some(bytes), None) => PartContent::Bytes(bytes),
        (None, Some(url)) => PartContent::Address(url),
        (Some(_), Some(_)) | (None, None) => {
            return Err(ToolError::told(
                "nothing was sent: a file has either its bytes (`base64`) or its `url`. Correct \
                 `files` and call again",
            ));
        }
    };
    let metadata = None;
    Ok(MessagePart { content, name: text("name"), media: text("media_type"), metadata })
}
