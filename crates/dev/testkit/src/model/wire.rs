//! A turn in the shape of each API, streamed or whole.

use serde_json::{Value, json};

use super::ModelAsked;

/// The content type and the body. `number`: of the request, from which ids are made.
pub(super) fn reply(
    asked: &ModelAsked,
    number: usize,
    text: &str,
    calls: &[(String, Value)],
    has_usage: bool,
) -> (&'static str, String) {
    let path = asked.path.split('?').next().unwrap_or_default();
    let is_streamed = asked.body.get("stream").and_then(Value::as_bool) == Some(true)
        || path.ends_with(":streamGenerateContent");
    let turn = Turn { number, text, calls, has_usage };
    let events = if path.ends_with("/chat/completions") {
        if !is_streamed {
            return ("application/json", turn.chat().to_string());
        }
        turn.chat_events()
    } else if path.ends_with("/responses") {
        if !is_streamed {
            return ("application/json", turn.response().to_string());
        }
        turn.response_events()
    } else if path.ends_with("/messages") {
        turn.anthropic_events()
    } else {
        turn.gemini_events()
    };
    ("text/event-stream", events)
}

struct Turn<'a> {
    number: usize,
    text: &'a str,
    calls: &'a [(String, Value)],
    has_usage: bool,
}

/// One event with its type in front, as two of the APIs write it.
pub(super) fn named(event: &Value) -> String {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {kind}\ndata: {event}\n\n")
}

pub(super) fn plain(event: &Value) -> String {
    format!("data: {event}\n\n")
}

