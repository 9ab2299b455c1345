//! Answers for Responses.

use serde_json::{Value, json};
use toolcrib_core::{Part, Response};

/// One output item, with images and files as they are.
pub(super) fn item(response: &Response) -> Value {
    let echo = &response.wire.echo;
    let kind = match echo.get("type").and_then(Value::as_str) {
        Some("custom_tool_call") => "custom_tool_call_output",
        _ => "function_call_output",
    };
    let mut item = json!({
        "type": kind,
        "call_id": response.id,
        "output": output(response),
    });
    if let (Some(caller), Value::Object(fields)) = (echo.get("caller"), &mut item) {
        fields.insert("caller".to_owned(), caller.clone());
    }
    item
}

fn output(response: &Response) -> Value {
    let media: Vec<Value> = response
        .content()
        .into_iter()
        .flat_map(|content| &content.parts)
        .filter_map(shown)
        .collect();
    if media.is_empty() {
        return response.text().into();
    }
    let text = response.text_with(|part| shown(part).is_none());
    let text = (!text.is_empty()).then(|| json!({ "type": "input_text", "text": text }));
    text.into_iter().chain(media).collect()
}

/// A part that the API takes as it is.
fn shown(part: &Part) -> Option<Value> {
    match part {
        Part::Image { data, mime, .. } => Some(json!({
            "type": "input_image",
            "image_url": format!("data:{mime};base64,{data}"),
        })),
        Part::File { data, mime, name, .. } => Some(json!({
            "type": "input_file",
            "filename": name,
            "file_data": format!("data:{mime};base64,{data}"),
        })),
        Part::Text { .. } | Part::Audio { .. } | Part::Link { .. } => None,
    }
}
