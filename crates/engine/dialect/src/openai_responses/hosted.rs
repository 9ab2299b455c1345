//! What a response tells of the tools that the provider ran.

use serde_json::{Map, Value, json};

use crate::hosted::calls::{HostedWork, lines};

/// The type of an item of such a tool, and that of its definition.
const ITEMS: [(&str, &str); 4] = [
    ("web_search_call", "web_search"),
    ("file_search_call", "file_search"),
    ("code_interpreter_call", "code_interpreter"),
    ("image_generation_call", "image_generation"),
];

pub(super) fn read(reply: &Value) -> HostedWork {
    let mut work = HostedWork::default();
    for item in reply.get("output").unwrap_or(reply).as_array().into_iter().flatten() {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "message" {
            cite(&mut work, item);
        }
        let Some((_, tool)) = ITEMS.iter().find(|(known, _)| *known == kind) else { continue };
        let status = item.get("status").and_then(Value::as_str);
        if matches!(status, Some("in_progress" | "searching" | "interpreting" | "generating")) {
            continue;
        }
        let is_failed = matches!(status, Some("failed" | "incomplete"));
        work.call(item.get("id"), tool, &asked(tool, item)).came_to(&told(item), is_failed);
    }
    work
}

/// Whether a definition is that of such a word: the API has several versions of one.
pub(super) fn is_of(definition: &Value, tool: &str) -> bool {
    let kind = definition.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.starts_with(tool))
}

/// Whether an event tells of the end of such an item.
pub(super) fn ends(event: &Value) -> bool {
    let kind = event.pointer("/item/type").and_then(Value::as_str);
    event.get("type").is_some_and(|kind| kind == "response.output_item.done")
        && ITEMS.iter().any(|(known, _)| Some(*known) == kind)
}

fn asked(tool: &str, item: &Value) -> Value {
    let pick = |keys: &[&str], from: &Value| {
        let told = keys.iter().filter_map(|key| Some(((*key).to_owned(), from.get(*key)?.clone())));
        Value::Object(told.filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
    };
    match tool {
        "web_search" => {
            let action = item.get("action").cloned().unwrap_or_else(|| json!({}));
            pick(&["type", "query", "queries", "url", "pattern"], &action)
        }
        "file_search" => pick(&["queries"], item),
        "code_interpreter" => pick(&["code", "container_id"], item),
        _ => pick(&["revised_prompt", "size", "quality"], item),
    }
}

fn told(item: &Value) -> String {
    let list =
        |pointer: &str| item.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let said = |value: &'_ Value, keys: &[&str]| {
        keys.iter().find_map(|key| value.get(key)?.as_str()).unwrap_or_default().to_owned()
    };
    let sources = list("/action/sources").map(|source| said(source, &["url", "name"]));
    let files = list("/results").map(|file| said(file, &["filename", "file_id"]));
    let outputs = list("/outputs").map(|output| said(output, &["logs", "url"]));
    let all: Vec<_> = sources.chain(files).chain(outputs).collect();
    lines(all.iter().map(String::as_str))
}

fn cite(work: &mut HostedWork, message: &Value) {
    let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let notes = parts.filter_map(|part| part.get("annotations")?.as_array()).flatten();
    for note in notes {
        match note.get("type").and_then(Value::as_str) {
            Some("url_citation") => work.cite(note.get("url"), note.get("title"), None),
            Some("file_citation" | "container_file_citation") => {
                work.cite(None, note.get("filename").or(note.get("file_id")), None);
            }
            _ => {}
        }
    }
}