impl Turn<'_> {
    fn id(&self, call: usize) -> String {
        format!("call_{}_{call}", self.number)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_inclusive(' ')
    }

    fn chat_usage() -> Value {
        json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 })
    }

    fn chat_calls(&self) -> Vec<Value> {
        let calls = self.calls.iter().enumerate().map(|(index, (name, arguments))| {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            json!({
                "index": index, "id": self.id(index), "type": "function", "function": function,
            })
        });
        calls.collect()
    }

    fn chat_reason(&self) -> &'static str {
        if self.calls.is_empty() { "stop" } else { "tool_calls" }
    }

    fn chat(&self) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text });
        if let (Value::Object(fields), false) = (&mut message, self.calls.is_empty()) {
            fields.insert("tool_calls".to_owned(), self.chat_calls().into());
        }
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{ "index": 0, "message": message, "finish_reason": self.chat_reason() }],
            "usage": Self::chat_usage(),
        })
    }

    fn chat_events(&self) -> String {
        let chunk = |delta: Value, reason: Value| {
            plain(&json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                "model": "scripted",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }],
            }))
        };
        let mut events = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
        for word in self.words() {
            events.push_str(&chunk(json!({ "content": word }), Value::Null));
        }
        for mut call in self.chat_calls() {
            // Arguments come in pieces, and the id with the first alone.
            let text = call.pointer("/function/arguments").and_then(Value::as_str);
            let text = text.unwrap_or_default().to_owned();
            let index = call.get("index").cloned();
            let mut middle = text.len() / 2;
            while !text.is_char_boundary(middle) {
                middle -= 1;
            }
            let (first, second) = text.split_at(middle);
            if let Some(arguments) = call.pointer_mut("/function/arguments") {
                *arguments = first.into();
            }
            events.push_str(&chunk(json!({ "tool_calls": [call] }), Value::Null));
            let rest = json!({ "index": index, "function": { "arguments": second } });
            events.push_str(&chunk(json!({ "tool_calls": [rest] }), Value::Null));
        }
        events.push_str(&chunk(json!({}), self.chat_reason().into()));
        if self.has_usage {
            events.push_str(&plain(&json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                "model": "scripted", "choices": [], "usage": Self::chat_usage(),
            })));
        }
        events.push_str("data: [DONE]\n\n");
        events
    }

    fn response_items(&self) -> Vec<Value> {
        let mut items = Vec::new();
        if !self.text.is_empty() {
            items.push(json!({
                "type": "message", "id": format!("msg_{}", self.number), "status": "completed",
                "role": "assistant",
                "content": [{ "type": "output_text", "text": self.text, "annotations": [] }],
            }));
        }
        for (index, (name, arguments)) in self.calls.iter().enumerate() {
            items.push(json!({
                "type": "function_call", "id": format!("fc_{}_{index}", self.number),
                "call_id": self.id(index), "name": name, "arguments": arguments.to_string(),
                "status": "completed",
            }));
        }
        items
    }

    fn response(&self) -> Value {
        json!({
            "id": format!("resp_{}", self.number), "object": "response", "created_at": 1,
            "status": "completed", "model": "scripted", "output": self.response_items(),
            "usage": {
                "input_tokens": 100, "output_tokens": 10, "total_tokens": 110,
                "input_tokens_details": { "cached_tokens": 40 },
                "output_tokens_details": { "reasoning_tokens": 2 },
            },
        })
    }

    fn response_events(&self) -> String {
        let mut begun = self.response();
        if let Value::Object(fields) = &mut begun {
            fields.insert("output".to_owned(), json!([]));
            fields.insert("status".to_owned(), "in_progress".into());
            fields.insert("usage".to_owned(), Value::Null);
        }
        let mut events = named(&json!({ "type": "response.created", "response": begun }));
        for (index, item) in self.response_items().into_iter().enumerate() {
            let at = |kind: &str, field: &str, value: Value| {
                let mut event = json!({ "type": kind, "output_index": index });
                if let Value::Object(fields) = &mut event {
                    fields.insert(field.to_owned(), value);
                    fields.insert("item_id".to_owned(), item.get("id").cloned().into());
                    fields.insert("content_index".to_owned(), 0.into());
                }
                named(&event)
            };
            let mut added = item.clone();
            if let Value::Object(fields) = &mut added {
                fields.insert("status".to_owned(), "in_progress".into());
                for (field, empty) in [("content", json!([])), ("arguments", json!(""))] {
                    if fields.contains_key(field) {
                        fields.insert(field.to_owned(), empty);
                    }
                }
            }
            events.push_str(&at("response.output_item.added", "item", added));
            if item.get("type").is_some_and(|kind| kind == "message") {
                for word in self.words() {
                    events.push_str(&at("response.output_text.delta", "delta", word.into()));
                }
                events.push_str(&at("response.output_text.done", "text", self.text.into()));
            } else {
                let arguments: Value = item.get("arguments").cloned().into();
                let kind = "response.function_call_arguments";
                events.push_str(&at(&format!("{kind}.delta"), "delta", arguments.clone()));
                events.push_str(&at(&format!("{kind}.done"), "arguments", arguments));
            }
            events.push_str(&at("response.output_item.done", "item", item.clone()));
        }
        let mut whole = self.response();
        if let (Value::Object(fields), false) = (&mut whole, self.has_usage) {
            fields.insert("usage".to_owned(), Value::Null);
        }
        events.push_str(&named(&json!({ "type": "response.completed", "response": whole })));
        events
    }

    fn anthropic_events(&self) -> String {
        let usage = if self.has_usage {
            json!({ "input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1 })
        } else {
            Value::Null
        };
        let mut events = named(&json!({ "type": "message_start", "message": {
            "id": format!("msg_{}", self.number), "type": "message", "role": "assistant",
            "model": "scripted", "content": [], "stop_reason": null, "usage": usage,
        } }));
        let mut index = 0;
        let mut block = |start: Value, deltas: Vec<Value>| {
            events.push_str(&named(&json!({
                "type": "content_block_start", "index": index, "content_block": start,
            })));
            for delta in deltas {
                events.push_str(&named(&json!({
                    "type": "content_block_delta", "index": index, "delta": delta,
                })));
            }
            events.push_str(&named(&json!({ "type": "content_block_stop", "index": index })));
            index += 1;
        };
        if !self.text.is_empty() {
            let deltas = self.words().map(|word| json!({ "type": "text_delta", "text": word }));
            block(json!({ "type": "text", "text": "" }), deltas.collect());
        }
        for (number, (name, arguments)) in self.calls.iter().enumerate() {
            let start = json!({
                "type": "tool_use", "id": self.id(number), "name": name, "input": {},
            });
            let delta =
                json!({ "type": "input_json_delta", "partial_json": arguments.to_string() });
            block(start, vec![delta]);
        }
        let reason = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        let mut end = json!({ "type": "message_delta", "delta": { "stop_reason": reason } });
        if let (Value::Object(fields), true) = (&mut end, self.has_usage) {
            fields.insert("usage".to_owned(), json!({ "output_tokens": 10 }));
        }
        events.push_str(&named(&end));
        events.push_str(&named(&json!({ "type": "message_stop" })));
        events
    }

    fn gemini_events(&self) -> String {
        let chunk = |parts: Vec<Value>, reason: Value| {
            let mut chunk = json!({
                "candidates": [{
                    "index": 0, "content": { "role": "model", "parts": parts },
                    "finishReason": reason,
                }],
                "modelVersion": "scripted",
            });
            if let (Value::Object(fields), true) = (&mut chunk, self.has_usage) {
                fields.insert(
                    "usageMetadata".to_owned(),
                    json!({ "promptTokenCount": 100, "candidatesTokenCount": 10 }),
                );
            }
            plain(&chunk)
        };
        let mut events = String::new();
        for word in self.words() {
            events.push_str(&chunk(vec![json!({ "text": word })], Value::Null));
        }
        let calls = self.calls.iter().enumerate().map(|(index, (name, arguments))| {
            json!({ "functionCall": { "id": self.id(index), "name": name, "args": arguments } })
        });
        events.push_str(&chunk(calls.collect(), "STOP".into()));
        events
    }
}
