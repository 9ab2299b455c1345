//! What came of a call, for whoever made it.

use serde_json::{Map, Value, json};
use toolcrib_core::{Content, ErrorKind, Part, ToolError};

use super::evidence;
use super::view::TaskView;
use crate::protocol::message::AgentMessage;
use crate::protocol::part::{MessagePart, PartContent};
use crate::protocol::state::TaskState;
use crate::transport::reply::cut;

/// The most of what an agent says of a failure, in characters.
const LONGEST_REASON: usize = 2_000;

/// The answer of a task that is done, or of a message that was answered at once.
pub(crate) fn answer(view: &TaskView) -> Content {
    let mut parts: Vec<&MessagePart> = view.artifacts.iter().flat_map(|it| &it.parts).collect();
    if parts.is_empty() {
        let said = view.status.message.as_ref().or(view.message.as_ref());
        parts = said.into_iter().flat_map(|message| &message.parts).collect();
    }
    let mut content = of_parts(&parts);
    if content.parts.is_empty() {
        content.parts.push(Part::text("The agent has done it and says nothing of it."));
    }
    content.extra = extra(view);
    evidence::put(view, &mut content);
    content
}

/// Where the answer is from, and the names of its artifacts.
fn extra(view: &TaskView) -> Map<String, Value> {
    let mut task = Map::new();
    let mut note = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            task.insert(name.to_owned(), value.into());
        }
    };
    note("id", view.id.as_deref());
    note("context", view.context.as_deref());
    note("state", view.id.as_ref().map(|_| view.status.state.as_str()));
    let names: Vec<_> = view.artifacts.iter().filter_map(|it| it.name.as_deref()).collect();
    if !names.is_empty() {
        task.insert("artifacts".to_owned(), json!(names));
    }
    Map::from_iter([("task".to_owned(), Value::Object(task))])
}

fn of_parts(parts: &[&MessagePart]) -> Content {
    let mut content = Content::default();
    let mut data = Vec::new();
    for part in parts {
        match &part.content {
            PartContent::Text(text) if text.is_empty() => {}
            PartContent::Data(value) => {
                data.push(value.clone());
                content.parts.push(Part::text(value.to_string()));
            }
            PartContent::Text(_)
            | PartContent::Bytes(_)
            | PartContent::Address(_)
            | PartContent::Unknown(_) => content.parts.push(shown(part)),
        }
    }
    content.structured = match data.len() {
        0 | 1 => data.pop(),
        _ => Some(Value::Array(data)),
    };
    content
}

fn shown(part: &MessagePart) -> Part {
    let extra = Map::new();
    let media = part.media.clone();
    match &part.content {
        PartContent::Text(text) => Part::text(text.clone()),
        PartContent::Data(value) | PartContent::Unknown(value) => Part::text(value.to_string()),
        PartContent::Address(uri) => {
            Part::Link { uri: uri.clone(), mime: media, name: part.name.clone(), extra }
        }
        PartContent::Bytes(bytes) => {
            let data = bytes.clone();
            let mime = media.unwrap_or_else(|| "application/octet-stream".to_owned());
            if mime.starts_with("image/") {
                Part::Image { data, mime, extra }
            } else if mime.starts_with("audio/") {
                Part::Audio { data, mime, extra }
            } else {
                let name = part.name.clone().unwrap_or_else(|| "file".to_owned());
                Part::File { data, mime, name, extra }
            }
        }
    }
}

/// The end of a task that did not do what was asked.
pub(crate) fn failure(view: &TaskView) -> ToolError {
    let did = match view.status.state {
        TaskState::Rejected => "the agent refused the task",
        TaskState::Canceled => "the agent cancelled the task",
        TaskState::Unknown
        | TaskState::Submitted
        | TaskState::Working
        | TaskState::InputRequired
        | TaskState::AuthRequired
        | TaskState::Completed
        | TaskState::Failed => "the agent failed",
    };
    let said = view.status.message.as_ref().or(view.message.as_ref());
    let message = match said.and_then(words) {
        Some(words) => format!("{did}: {words}"),
        None => format!("{did}, and does not say why"),
    };
    let mut error = ToolError::new(ErrorKind::Tool, message);
    if !view.artifacts.is_empty() {
        error.content = Some(Box::new(answer(view)));
    }
    error
}

/// What a message says, on one line; its data where it has no words.
pub(crate) fn words(message: &AgentMessage) -> Option<String> {
    let data = || {
        let parts = message.parts.iter().map(shown);
        let parts: Vec<_> = parts.map(|part| part.in_words()).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    message.words().or_else(data).map(|words| cut(&words, LONGEST_REASON))
}
