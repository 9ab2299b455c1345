//! Calls of Anthropic Messages.

use serde_json::Value;
use toolcrib_core::{Call, Plan};

use super::definitions::key;
use crate::rendering::Rendering;
use crate::reply::{Item, Reader, kind, pick};

const SHAPE: &str = "send {\"type\": \"tool_use\", \"id\", \"name\", \"input\"}";

pub(super) fn read(plan: &Plan, rendering: &Rendering, reply: &Value) -> Vec<Call> {
    let items: Vec<&Value> = match reply.get("content").unwrap_or(reply) {
        Value::Array(blocks) => blocks.iter().collect(),
        // A message may be one text.
        Value::String(_) if reply.is_object() => Vec::new(),
        item => vec![item],
    };
    let ids = items.iter().filter_map(|item| item.get("id")?.as_str());
    let cut = reply.get("stop_reason").and_then(Value::as_str) == Some("max_tokens");
    let mut reader = Reader::new(plan, rendering, key, ids).cut_off(cut);
    items.iter().for_each(|item| read_one(&mut reader, item));
    reader.into_calls()
}

fn read_one(reader: &mut Reader<'_>, item: &Value) {
    let id = item.get("id");
    match item.get("type").and_then(Value::as_str) {
        Some("tool_use") => reader.call(Item {
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
