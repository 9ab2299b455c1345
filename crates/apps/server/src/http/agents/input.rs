//! What clients send, as a thread: the messages of a chat, the items of Responses.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use toolcrib_agent::model::CallerTool;
use toolcrib_agent::{CallText, InputPart, ResultText, ThreadItem};

use super::api_error::ApiError;

/// How the content of a compaction of ours begins. It is the caller's word like the rest of a thread,
/// so that nothing is gained by sealing it.
pub(super) const SUMMARY: &str = "toolcrib-summary:";

/// Entries of one request at the most.
const MOST_ENTRIES: usize = 20_000;
/// Bytes of all items that a request only names.
const MOST_REFERENCED: usize = 16 << 20;

/// The messages of `/v1/chat/completions`.
pub(super) fn messages(body: &Value) -> Result<Vec<ThreadItem>, ApiError> {
    let messages = body.get("messages").and_then(Value::as_array);
    let messages = messages.filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| {
        ApiError::invalid("messages", "`messages` must be a list with at least one message")
    })?;
    bounded("messages", messages.len())?;
    let mut thread = ThreadReader::default();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let content = message.get("content");
        match role {
            "system" | "developer" => thread.system(text(content)),
            "user" => thread.user(parts(content, &at)?),
            "assistant" => {
                let calls = message.get("tool_calls").and_then(Value::as_array);
                let calls = calls.into_iter().flatten().map(|call| CallText {
                    id: word(call, "id"),
                    name: call.pointer("/function/name").map(as_text).unwrap_or_default(),
                    arguments: call.pointer("/function/arguments").map(as_text).unwrap_or_default(),
                });
                thread.assistant(text(content), calls.collect());
            }
            "tool" => thread.result(&word(message, "tool_call_id"), text(content)),
            other => {
                let message = format!(
                    "`{at}.role` is `{other}`: it must be system, developer, user, assistant or tool"
                );
                return Err(ApiError::invalid(&at, message));
            }
        }
    }
    Ok(thread.finish())
}

/// The items that an input names in place of bringing them.
pub(super) fn references(input: &Value) -> HashSet<String> {
    let items = input.as_array().into_iter().flatten().take(MOST_ENTRIES);
    items.filter(|item| is_reference(item)).map(|item| word(item, "id")).collect()
}

fn is_reference(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("item_reference")
}

/// The `input` of `/v1/responses`: a text, or items; it may be left out where a thread goes on, whose
/// items are `before`. `found`: the items of earlier answers that it names, by their ids.
pub(super) fn items(
    input: &Value,
    before: &[ThreadItem],
    found: &HashMap<String, Value>,
) -> Result<Vec<ThreadItem>, ApiError> {
    let items = match input {
        Value::String(text) => return Ok(vec![ThreadItem::user(text)]),
        Value::Array(items) => items,
        Value::Null if !before.is_empty() => return Ok(Vec::new()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err(ApiError::invalid("input", "`input` must be a text or a list of items"));
        }
    };
    bounded("input", items.len())?;
    let mut thread = ThreadReader::after(before);
    let mut bytes = 0_usize;
    let settled = settled(items.iter().chain(found.values()));
    for (index, item) in items.iter().enumerate() {
        let at = format!("input[{index}]");
        if is_settled(item, &settled) {
            continue;
        }
        if is_reference(item) {
            let id = word(item, "id");
            let found = found.get(&id).ok_or_else(|| {
                let message = format!("there is no item `{id}` any more: send it whole");
                ApiError::not_found("item_not_found", message)
            })?;
            bytes = bytes.saturating_add(found.to_string().len());
            if bytes > MOST_REFERENCED {
                let message =
                    format!("the items that are named have more than {MOST_REFERENCED} bytes");
                return Err(ApiError::invalid("input", message));
            }
            if !is_settled(found, &settled) {
                thread.item(found, &at)?;
            }
        } else {
            thread.item(item, &at)?;
        }
    }
    Ok(thread.finish())
}

/// The approval requests of a history of which it also has what came of them.
pub(super) fn settled<'a>(items: impl Iterator<Item = &'a Value>) -> HashSet<&'a str> {
    let calls = items.filter(|item| item.get("type").is_some_and(|kind| kind == "mcp_call"));
    calls.filter_map(|call| call.get("approval_request_id").and_then(Value::as_str)).collect()
}

