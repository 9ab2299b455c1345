//! A whole answer of an API as the events of its stream.

use serde_json::{Map, Value, json};

use super::wire::{named, plain};

/// `reply`: as the API gives it where it does not stream.
pub(super) fn events(path: &str, reply: &Value) -> String {
    let path = path.split('?').next().unwrap_or_default();
    if path.ends_with("/chat/completions") {
        chat(reply)
    } else if path.ends_with("/responses") {
        response(reply)
    } else if path.ends_with("/messages") {
        anthropic(reply)
    } else {
        gemini(reply)
    }
}

fn with(value: &Value, field: &str, other: Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        fields.insert(field.to_owned(), other);
    }
    value
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn chat(reply: &Value) -> String {
    let choice = reply.pointer("/choices/0").unwrap_or(&Value::Null);
    let chunk = |delta: Value, reason: Value| {
        plain(&json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] }))
    };
    let mut events = String::new();
    for (field, value) in choice.get("message").and_then(Value::as_object).into_iter().flatten() {
        events.push_str(&chunk(json!({ field: value }), Value::Null));
    }
    events.push_str(&chunk(json!({}), choice.get("finish_reason").cloned().into()));
    events.push_str("data: [DONE]\n\n");
    events
}

fn response(reply: &Value) -> String {
    let begun = with(&with(reply, "output", json!([])), "status", "in_progress".into());
    let mut events = named(&json!({ "type": "response.created", "response": begun }));
    for (index, item) in list(reply, "/output").enumerate() {
        let mut at = |kind: &str, fields: Value| {
            let mut event = json!({
                "type": kind, "output_index": index, "item_id": item.get("id"),
            });
            if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
                event.extend(fields);
            }
            events.push_str(&named(&event));
        };
        let added = with(item, "status", "in_progress".into());
        at("response.output_item.added", json!({ "item": added }));
        for part in list(item, "/content") {
            at(
                "response.output_text.delta",
                json!({ "content_index": 0, "delta": part.get("text") }),
            );
        }
        at("response.output_item.done", json!({ "item": item }));
    }
    events.push_str(&named(&json!({ "type": "response.completed", "response": reply })));
    events
}

fn anthropic(reply: &Value) -> String {
    let begun = with(&with(reply, "content", json!([])), "stop_reason", Value::Null);
    let mut events = named(&json!({ "type": "message_start", "message": begun }));
    for (index, block) in list(reply, "/content").enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        if let Value::Object(fields) = &mut start {
            if let Some(text) = fields.get_mut("text") {
                deltas.push(json!({ "type": "text_delta", "text": text.take() }));
                *text = "".into();
            }
            for citation in fields.remove("citations").iter().flat_map(|all| list(all, "")) {
                deltas.push(json!({ "type": "citations_delta", "citation": citation }));
            }
            if let Some(input) = fields.get_mut("input") {
                let json = input.take().to_string();
                deltas.push(json!({ "type": "input_json_delta", "partial_json": json }));
                *input = Value::Object(Map::new());
            }
        }
        let place = |event: Value| named(&with(&event, "index", index.into()));
        let start = json!({ "type": "content_block_start", "content_block": start });
        events.push_str(&place(start));
        for delta in deltas {
            events.push_str(&place(json!({ "type": "content_block_delta", "delta": delta })));
        }
        events.push_str(&place(json!({ "type": "content_block_stop" })));
    }
    let reason = reply.get("stop_reason");
    events.push_str(&named(&json!({
        "type": "message_delta", "delta": { "stop_reason": reason },
        "usage": { "output_tokens": 10 },
    })));
    events.push_str(&named(&json!({ "type": "message_stop" })));
    events
}

/// What is said beside the content comes with the last piece.
fn gemini(reply: &Value) -> String {
    let candidate = reply.pointer("/candidates/0").unwrap_or(&Value::Null);
    let parts: Vec<_> = list(candidate, "/content/parts").collect();
    let mut events = String::new();
    for (index, part) in parts.iter().enumerate() {
        let content = json!({ "role": "model", "parts": [part] });
        let piece = if index + 1 == parts.len() {
            with(candidate, "content", content)
        } else {
            json!({ "content": content })
        };
        events.push_str(&plain(&json!({ "candidates": [piece] })));
    }
    events
}
