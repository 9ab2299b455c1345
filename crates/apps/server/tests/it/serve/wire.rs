//! Messages of the Model Context Protocol in its stateless revision, as a client sends them.

use serde_json::{Value, json};

use super::support::{Answer, Serving, bearer, head};

/// What a client of 2026-07-28 says of itself: it can be asked for fields.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    })
}

/// What one says that takes tasks.
pub(crate) fn taking() -> Value {
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    json!({ "io.modelcontextprotocol/clientCapabilities": { "extensions": extensions } })
}

/// Sends a request to `/mcp` and what follows it in `path`, with the headers that belong to it.
pub(crate) fn modern(
    serving: &Serving,
    token: &str,
    path: &str,
    (method, mut params): (&str, Value),
) -> Answer {
    let named = ["name", "uri", "taskId"];
    let named = named.iter().find_map(|key| params[*key].as_str().map(str::to_owned));
    let mut own = meta();
    if let Value::Object(given) = params["_meta"].take() {
        own.as_object_mut().unwrap().extend(given);
    }
    params["_meta"] = own;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut lines = vec![
        bearer(token),
        "Accept: application/json, text/event-stream".to_owned(),
        "Content-Type: application/json".to_owned(),
        "MCP-Protocol-Version: 2026-07-28".to_owned(),
        format!("Mcp-Method: {method}"),
    ];
    lines.extend(named.map(|name| format!("Mcp-Name: {name}")));
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    serving.send(&head("POST", path, serving, &lines), &body.to_string())
}

/// The last message of an answer, which is one message or some events.
pub(crate) fn message(answer: &Answer) -> Value {
    let event = answer.body.lines().rev().find_map(|line| line.strip_prefix("data: {"));
    let text = event.map_or_else(|| answer.body.clone(), |text| format!("{{{text}"));
    serde_json::from_str(&text).unwrap_or_else(|_| unreachable!("{answer:?}"))
}

/// The events of an answer over REST, by name.
pub(crate) fn events(answer: &Answer) -> Vec<(&str, Value)> {
    let events = answer.body.split("\n\n");
    let events = events.filter_map(|event| event.strip_prefix("event: ")?.split_once("\ndata: "));
    events.map(|(name, data)| (name, serde_json::from_str(data).unwrap())).collect()
}