/// Whether it asks or answers what was settled since.
pub(super) fn is_settled(item: &Value, settled: &HashSet<&str>) -> bool {
    let key = match item.get("type").and_then(Value::as_str) {
        Some("mcp_approval_request") => "id",
        Some("mcp_approval_response") => "approval_request_id",
        _ => return false,
    };
    item.get(key).and_then(Value::as_str).is_some_and(|id| settled.contains(id))
}

/// The function tools of the caller, in the shape of either API.
pub(super) fn caller_tools(body: &Value) -> Result<Vec<CallerTool>, ApiError> {
    let tools = body.get("tools").and_then(Value::as_array);
    let mut own: Vec<CallerTool> = Vec::new();
    for (index, tool) in tools.into_iter().flatten().enumerate() {
        // Tools of the provider and of servers are not the caller's to run.
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            continue;
        }
        let inner = tool.get("function").unwrap_or(tool);
        let name = word(inner, "name");
        if name.is_empty() {
            let at = format!("tools[{index}]");
            return Err(ApiError::invalid(&at, format!("`{at}` has no `name`")));
        }
        if own.iter().any(|other| other.name == name) {
            let at = format!("tools[{index}]");
            return Err(ApiError::invalid(&at, format!("there are two tools `{name}`")));
        }
        let parameters = inner.get("parameters").filter(|schema| schema.is_object()).cloned();
        own.push(CallerTool {
            name,
            description: word(inner, "description"),
            parameters: parameters.unwrap_or_else(|| json!({ "type": "object" })),
        });
    }
    Ok(own)
}

fn bounded(parameter: &str, count: usize) -> Result<(), ApiError> {
    if count > MOST_ENTRIES {
        let message = format!("`{parameter}` has more than {MOST_ENTRIES} entries");
        return Err(ApiError::invalid(parameter, message));
    }
    Ok(())
}

/// Puts a thread together; answers to calls of one turn become one entry.
#[derive(Default)]
struct ThreadReader {
    items: Vec<ThreadItem>,
    /// The names of calls, by their ids.
    names: HashMap<String, String>,
}

impl ThreadReader {
    /// One that goes on with a thread: what is answered may have been called there.
    fn after(before: &[ThreadItem]) -> Self {
        let mut names = HashMap::new();
        for item in before {
            if let ThreadItem::Assistant { calls, .. } = item {
                names.extend(calls.iter().map(|call| (call.id.clone(), call.name.clone())));
            }
        }
        Self { items: Vec::new(), names }
    }

    fn finish(self) -> Vec<ThreadItem> {
        self.items
    }

    fn system(&mut self, text: String) {
        self.items.push(ThreadItem::System { text });
    }

    fn user(&mut self, parts: Vec<InputPart>) {
        self.items.push(ThreadItem::User { parts });
    }

    fn assistant(&mut self, said: String, called: Vec<CallText>) {
        for call in &called {
            self.names.insert(call.id.clone(), call.name.clone());
        }
        // A message and the calls behind it are one turn.
        if let Some(ThreadItem::Assistant { calls, .. }) = self.items.last_mut()
            && said.is_empty()
        {
            calls.extend(called);
            return;
        }
        self.items.push(ThreadItem::Assistant { text: said, calls: called, echo: None });
    }

    /// What a caller's own tool answered: to a call that stands in the thread.
    fn answer(&mut self, call: &str, said: String, at: &str) -> Result<(), ApiError> {
        if !self.names.contains_key(call) {
            let message = format!(
                "`{at}` answers the call `{call}`, and no such call stands before it: send the \
                 `function_call` too, or the `previous_response_id` that has it"
            );
            return Err(ApiError::invalid(at, message));
        }
        self.result(call, said);
        Ok(())
    }

    fn result(&mut self, call_id: &str, text: String) {
        self.answered(call_id, text, false);
    }

    fn answered(&mut self, call_id: &str, text: String, is_error: bool) {
        let name = self.names.get(call_id).cloned().unwrap_or_default();
        let result = ResultText { call_id: call_id.to_owned(), name, text, is_error };
        if let Some(ThreadItem::Results { results, .. }) = self.items.last_mut() {
            results.push(result);
        } else {
            self.items.push(ThreadItem::Results { results: vec![result], echo: None });
        }
    }

