//! Calls of Responses.

use serde_json::Value;
use toolcrib_core::{Call, Plan, RawArguments};

use crate::openai_chat::key;
use crate::rendering::Rendering;
use crate::reply::ending::{ReplyEnding, ReplyPosition};
use crate::reply::{ReplyItem, ReplyReader, kind, pick};

const SHAPE: &str = "send {\"type\": \"function_call\", \"call_id\", \"name\", \"arguments\"}";

/// The status of a response that is whole.
const WHOLE: [&str; 1] = ["completed"];

/// The status of a response that nobody wants any more.
const STOPPED: [&str; 2] = ["failed", "cancelled"];

/// Fields of a call that its output repeats.
const ECHOED: [&str; 3] = ["type", "namespace", "caller"];

pub(super) fn read(plan: &Plan, rendering: &Rendering, reply: &Value) -> Vec<Call> {
    let output = reply.get("output");
    let items: Vec<&Value> = match output.unwrap_or(reply) {
        Value::Array(items) => items.iter().collect(),
        item @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => vec![item],
    };
    let ids = items.iter().filter_map(|item| item.get("call_id")?.as_str());
    // The status of a bare item is its own.
    let ending = output.map_or(ReplyEnding::Whole, |_| ending(reply));
    let mut reader = ReplyReader::new(plan, rendering, key, ids).ended(ending);
    let count = items.len();
    for (place, item) in items.into_iter().enumerate() {
        reader.at(ReplyPosition::of(place + 1 == count).with_status(item.get("status")));
        read_one(&mut reader, item);
    }
    reader.into_calls()
}

fn ending(reply: &Value) -> ReplyEnding {
    let said = |field: &str| reply.get(field).filter(|value| !value.is_null());
    let ending = ReplyEnding::of(said("status"), &WHOLE, &STOPPED);
    let Some(details) = said("incomplete_details") else {
        return ending;
    };
    match ending {
        ReplyEnding::Whole | ReplyEnding::Short(_) => {
            ReplyEnding::of(Some(details.get("reason").unwrap_or(details)), &[], &[])
        }
        stopped @ ReplyEnding::Stopped(_) => stopped,
    }
}

fn read_one(reader: &mut ReplyReader<'_>, item: &Value) {
    let id = item.get("call_id");
    let call = ReplyItem {
        id,
        name: item.get("name"),
        arguments: RawArguments::Absent,
        echo: pick(item, &ECHOED),
    };
    match item.get("type").and_then(Value::as_str) {
        Some("function_call") => {
            let arguments = item.get("arguments").cloned().into();
            reader.call(ReplyItem { arguments, ..call });
        }
        Some("custom_tool_call") => reader.text_call(call, item.get("input")),
        // Messages, reasoning, and what the API runs itself.
        Some(_) => {}
        None => {
            let fault =
                format!("{} without a `type` stands where an item should: {SHAPE}", kind(item));
            reader.malformed(id, None, &fault);
        }
    }
}
