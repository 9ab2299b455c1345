//! What the APIs refuse of a thread, as they tell it.

use std::collections::BTreeSet;

use serde_json::Value;
use toolcrib_agent::model::ModelApi;

/// What an API would refuse of the messages of a request.
pub(crate) fn faults(api: ModelApi, body: &Value) -> Vec<String> {
    match api {
        ModelApi::OpenAiChat => of_chat(list(body, "messages")),
        ModelApi::OpenAiResponses => of_responses(list(body, "input")),
        ModelApi::Anthropic => of_blocks(list(body, "messages")),
        ModelApi::Gemini => of_gemini(list(body, "contents")),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn ids(entries: &[Value], key: &str) -> BTreeSet<String> {
    entries.iter().map(|entry| entry[key].as_str().unwrap_or_default().to_owned()).collect()
}

fn of_chat(messages: &[Value]) -> Vec<String> {
    let (mut faults, mut open) = (Vec::new(), BTreeSet::new());
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !open.remove(id) {
                faults.push(format!("an answer to `{id}` without a call before it"));
            }
            continue;
        }
        if !open.is_empty() {
            faults.push(format!("no answer to {open:?}"));
        }
        open = ids(list(message, "tool_calls"), "id");
    }
    if !open.is_empty() {
        faults.push(format!("no answer to {open:?} at the end"));
    }
    faults
}

fn of_responses(items: &[Value]) -> Vec<String> {
    let (mut faults, mut open) = (Vec::new(), BTreeSet::new());
    for (place, item) in items.iter().enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str() {
            Some("function_call") => {
                open.insert(id);
            }
            Some("function_call_output") if !open.remove(&id) => {
                faults.push(format!("an output of `{id}` without a call before it"));
            }
            Some("reasoning") => {
                let next = items.get(place + 1).and_then(|next| next["type"].as_str());
                if !matches!(next, Some("message" | "function_call")) {
                    faults.push(format!("reasoning `{}` without what follows it", item["id"]));
                }
            }
            _ => {}
        }
    }
    if !open.is_empty() {
        faults.push(format!("no output of {open:?}"));
    }
    faults
}

fn of_blocks(messages: &[Value]) -> Vec<String> {
    let of_kind = |message: &Value, kind: &str| -> Vec<Value> {
        list(message, "content").iter().filter(|block| block["type"] == kind).cloned().collect()
    };
    let (mut faults, mut open) = (Vec::new(), BTreeSet::new());
    for message in messages {
        let answered = ids(&of_kind(message, "tool_result"), "tool_use_id");
        if answered != open {
            faults.push(format!("answers to {answered:?} where {open:?} were called"));
        }
        open = ids(&of_kind(message, "tool_use"), "id");
    }
    if !open.is_empty() {
        faults.push(format!("no answer to {open:?} at the end"));
    }
    faults
}

fn of_gemini(contents: &[Value]) -> Vec<String> {
    let count = |content: &Value, kind: &str| {
        list(content, "parts").iter().filter(|part| part.get(kind).is_some()).count()
    };
    let (mut faults, mut open) = (Vec::new(), 0);
    for content in contents {
        let answered = count(content, "functionResponse");
        if answered != open {
            faults.push(format!("{answered} responses to {open} calls"));
        }
        open = count(content, "functionCall");
    }
    if open > 0 {
        faults.push(format!("no response to {open} calls at the end"));
    }
    faults
}
