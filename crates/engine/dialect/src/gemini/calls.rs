//! Calls of Gemini.

use serde_json::Value;
use toolcrib_core::{Call, Plan};

use super::definitions::key;
use crate::rendering::Rendering;
use crate::reply::ending::{ReplyEnding, ReplyPosition};
use crate::reply::{ReplyItem, ReplyReader, kind, pick};

const SHAPE: &str = "send {\"functionCall\": {\"name\", \"args\"}}";

/// How a turn ends that is whole, or of which nothing is said.
const WHOLE: [&str; 2] = ["STOP", "FINISH_REASON_UNSPECIFIED"];

pub(super) fn read(plan: &Plan, rendering: &Rendering, reply: &Value) -> Vec<Call> {
    let parts = parts(reply);
    let call_of = |part: &'_ Value| part.get("functionCall").map(|call| call.get("id").cloned());
    let given: Vec<Value> = parts.iter().filter_map(|part| call_of(part)?).collect();
    let ids = given.iter().filter_map(Value::as_str);
    let mut reader = ReplyReader::new(plan, rendering, key, ids).ended(ending(reply));
    let count = parts.len();
    for (place, part) in parts.into_iter().enumerate() {
        reader.at(ReplyPosition::of(place + 1 == count));
        read_one(&mut reader, part);
    }
    reader.into_calls()
}

/// Only a limit of length is a cut at the end; by any other reason the API stopped the turn.
fn ending(reply: &Value) -> ReplyEnding {
    let candidate = reply.pointer("/candidates/0");
    let reason = candidate.and_then(|candidate| candidate.get("finishReason"));
    let ending = ReplyEnding::of(reason, &WHOLE, &[]);
    let is_stop = reason.is_some_and(|said| said.is_string() && said != "MAX_TOKENS");
    if let (ReplyEnding::Short(word), true) = (&ending, is_stop) {
        return ReplyEnding::Stopped(word.clone());
    }
    ending
}

/// The model's turn in a reply.
pub(super) fn content(reply: &Value) -> Option<&Value> {
    let content = match reply.get("candidates") {
        Some(candidates) => candidates.get(0)?.get("content")?,
        None => reply,
    };
    content.get("parts").is_some().then_some(content)
}

fn parts(reply: &Value) -> Vec<&Value> {
    if let Some(parts) = content(reply).and_then(|content| content.get("parts")) {
        return match parts {
            Value::Array(parts) => parts.iter().collect(),
            Value::Null => Vec::new(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![parts],
        };
    }
    if let Value::Array(parts) = reply {
        return parts.iter().collect();
    }
    // A turn that was stopped has no content.
    let is_stopped = reply.get("candidates").is_some_and(Value::is_array);
    if is_stopped { Vec::new() } else { vec![reply] }
}

/// Parts that are no calls of ours.
const OTHERS: [&str; 9] = [
    "text",
    "thought",
    "thoughtSignature",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

fn read_one(reader: &mut ReplyReader<'_>, part: &Value) {
    let Some(call) = part.get("functionCall") else {
        if !OTHERS.iter().any(|field| part.get(field).is_some()) {
            let fault = format!("{} stands where a part should: {SHAPE}", kind(part));
            reader.malformed(None, None, &fault);
        }
        return;
    };
    let id = call.get("id");
    let mut echo = pick(part, &["thoughtSignature"]);
    echo.extend(pick(call, &["id"]));
    if call.get("partialArgs").is_some() || call.get("willContinue") == Some(&Value::Bool(true)) {
        let fault = format!("its arguments came in pieces: {SHAPE} in one piece");
        return reader.malformed(id, call.get("name").and_then(Value::as_str), &fault);
    }
    reader.call(ReplyItem {
        id,
        name: call.get("name"),
        arguments: call.get("args").cloned().into(),
        echo,
    });
}
