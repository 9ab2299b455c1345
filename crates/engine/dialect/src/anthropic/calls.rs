//! Calls of Anthropic Messages.

use serde_json::Value;
use toolcrib_core::{Call, Plan};

use super::definitions::key;
use crate::rendering::Rendering;
use crate::reply::ending::{ReplyEnding, ReplyPosition};
use crate::reply::{ReplyItem, ReplyReader, kind, pick};

const SHAPE: &str = "send {\"type\": \"tool_use\", \"id\", \"name\", \"input\"}";

/// How a turn ends that is whole; one that the API paused goes on later.
const WHOLE: [&str; 3] = ["tool_use", "end_turn", "stop_sequence"];

/// How a turn ends that is to be taken back.
const STOPPED: [&str; 1] = ["refusal"];

pub(super) fn read(plan: &Plan, rendering: &Rendering, reply: &Value) -> Vec<Call> {
    let items: Vec<&Value> = match reply.get("content").unwrap_or(reply) {
        Value::Array(blocks) => blocks.iter().collect(),
        // A message may be one text.
        Value::String(_) if reply.is_object() => Vec::new(),
        block @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => vec![block],
    };
    let ids = items.iter().filter_map(|item| item.get("id")?.as_str());
    let ending = ReplyEnding::of(reply.get("stop_reason"), &WHOLE, &STOPPED);
    let mut reader = ReplyReader::new(plan, rendering, key, ids).ended(ending);
    let count = items.len();
    for (place, item) in items.into_iter().enumerate() {
        reader.at(ReplyPosition::of(place + 1 == count));
        read_one(&mut reader, item);
    }
    reader.into_calls()
}

fn read_one(reader: &mut ReplyReader<'_>, item: &Value) {
    let id = item.get("id");
    match item.get("type").and_then(Value::as_str) {
        Some("tool_use") => reader.call(ReplyItem {
            id,
            name: item.get("name"),
            arguments: item.get("input").cloned().into(),
            echo: pick(item, &["caller", "toolset_name"]),
        }),
        // Texts, thoughts, and what the API runs itself.
        Some(_) => {}
        None => {
            let what = kind(item);
            let fault = format!("{what} without a `type` stands where a block should: {SHAPE}");
            reader.malformed(id, None, &fault);
        }
    }
}
