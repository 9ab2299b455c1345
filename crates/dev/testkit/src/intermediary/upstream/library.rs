//! Resources, prompts and completions behind the gateway.

use serde_json::{Value, json};

use super::request::error;

/// The resource that is read, the template that is listed, and the prompt.
pub(crate) const RESOURCE: &str = "fixture://notes/first";
pub(crate) const TEMPLATE: &str = "fixture://notes/{name}";
pub(crate) const PROMPT: &str = "greeting";

fn resource(uri: &str) -> Value {
    json!({
        "uri": uri, "name": uri.rsplit('/').next().unwrap_or_default(), "title": "A note",
        "description": "What was noted.", "mimeType": "text/plain", "size": 7,
        "annotations": { "audience": ["assistant"], "priority": 1 },
        "_meta": { "example.com/kept": true },
    })
}

pub(super) fn resources(has_more: bool) -> Value {
    let mut all = vec![resource(RESOURCE), resource("fixture://notes/second")];
    if has_more {
        all.push(resource("fixture://notes/late"));
    }
    json!({ "result": { "resources": all } })
}

pub(super) fn templates() -> Value {
    json!({ "result": { "resourceTemplates": [{
        "uriTemplate": TEMPLATE, "name": "note", "title": "A note", "mimeType": "text/plain",
        "description": "A note by its name.",
    }] } })
}

/// What a note holds: a text and bytes.
pub(crate) fn contents(uri: &str) -> Value {
    json!([
        { "uri": uri, "mimeType": "text/plain", "text": format!("note of {uri}"), "_meta": { "example.com/n": 1 } },
        { "uri": format!("{uri}#bytes"), "mimeType": "application/octet-stream", "blob": "AAECAw==" },
    ])
}

pub(super) fn read(params: &Value) -> Value {
    let uri = params["uri"].as_str().unwrap_or_default();
    if !uri.starts_with("fixture://notes/") || uri.ends_with("/none") {
        return error(-32002, "there is no such note", Some(json!({ "uri": uri })));
    }
    let contents = contents(uri);
    json!({ "result": { "contents": contents, "ttlMs": 0, "cacheScope": "private" } })
}

pub(super) fn prompts(has_more: bool) -> Value {
    let prompt = |name: &str| {
        json!({
            "name": name, "title": "A greeting", "description": "Greets somebody.",
            "arguments": [{ "name": "who", "description": "Whom.", "required": true }],
        })
    };
    let mut all = vec![prompt(PROMPT)];
    if has_more {
        all.push(prompt("late"));
    }
    json!({ "result": { "prompts": all } })
}

/// What the prompt comes to.
pub(crate) fn said(who: &str) -> Value {
    json!([
        { "role": "user", "content": { "type": "text", "text": format!("Greet {who}.") } },
        { "role": "assistant", "content": { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" } },
        { "role": "user", "content": { "type": "resource", "resource": { "uri": "fixture://inside", "text": "inside" } } },
    ])
}

pub(super) fn prompt(params: &Value) -> Value {
    if params["name"] != PROMPT && params["name"] != "late" {
        return error(-32602, "there is no such prompt", None);
    }
    let messages = said(params["arguments"]["who"].as_str().unwrap_or_default());
    json!({ "result": { "description": "Greets somebody.", "messages": messages } })
}

pub(super) fn complete(params: &Value) -> Value {
    let begun = params["argument"]["value"].as_str().unwrap_or_default();
    let values: Vec<String> = ["a", "b"].iter().map(|end| format!("{begun}{end}")).collect();
    json!({ "result": { "completion": { "values": values, "total": 2, "hasMore": false } } })
}