    /// An item of Responses. What a caller says that a tool of ours answered is the caller's word,
    /// and proves nothing.
    fn item(&mut self, item: &Value, at: &str) -> Result<(), ApiError> {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
        match kind {
            "message" => match item.get("role").and_then(Value::as_str) {
                Some("system" | "developer") => self.system(text(item.get("content"))),
                Some("assistant") => self.assistant(text(item.get("content")), Vec::new()),
                Some("user") => self.user(parts(item.get("content"), at)?),
                role => {
                    let role = role.unwrap_or("missing");
                    let message = format!(
                        "the role of `{at}` is {role}: it must be user, assistant, system or \
                         developer"
                    );
                    return Err(ApiError::invalid(at, message));
                }
            },
            "function_call" => {
                let call = CallText {
                    id: word(item, "call_id"),
                    name: word(item, "name"),
                    arguments: word(item, "arguments"),
                };
                self.assistant(String::new(), vec![call]);
            }
            "function_call_output" => {
                self.answer(&word(item, "call_id"), text(item.get("output")), at)?;
            }
            "mcp_call" => self.mcp_call(item),
            "mcp_approval_request" => {
                let (id, name) = (word(item, "id"), word(item, "name"));
                let call = CallText { id, name, arguments: word(item, "arguments") };
                self.assistant(String::new(), vec![call]);
            }
            "mcp_approval_response" => {
                let id = word(item, "approval_request_id");
                // What came of it takes the place of these words.
                if self.names.contains_key(&id) {
                    self.answered(&id, "it was decided about this call".to_owned(), false);
                }
            }
            // Thoughts and lists of other models tell this one nothing.
            "reasoning" | "mcp_list_tools" => {}
            "compaction" => {
                let said = word(item, "encrypted_content");
                if let Some(summary) = said.strip_prefix(SUMMARY) {
                    let said = format!("What was said before, in short: {summary}");
                    self.user(vec![InputPart::Text { text: said }]);
                }
            }
            extended if extended.contains(':') => {}
            other => {
                let message =
                    format!("`{at}` is an item of the type `{other}`, which is not known");
                return Err(ApiError::invalid(at, message));
            }
        }
        Ok(())
    }

    fn mcp_call(&mut self, item: &Value) {
        let id = word(item, "id");
        let (name, arguments) = (word(item, "name"), word(item, "arguments"));
        self.assistant(String::new(), vec![CallText { id: id.clone(), name, arguments }]);
        let said = |key: &str| item.get(key).filter(|said| !said.is_null()).map(as_text);
        let failure = said("error");
        let is_error = failure.is_some();
        self.answered(&id, said("output").or(failure).unwrap_or_default(), is_error);
    }
}

fn word(value: &Value, key: &str) -> String {
    value.get(key).map(as_text).unwrap_or_default()
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    }
}

/// All text of a content, which may be a text or parts.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| {
                part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str)
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(other) => as_text(other),
        None => String::new(),
    }
}

fn parts(content: Option<&Value>, at: &str) -> Result<Vec<InputPart>, ApiError> {
    let parts = match content {
        Some(Value::Array(parts)) => parts,
        Some(Value::String(text)) => return Ok(vec![InputPart::Text { text: text.clone() }]),
        _ => {
            let message = format!("the content of `{at}` must be a text or a list of parts");
            return Err(ApiError::invalid(at, message));
        }
    };
    let read = parts.iter().enumerate().map(|(index, part)| {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "text" | "input_text" | "output_text" => {
                Ok(InputPart::Text { text: word(part, "text") })
            }
            "image_url" => {
                let url = part.pointer("/image_url/url").map(as_text).unwrap_or_default();
                Ok(image(url))
            }
            "input_image" => Ok(image(word(part, "image_url"))),
            "input_file" | "file" => {
                let inner = part.get("file").unwrap_or(part);
                let (mime, data) = data_url(&word(inner, "file_data"));
                Ok(InputPart::File { name: word(inner, "filename"), mime, data })
            }
            other => {
                let at = format!("{at}.content[{index}]");
                let message = format!("`{at}` is a part of the type `{other}`, which is not known");
                Err(ApiError::invalid(&at, message))
            }
        }
    });
    read.collect()
}

fn image(url: String) -> InputPart {
    if url.starts_with("data:") {
        let (mime, data) = data_url(&url);
        return InputPart::Image { mime, data };
    }
    InputPart::ImageUrl { url }
}

/// The kind and the base64 of `data:KIND;base64,...`.
fn data_url(url: &str) -> (String, String) {
    let bare = url.strip_prefix("data:").unwrap_or(url);
    match bare.split_once(";base64,") {
        Some((mime, data)) => (mime.to_owned(), data.to_owned()),
        None => ("application/octet-stream".to_owned(), bare.to_owned()),
    }
}
