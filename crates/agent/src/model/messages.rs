//! A thread as the messages of an API (Responses: items; Gemini: contents).

use serde_json::{Map, Value, json};

use super::hosted;
use super::settings::ModelApi;
use crate::item::compaction::note;
use crate::item::{CallText, Echo, InputPart, ResultText, ThreadItem};

/// What stands in the place of an answer that no thread has: an API refuses a call without one.
pub(crate) const UNANSWERED: &str =
    "no result of this call is known: it may have run or not. Look before you call it again";

/// A shorter text in base64 is taken for words.
const LEAST_MEDIA: usize = 4_000;

/// The items in the shape of this API. What it gave itself goes back as it came; the rest is told
/// in its words. Each of their calls is [`answered`].
pub(crate) fn messages(api: ModelApi, items: &[ThreadItem]) -> Vec<Value> {
    let dialect = api.dialect();
    let mut messages = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        match item {
            ThreadItem::System { text } => messages.extend(system(api, text)),
            ThreadItem::User { parts } => messages.push(user(api, parts)),
            ThreadItem::Summary { text, .. } => {
                messages.push(user(api, &[InputPart::Text { text: note(text) }]));
            }
            ThreadItem::Assistant { echo: Some(echo), .. }
                if echo.dialect == dialect.name()
                    && api == ModelApi::Anthropic
                    && !goes_on(items.get(place + 1)) =>
            {
                let own = echo.messages.iter().cloned();
                messages.extend(own.filter_map(hosted::without_open_calls));
            }
            ThreadItem::Assistant { echo: Some(echo), .. }
            | ThreadItem::Results { echo: Some(echo), .. }
                if echo.dialect == dialect.name() =>
            {
                messages.extend(echo.messages.iter().cloned());
            }
            ThreadItem::Assistant { text, calls, .. } => messages.extend(turn(api, text, calls)),
            ThreadItem::Results { results, .. } => messages.extend(answers(api, results)),
        }
    }
    messages
}

/// Bytes of each image and file in a thread.
pub(crate) fn media(items: &[ThreadItem]) -> Vec<usize> {
    let mut found = Vec::new();
    for item in items {
        match item {
            ThreadItem::User { parts } => {
                found.extend(parts.iter().filter_map(|part| match part {
                    InputPart::Image { data, .. } | InputPart::File { data, .. } => {
                        Some(data.len())
                    }
                    InputPart::Text { .. } | InputPart::ImageUrl { .. } => None,
                }));
            }
            ThreadItem::Results { echo: Some(echo), .. } => {
                echo.messages.iter().for_each(|message| encoded(message, &mut found));
            }
            ThreadItem::System { .. }
            | ThreadItem::Assistant { .. }
            | ThreadItem::Results { echo: None, .. }
            | ThreadItem::Summary { .. } => {}
        }
    }
    found
}

