//! Calls of Chat Completions.

use serde_json::{Map, Value};
use toolcrib_core::{Call, Plan, RawArguments};

use super::key;
use crate::rendering::Rendering;
use crate::reply::ending::{ReplyEnding, ReplyPosition};
use crate::reply::{ReplyItem, ReplyReader, kind, pick};

const SHAPE: &str =
    "send {\"id\", \"type\": \"function\", \"function\": {\"name\", \"arguments\"}}";

/// How a turn ends that is whole: in the words of the API, and of the servers that speak it.
const WHOLE: [&str; 10] = [
    "tool_calls",
    "stop",
    "function_call",
    "tool_call",
    "tool_use",
    "end_turn",
    "stop_sequence",
    "eos",
    "eos_token",
    "complete",
];

/// How a turn ends of which something was left out, or which failed.
const STOPPED: [&str; 4] = ["content_filter", "error", "refusal", "safety"];

pub(super) fn read(plan: &Plan, rendering: &Rendering, reply: &Value) -> Vec<Call> {
    let items = items(reply);
    let ids = items.iter().flatten().filter_map(|item| item.get("id")?.as_str());
    let ending = ReplyEnding::of(reply.pointer("/choices/0/finish_reason"), &WHOLE, &STOPPED);
    let mut reader = ReplyReader::new(plan, rendering, key, ids).ended(ending);
    if let Some(items) = items {
        let count = items.len();
        for (place, item) in items.into_iter().enumerate() {
            reader.at(ReplyPosition::of(place + 1 == count));
            read_one(&mut reader, item);
        }
    } else {
        let fault = format!("the reply is {} and no chat message: {SHAPE}", kind(reply));
        reader.malformed(reply.get("id"), None, &fault);
    }
    if let Some(call) = message(reply).and_then(|message| message.get("function_call")) {
        read_legacy(&mut reader, call);
    }
    reader.into_calls()
}

/// The assistant's message in a reply.
pub(super) fn message(reply: &Value) -> Option<&Value> {
    let message = match reply.get("choices") {
        Some(choices) => choices.get(0)?.get("message")?,
        None => reply,
    };
    let is_message = ["role", "content", "tool_calls", "function_call"]
        .iter()
        .any(|field| message.get(field).is_some());
    is_message.then_some(message)
}

/// Everything that stands where a call should; `None`: this is no reply.
fn items(reply: &Value) -> Option<Vec<&Value>> {
    if let Value::Array(items) = reply {
        return Some(items.iter().collect());
    }
    if let Some(message) = message(reply) {
        return match message.get("tool_calls") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(items)) => Some(items.iter().collect()),
            Some(other) => Some(vec![other]),
        };
    }
    match reply.get("choices") {
        Some(Value::Array(choices)) if choices.is_empty() => Some(Vec::new()),
        Some(_) => None,
        None => {
            let is_call = ["function", "custom", "name"].iter().any(|f| reply.get(f).is_some());
            is_call.then(|| vec![reply])
        }
    }
}

fn read_one(reader: &mut ReplyReader<'_>, item: &Value) {
    let id = item.get("id");
    let (inner, echo) = if let Some(custom) = item.get("custom") {
        let item = ReplyItem {
            id,
            name: custom.get("name"),
            arguments: RawArguments::Absent,
            echo: pick(item, &["type"]),
        };
        return reader.text_call(item, custom.get("input"));
    } else if let Some(function) = item.get("function") {
        (function, Map::new())
    } else if item.get("name").is_some() {
        (item, Map::new())
    } else {
        let fault = format!("{} stands where a call should: {SHAPE}", kind(item));
        return reader.malformed(id, None, &fault);
    };
    reader.call(ReplyItem {
        id,
        name: inner.get("name"),
        arguments: inner.get("arguments").cloned().into(),
        echo,
    });
}

/// The form before `tool_calls`: one call without an id, answered by the tool's name.
fn read_legacy(reader: &mut ReplyReader<'_>, call: &Value) {
    if call.is_null() || !reader.is_empty() {
        return;
    }
    reader.at(ReplyPosition::of(true));
    let mut echo = Map::new();
    echo.insert("type".to_owned(), "function_call".into());
    reader.call(ReplyItem {
        id: None,
        name: call.get("name"),
        arguments: call.get("arguments").cloned().into(),
        echo,
    });
}
