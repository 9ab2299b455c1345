//! Answers for Anthropic Messages.

use serde_json::{Value, json};
use toolcrib_core::{Part, Report, Response};

/// Images that the API reads.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

pub(super) fn message(report: &Report) -> Option<Value> {
    let blocks: Vec<Value> = report.responses.iter().map(block).collect();
    (!blocks.is_empty()).then(|| json!({ "role": "user", "content": blocks }))
}

fn block(response: &Response) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": response.id });
    if let Value::Object(fields) = &mut block {
        if response.is_error() {
            fields.insert("is_error".to_owned(), true.into());
        }
        fields.extend(content(response).map(|content| ("content".to_owned(), content)));
        let family = response.wire.echo.get("toolset_name");
        fields.extend(family.map(|family| ("toolset_name".to_owned(), family.clone())));
    }
    block
}

/// The API refuses an empty text, and anything but text beside `is_error`.
fn content(response: &Response) -> Option<Value> {
    let parts = response.content().map(|content| content.parts.as_slice()).unwrap_or_default();
    let media: Vec<Value> =
        if response.is_error() { Vec::new() } else { parts.iter().filter_map(shown).collect() };
    if media.is_empty() {
        let text = response.text();
        return (!text.is_empty()).then(|| text.into());
    }
    let text = response.text_with(|part| shown(part).is_none());
    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    Some(text.into_iter().chain(media).collect())
}

/// A part that the API takes as it is.
fn shown(part: &Part) -> Option<Value> {
    match part {
        Part::Image { data, mime, .. } if IMAGES.contains(&mime.as_str()) => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime, "data": data },
        })),
        Part::File { data, mime, name, .. } if mime == "application/pdf" => Some(json!({
            "type": "document",
            "title": name,
            "source": { "type": "base64", "media_type": mime, "data": data },
        })),
        Part::Text { .. }
        | Part::Image { .. }
        | Part::Audio { .. }
        | Part::File { .. }
        | Part::Link { .. } => None,
    }
}
