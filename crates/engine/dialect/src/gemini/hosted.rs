//! What a reply tells of the tools that the provider ran.

use serde_json::{Map, Value, json};

use super::calls::content;
use crate::hosted::calls::{HostedWork, lines};

/// What a candidate says of such tools beside its content.
pub(super) const NOTES: [&str; 2] = ["groundingMetadata", "urlContextMetadata"];

pub(super) fn read(reply: &Value) -> HostedWork {
    let mut work = HostedWork::default();
    let candidate = reply.pointer("/candidates/0").unwrap_or(&Value::Null);
    let parts = content(reply).and_then(|content| content.get("parts")?.as_array());
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let has_calls = parts.iter().any(|part| part.get("toolCall").is_some());
    for (place, part) in parts.iter().enumerate() {
        if let Some(answer) = part.get("toolResponse") {
            answered(&mut work, answer, &parts);
        }
        if let Some(result) = part.get("codeExecutionResult") {
            let before = parts.get(..place).unwrap_or_default().iter().rev();
            let code = before.clone().find_map(|part| part.get("executableCode"));
            let is_good = result.get("outcome").is_none_or(|outcome| outcome == "OUTCOME_OK");
            let output = result.get("output").and_then(Value::as_str).unwrap_or_default();
            let arguments = code.cloned().unwrap_or_else(|| json!({}));
            work.call(result.get("id"), "codeExecution", &arguments).came_to(output, !is_good);
        }
    }
    let [grounding, pages] = NOTES.map(|note| candidate.get(note).unwrap_or(&Value::Null));
    if !has_calls {
        searched(&mut work, grounding);
        let pages = list(pages, "urlMetadata");
        let pages: Vec<_> = pages.filter_map(|page| page.get("retrievedUrl")?.as_str()).collect();
        if !pages.is_empty() {
            let asked = json!({ "urls": pages });
            work.call(None, "urlContext", &asked).came_to(&lines(pages), false);
        }
    }
    for chunk in list(grounding, "groundingChunks") {
        let source = ["web", "retrievedContext", "maps"].iter().find_map(|kind| chunk.get(kind));
        if let Some(source) = source {
            work.cite(source.get("uri"), source.get("title"), source.get("text"));
        }
    }
    work
}

pub(super) fn is_of(definition: &Value, tool: &str) -> bool {
    definition.get(tool).is_some()
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Where the API tells of each call: beside functions.
fn answered(work: &mut HostedWork, answer: &Value, parts: &[&Value]) {
    let kind = answer.get("toolType").and_then(Value::as_str).unwrap_or_default();
    let tool = match kind {
        kind if kind.starts_with("GOOGLE_SEARCH") => "googleSearch",
        "URL_CONTEXT" => "urlContext",
        "GOOGLE_MAPS" => "googleMaps",
        "FILE_SEARCH" => "fileSearch",
        "CODE_EXECUTION" => "codeExecution",
        other => other,
    };
    let id = answer.get("id");
    let call = parts.iter().filter_map(|part| part.get("toolCall"));
    let call = call.rev().find(|call| call.get("id") == id);
    let arguments = call.and_then(|call| call.get("args")).cloned();
    work.call(id, tool, &arguments.unwrap_or_else(|| json!({}))).came_to("", false);
}

/// Where the API tells only what the answer is founded on.
fn searched(work: &mut HostedWork, grounding: &Value) {
    let queries: Vec<_> = list(grounding, "webSearchQueries").filter_map(Value::as_str).collect();
    for (kind, tool) in
        [("web", "googleSearch"), ("retrievedContext", "fileSearch"), ("maps", "googleMaps")]
    {
        let found = list(grounding, "groundingChunks").filter_map(|chunk| chunk.get(kind));
        let found: Vec<_> =
            found.filter_map(|found| found.get("uri").or(found.get("title"))?.as_str()).collect();
        let is_search = kind == "web" && !queries.is_empty();
        if found.is_empty() && !is_search {
            continue;
        }
        let mut asked = Map::new();
        if is_search {
            asked.insert("queries".to_owned(), json!(queries));
        }
        work.call(None, tool, &asked.into()).came_to(&lines(found), false);
    }
}
