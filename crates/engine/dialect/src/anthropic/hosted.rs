//! What a message tells of the tools that the provider ran.

use serde_json::{Value, json};

use crate::hosted::calls::{HostedWork, lines};

const RESULT: &str = "_tool_result";

/// A result may come in the message after that of its call: the API pauses, and goes on.
pub(super) fn read(reply: &Value) -> HostedWork {
    let mut work = HostedWork::default();
    let blocks = reply.get("content").unwrap_or(reply).as_array();
    let blocks: Vec<_> = blocks.into_iter().flatten().collect();
    for block in &blocks {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
        for note in block.get("citations").and_then(Value::as_array).into_iter().flatten() {
            let url = note.get("url").or(note.get("source"));
            let title = note.get("title").or(note.get("document_title"));
            work.cite(url, title, note.get("cited_text"));
        }
        let Some(own) = kind.strip_suffix(RESULT).filter(|own| is_run(own)) else { continue };
        let id = block.get("tool_use_id");
        let is_of = |use_block: &&&Value| {
            use_block.get("type").is_some_and(|kind| kind == "server_tool_use")
                && use_block.get("id") == id
        };
        let call = blocks.iter().find(is_of);
        let arguments = call.and_then(|call| call.get("input")).cloned();
        let content = block.get("content").unwrap_or(&Value::Null);
        let kind = content.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_failed = kind.ends_with("_error");
        let arguments = arguments.unwrap_or_else(|| json!({}));
        work.call(id, word(own), &arguments).came_to(&told(content), is_failed);
    }
    work
}

pub(super) fn is_of(definition: &Value, word: &str) -> bool {
    definition.get("name").is_some_and(|name| name == word)
}

/// Whether an event tells of a result.
pub(super) fn ends(event: &Value) -> bool {
    let kind = event.pointer("/content_block/type").and_then(Value::as_str);
    kind.and_then(|kind| kind.strip_suffix(RESULT)).is_some_and(is_run)
}

/// Whether it is a tool that does something: the search among tools is no tool of a plan.
fn is_run(own: &str) -> bool {
    !own.is_empty() && own != "mcp" && !own.starts_with("tool_search")
}

/// The two tools that the runner of code has.
fn word(own: &str) -> &str {
    if own.ends_with("code_execution") { "code_execution" } else { own }
}

fn told(content: &Value) -> String {
    let said = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
    let found = content.as_array().into_iter().flatten();
    let found = found.filter_map(|result| result.get("url").and_then(Value::as_str));
    lines(found.chain(["error_code", "stdout", "stderr", "url"].map(said)))
}