/// Finds long texts in base64, which all APIs have images and files in.
fn encoded(value: &Value, found: &mut Vec<usize>) {
    match value {
        Value::String(text) => {
            let data = text.split_once(";base64,").map_or(text.as_str(), |(_, data)| data);
            let is_of_base64 = |byte: u8| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
            };
            if data.len() >= LEAST_MEDIA && data.bytes().all(is_of_base64) {
                found.push(data.len());
            }
        }
        Value::Array(list) => list.iter().for_each(|value| encoded(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| encoded(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether what follows a turn belongs to it.
fn goes_on(next: Option<&ThreadItem>) -> bool {
    match next {
        None | Some(ThreadItem::Assistant { .. } | ThreadItem::Results { .. }) => true,
        Some(ThreadItem::System { .. } | ThreadItem::User { .. } | ThreadItem::Summary { .. }) => {
            false
        }
    }
}

/// The same with an answer to every call, no answer without a call, and one entry of answers behind
/// each turn.
pub(crate) fn answered(items: &[ThreadItem]) -> Vec<ThreadItem> {
    let mut healed: Vec<ThreadItem> = Vec::with_capacity(items.len());
    let mut open: Vec<CallText> = Vec::new();
    for item in items {
        match item {
            ThreadItem::Results { results, echo } => {
                let kept: Vec<_> = results
                    .iter()
                    .filter_map(|result| {
                        let place = open.iter().position(|call| call.id == result.call_id)?;
                        let call = open.remove(place);
                        let mut result = result.clone();
                        if result.name.is_empty() {
                            result.name = call.name;
                        }
                        Some(result)
                    })
                    .collect();
                let echo = echo.clone().filter(|_| kept.len() == results.len());
                push_results(&mut healed, kept, echo);
            }
            other @ (ThreadItem::System { .. }
            | ThreadItem::User { .. }
            | ThreadItem::Summary { .. }
            | ThreadItem::Assistant { .. }) => {
                push_results(&mut healed, unanswered(&mut open), None);
                if let ThreadItem::Assistant { calls, .. } = other {
                    open.clone_from(calls);
                }
                healed.push(other.clone());
            }
        }
    }
    push_results(&mut healed, unanswered(&mut open), None);
    healed
}

/// Answers in two entries become one: of some APIs all must stand in one message.
fn push_results(healed: &mut Vec<ThreadItem>, further: Vec<ResultText>, own: Option<Echo>) {
    if further.is_empty() {
        return;
    }
    if let Some(ThreadItem::Results { results, echo }) = healed.last_mut() {
        results.extend(further);
        *echo = match (echo.take(), own) {
            (Some(before), Some(own)) if before.dialect == own.dialect => Some(Echo {
                messages: merged(before.messages.into_iter().chain(own.messages)),
                ..own
            }),
            _ => None,
        };
    } else {
        healed.push(ThreadItem::Results { results: further, echo: own });
    }
}

fn unanswered(open: &mut Vec<CallText>) -> Vec<ResultText> {
    let results = open.drain(..).map(|call| ResultText {
        call_id: call.id,
        name: call.name,
        text: UNANSWERED.to_owned(),
        is_error: true,
    });
    results.collect()
}

/// Anthropic and Gemini have no such message within a thread: it is told as the user's.
fn system(api: ModelApi, text: &str) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    Some(match api {
        ModelApi::OpenAiChat => json!({ "role": "system", "content": text }),
        ModelApi::OpenAiResponses => json!({ "role": "developer", "content": text }),
        ModelApi::Anthropic | ModelApi::Gemini => {
            user(api, &[InputPart::Text { text: text.to_owned() }])
        }
    })
}

fn user(api: ModelApi, parts: &[InputPart]) -> Value {
    if let ([InputPart::Text { text }], false) = (parts, api == ModelApi::Gemini) {
        return json!({ "role": "user", "content": text });
    }
    let parts: Vec<Value> = parts.iter().map(|part| input(api, part)).collect();
    match api {
        ModelApi::Gemini => json!({ "role": "user", "parts": parts }),
        ModelApi::OpenAiChat | ModelApi::OpenAiResponses | ModelApi::Anthropic => {
            json!({ "role": "user", "content": parts })
        }
    }
}

fn input(api: ModelApi, part: &InputPart) -> Value {
    let url = |mime: &str, data: &str| format!("data:{mime};base64,{data}");
    match (api, part) {
        (ModelApi::OpenAiChat | ModelApi::Anthropic, InputPart::Text { text }) => {
            json!({ "type": "text", "text": text })
        }
        (ModelApi::OpenAiResponses, InputPart::Text { text }) => {
            json!({ "type": "input_text", "text": text })
        }
        (ModelApi::Gemini, InputPart::Text { text }) => json!({ "text": text }),
        (ModelApi::OpenAiChat, InputPart::Image { mime, data }) => {
            json!({ "type": "image_url", "image_url": { "url": url(mime, data) } })
        }
        (ModelApi::OpenAiChat, InputPart::ImageUrl { url }) => {
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
        (ModelApi::OpenAiChat, InputPart::File { name, mime, data }) => {
            json!({ "type": "file", "file": { "filename": name, "file_data": url(mime, data) } })
        }
        (ModelApi::OpenAiResponses, InputPart::Image { mime, data }) => {
            json!({ "type": "input_image", "image_url": url(mime, data) })
        }
        (ModelApi::OpenAiResponses, InputPart::ImageUrl { url }) => {
            json!({ "type": "input_image", "image_url": url })
        }
        (ModelApi::OpenAiResponses, InputPart::File { name, mime, data }) => {
            json!({ "type": "input_file", "filename": name, "file_data": url(mime, data) })
        }
        (ModelApi::Anthropic, InputPart::Image { mime, data }) => json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime, "data": data },
        }),
        (ModelApi::Anthropic, InputPart::ImageUrl { url }) => {
            json!({ "type": "image", "source": { "type": "url", "url": url } })
        }
        (ModelApi::Anthropic, InputPart::File { name, mime, data }) => json!({
            "type": "document", "title": name,
            "source": { "type": "base64", "media_type": mime, "data": data },
        }),
        (
            ModelApi::Gemini,
            InputPart::Image { mime, data } | InputPart::File { mime, data, .. },
        ) => {
            json!({ "inlineData": { "mimeType": mime, "data": data } })
        }
        (ModelApi::Gemini, InputPart::ImageUrl { url }) => {
            json!({ "fileData": { "fileUri": url } })
        }
    }
}

/// A turn that another model took, or that a client tells of.
pub(crate) fn turn(api: ModelApi, text: &str, calls: &[CallText]) -> Vec<Value> {
    // What is no JSON object no API takes back.
    let object = |call: &CallText| {
        let read = serde_json::from_str::<Value>(&call.arguments);
        read.ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
    };
    let words = (!text.is_empty()).then_some(text);
    match api {
        ModelApi::OpenAiChat if words.is_none() && calls.is_empty() => Vec::new(),
        ModelApi::OpenAiChat => {
            let mut message = Map::from_iter([
                ("role".to_owned(), json!("assistant")),
                ("content".to_owned(), json!(words)),
            ]);
            if !calls.is_empty() {
                let calls: Vec<_> = calls
                    .iter()
                    .map(|call| {
                        let function = json!({ "name": call.name, "arguments": call.arguments });
                        json!({ "id": call.id, "type": "function", "function": function })
                    })
                    .collect();
                message.insert("tool_calls".to_owned(), calls.into());
            }
            vec![message.into()]
        }
        ModelApi::OpenAiResponses => {
            let said = words.map(|text| json!({ "role": "assistant", "content": text }));
            let calls = calls.iter().map(|call| {
                json!({
                    "type": "function_call", "call_id": call.id, "name": call.name,
                    "arguments": call.arguments,
                })
            });
            said.into_iter().chain(calls).collect()
        }
        ModelApi::Anthropic => {
            let said = words.map(|text| json!({ "type": "text", "text": text }));
            let calls = calls.iter().map(|call| {
                json!({
                    "type": "tool_use", "id": call.id, "name": call.name, "input": object(call),
                })
            });
            let blocks: Vec<_> = said.into_iter().chain(calls).collect();
            message_unless_empty(blocks, |blocks| json!({ "role": "assistant", "content": blocks }))
        }
        ModelApi::Gemini => {
            let said = words.map(|text| json!({ "text": text }));
            let calls = calls
                .iter()
                .map(|call| json!({ "functionCall": { "name": call.name, "args": object(call) } }));
            let parts: Vec<_> = said.into_iter().chain(calls).collect();
            message_unless_empty(parts, |parts| json!({ "role": "model", "parts": parts }))
        }
    }
}

fn answers(api: ModelApi, results: &[ResultText]) -> Vec<Value> {
    match api {
        ModelApi::OpenAiChat => results
            .iter()
            .map(|result| {
                json!({ "role": "tool", "tool_call_id": result.call_id, "content": result.text })
            })
            .collect(),
        ModelApi::OpenAiResponses => results
            .iter()
            .map(|result| {
                json!({
                    "type": "function_call_output", "call_id": result.call_id,
                    "output": result.text,
                })
            })
            .collect(),
        ModelApi::Anthropic => {
            let blocks = results.iter().map(|result| {
                let mut block = Map::from_iter([
                    ("type".to_owned(), json!("tool_result")),
                    ("tool_use_id".to_owned(), json!(result.call_id)),
                ]);
                // An empty text is refused.
                if !result.text.is_empty() {
                    block.insert("content".to_owned(), json!(result.text));
                }
                if result.is_error {
                    block.insert("is_error".to_owned(), true.into());
                }
                Value::Object(block)
            });
            message_unless_empty(blocks.collect(), |blocks| {
                json!({ "role": "user", "content": blocks })
            })
        }
        ModelApi::Gemini => {
            let parts = results.iter().map(|result| {
                let key = if result.is_error { "error" } else { "output" };
                let response = json!({ key: result.text });
                json!({ "functionResponse": { "name": result.name, "response": response } })
            });
            message_unless_empty(parts.collect(), |parts| json!({ "role": "user", "parts": parts }))
        }
    }
}

fn message_unless_empty(parts: Vec<Value>, message: impl Fn(Vec<Value>) -> Value) -> Vec<Value> {
    if parts.is_empty() { Vec::new() } else { vec![message(parts)] }
}

/// The answers to the calls of one turn: an API that takes them in one message is given one.
pub(crate) fn merged(messages: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for mut message in messages {
        let parts = |message: &Value| {
            let key = ["content", "parts"].into_iter().find(|key| {
                message.get(key).is_some_and(Value::is_array)
                    && message.get("role").is_some_and(|role| role == "user")
            });
            key.map(str::to_owned)
        };
        let key = parts(&message);
        let same = merged.last_mut().filter(|last| key.is_some() && parts(last) == key);
        let further = key.as_deref().and_then(|key| message.get_mut(key)?.as_array_mut());
        match (same, key.as_deref(), further) {
            (Some(last), Some(key), Some(further)) => {
                if let Some(list) = last.get_mut(key).and_then(Value::as_array_mut) {
                    list.append(further);
                }
            }
            _ => merged.push(message),
        }
    }
    merged
}
