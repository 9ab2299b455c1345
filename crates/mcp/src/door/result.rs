//! The response to a call as the protocol has it.

use serde_json::{Map, Value, json};
use toolcrib_core::{ErrorKind, Part, Response, ToolOutcome};

use super::client::Client;
use crate::block::block;

/// `promised`: the tool has a schema of its results, so that a strict client takes one without
/// data for broken unless it is marked as an error.
pub(super) fn result(response: &Response, promised: bool, client: &Client) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let (before, after) = words(response);
    blocks.extend(before.as_deref().map(text));
    let content = response.content();
    if let Some(content) = content {
        blocks.extend(content.parts.iter().map(|part| block(part, client.kinds)));
    }
    blocks.extend(after.as_deref().map(text));
    let mut result = Map::new();
    if client.is_modern {
        result.insert("resultType".to_owned(), json!("complete"));
    }
    result.insert("content".to_owned(), Value::Array(blocks));
    let data = content.and_then(|content| content.structured.as_ref());
    let data = data.filter(|data| client.takes_data(data));
    // What we say of a call is no result of the tool, and a strict client would hold it against
    // the tool's schema.
    let ours = response.error().is_some_and(|error| {
        matches!(error.kind, ErrorKind::UnknownOutcome | ErrorKind::DuplicateOfUnknown)
    });
    let told = content.and_then(|content| content.structured.as_ref()).filter(|_| ours);
    let data = data.filter(|_| !(ours && promised));
    if let Some(data) = data {
        result.insert("structuredContent".to_owned(), data.clone());
    }
    let broken_promise = promised && data.is_none();
    result.insert("isError".to_owned(), json!(response.is_error() || broken_promise));
    for (key, value) in content.map(|content| &content.extra).into_iter().flatten() {
        if !result.contains_key(key) {
            result.insert(key.clone(), value.clone());
        }
    }
    if let ToolOutcome::Pending(pending) = &response.outcome {
        note(&mut result, "toolcrib/ticket", json!(pending.ticket));
    }
    if let Some(told) = told {
        note(&mut result, "toolcrib/call", told.clone());
    }
    Value::Object(result)
}

fn note(result: &mut Map<String, Value>, key: &str, value: Value) {
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.insert(key.to_owned(), value);
    }
}

/// What we say before the parts and after them.
fn words(response: &Response) -> (Option<String>, Option<String>) {
    // The parts have blocks of their own.
    let words = response.text_with(|_| false);
    let is_text = |part: &Part| matches!(part, Part::Text { .. });
    let told = response.error().map(|error| format!("Error: {}", error.message));
    let Some((told, rest)) =
        told.and_then(|told| Some((told.clone(), words.strip_prefix(told.as_str())?.to_owned())))
    else {
        let ours = matches!(response.outcome, ToolOutcome::Done(_));
        return if ours { (None, some(&words)) } else { (some(&words), None) };
    };
    // A tool that says itself why it failed is not quoted as well.
    let speaks = response.error().is_some_and(|error| error.kind == ErrorKind::Tool)
        && response.content().is_some_and(|content| content.parts.iter().any(is_text));
    (some(if speaks { "" } else { &told }), some(&rest))
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// A refusal of ours that a model should read.
pub(super) fn refusal(told: &str, client: &Client) -> Value {
    let mut result = json!({ "content": [text(told)], "isError": true });
    if let (true, Value::Object(fields)) = (client.is_modern, &mut result) {
        fields.insert("resultType".to_owned(), json!("complete"));
    }
    result
}
