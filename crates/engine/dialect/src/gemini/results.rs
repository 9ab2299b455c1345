//! Answers for Gemini.

use serde_json::{Value, json};
use toolcrib_core::{Part, Response};

/// Media that a function response may hold.
const MEDIA: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

pub(super) fn part(response: &Response) -> Value {
    let named = [&response.wire.name, &response.name];
    let name = named.into_iter().find(|name| !name.is_empty());
    let mut answer = json!({ "name": name.map_or("unknown", String::as_str) });
    let media = media(response);
    if let Value::Object(fields) = &mut answer {
        // Only an id that the model gave: one of ours would match nothing there.
        let id = response.wire.echo.get("id");
        let id = id.filter(|id| id.as_str().is_some_and(|id| !id.is_empty()));
        fields.extend(id.map(|id| ("id".to_owned(), id.clone())));
        fields.insert("response".to_owned(), said(response));
        if !media.is_empty() {
            fields.insert("parts".to_owned(), Value::Array(media));
        }
    }
    json!({ "functionResponse": answer })
}

fn said(response: &Response) -> Value {
    if response.is_error() {
        return json!({ "error": response.text_with(|part| shown(part).is_none()) });
    }
    let data = response.content().and_then(|content| content.structured.as_ref());
    let Some(data) = data.filter(|data| !holds_reference(data)) else {
        return json!({ "output": response.text_with(|part| shown(part).is_none()) });
    };
    // The data says what the parts say; what was added to them still has to be said.
    let added = response.text_with(|_| false);
    if added.is_empty() {
        return json!({ "output": data });
    }
    json!({ "output": { "result": data, "notes": added } })
}

fn media(response: &Response) -> Vec<Value> {
    let content = response.content().into_iter();
    content.flat_map(|content| &content.parts).filter_map(shown).collect()
}

/// A part that the API takes as it is.
fn shown(part: &Part) -> Option<Value> {
    match part {
        Part::Image { data, mime, .. } | Part::File { data, mime, .. }
            if MEDIA.contains(&mime.as_str()) =>
        {
            Some(json!({ "inlineData": { "mimeType": mime, "data": data } }))
        }
        Part::Text { .. }
        | Part::Image { .. }
        | Part::Audio { .. }
        | Part::File { .. }
        | Part::Link { .. } => None,
    }
}

/// The API reads `$ref` as a pointer to media and refuses any other use; such data is sent as
/// text. Found without recursion.
fn holds_reference(data: &Value) -> bool {
    let mut open = vec![data];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) if fields.contains_key("$ref") => return true,
            Value::Object(fields) => open.extend(fields.values()),
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}
