//! An answer as the object and the events of Responses.
//!
//! Which fields must be there: <https://www.openresponses.org>, specification of 2026-04-24. A tool
//! that ran here is told as an `mcp_call` item: of the shapes that clients know it is the only one
//! that none of them takes for a call that it has to run itself.

mod call_items;
pub(super) mod parts;

use std::time::SystemTime;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolcrib_agent::{CallEnd, CalledTool, RunEnd, RunEvent, RunReference, StopReason, Usage};

use super::api_error::ApiError;
use super::chosen::mcp_servers::McpServers;
use super::live::live_run::{DecidedCall, LiveRun, RunMeta, seconds};
use parts::{annotations_of, message, part};

/// What stands before the ticket in the id of an item.
const APPROVAL: &str = "mcpr_";

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    seconds(SystemTime::now())
}

/// One event of a stream; JSON holds no line break.
pub(super) fn event(name: Option<&str>, data: &Value) -> Bytes {
    let head = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{head}data: {data}\n\n").into()
}

/// What a run has said so far, as the object of Responses.
pub(super) fn response_of(run: &LiveRun) -> Value {
    let mut writer = ResponseWriter::new(&run.meta);
    let state = run.state.borrow();
    for event in &state.events {
        writer.hear(event);
    }
    writer.response()
}

/// Writes an answer down while it comes.
pub(super) struct ResponseWriter {
    response: Map<String, Value>,
    output: Vec<Value>,
    /// The message that is being written.
    message: Option<MessageDraft>,
    /// Items of calls that run: their place in the output, and the id of the call.
    open: Vec<(usize, String)>,
    sequence: u64,
    /// What makes the ids of items those of this answer; they are the same however often it is
    /// written.
    key: String,
    usage: Usage,
    /// The sources that are known so far.
    references: Vec<RunReference>,
    waits_for_people: bool,
    /// Names of tools that the caller runs.
    caller_tools: Vec<String>,
    /// The client's own names for where tools are from.
    servers: McpServers,
    /// What the request said yes or no to, as long as it is not told.
    decided: Vec<DecidedCall>,
    /// Calls of which it is not known whether the caller is asked about them; `None`: nobody is
    /// asked here.
    held: Option<Vec<HeldCall>>,
    /// Calls of those who work for the run, each with whose it is: the caller is asked in the end
    /// about those that wait for a person.
    held_below: Vec<(String, HeldCall)>,
}

/// A call, and what it came to so far.
struct HeldCall {
    called: CalledTool,
    done: Option<CallEnd>,
}

struct MessageDraft {
    id: String,
    text: String,
}

impl ResponseWriter {
    /// Of a run: what was asked of it, of which much is given back.
    pub(super) fn new(run: &RunMeta) -> Self {
        let (id, model, body) = (response_id(&run.id), &run.agent, &run.request.body);
        let caller_tools = run.request.caller_tools.clone();
        let given = |key: &str| body.get(key).filter(|value| !value.is_null()).cloned();
        let or = |key: &str, usual: Value| given(key).unwrap_or(usual);
        let tools = tools_told(body);
        let response = json!({
            "id": id, "object": "response", "created_at": run.created, "completed_at": null,
            "status": "in_progress", "incomplete_details": null, "model": model,
            "previous_response_id": given("previous_response_id"),
            "instructions": given("instructions"), "output": [], "error": null, "tools": tools,
            "tool_choice": or("tool_choice", json!("auto")),
            "truncation": or("truncation", json!("disabled")),
            "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
            "text": or("text", json!({ "format": { "type": "text" } })),
            "top_p": or("top_p", json!(1)), "presence_penalty": or("presence_penalty", json!(0)),
            "frequency_penalty": or("frequency_penalty", json!(0)),
            "top_logprobs": or("top_logprobs", json!(0)),
            "temperature": or("temperature", json!(1)), "reasoning": given("reasoning"),
            "usage": null, "max_output_tokens": given("max_output_tokens"),
            "max_tool_calls": given("max_tool_calls"), "store": or("store", json!(true)),
            "background": or("background", json!(false)),
            "service_tier": or("service_tier", json!("default")),
            "metadata": or("metadata", json!({})),
            "safety_identifier": given("safety_identifier"),
            "prompt_cache_key": given("prompt_cache_key"),
        });
        let mut response = if let Value::Object(fields) = response { fields } else { Map::new() };
        if given("conversation").is_some() {
            response.insert("conversation".to_owned(), json!({ "id": run.thread }));
        }
        Self {
            response,
            output: Vec::new(),
            message: None,
            open: Vec::new(),
            sequence: 0,
            key: run.id.clone(),
            usage: Usage::default(),
            references: Vec::new(),
            waits_for_people: run.request.is_durable && !run.request.asks_caller,
            caller_tools,
            servers: servers_of(run),
            decided: run.request.decided.clone(),
            held: run.request.asks_caller.then(Vec::new),
            held_below: Vec::new(),
        }
    }

    /// The object as it is now.
    pub(super) fn response(&self) -> Value {
        let mut response = self.response.clone();
        response.insert("output".to_owned(), self.output.clone().into());
        response.into()
    }

    /// The events with which every stream begins.
    pub(super) fn begin(&mut self) -> Vec<Value> {
        ["response.created", "response.in_progress"]
            .into_iter()
            .map(|kind| {
                let response = self.response();
                self.told(kind, json!({ "response": response }))
            })
            .collect()
    }

    fn told(&mut self, kind: &str, fields: Value) -> Value {
        let mut event = json!({ "type": kind, "sequence_number": self.sequence });
        self.sequence += 1;
        if let (Value::Object(event), Value::Object(fields)) = (&mut event, fields) {
            event.extend(fields);
        }
        event
    }

    /// What an event of the run adds.
    pub(super) fn hear(&mut self, event: &RunEvent) -> Vec<Value> {
        let mut events = self.tell_decided();
        events.extend(self.heard(event));
        events
    }

    fn heard(&mut self, event: &RunEvent) -> Vec<Value> {
        match event {
            RunEvent::Text { delta } => self.text(delta),
            RunEvent::Retracted { .. } => self.close_message("incomplete"),
            RunEvent::Calls { calls } => {
                let mut events = self.close_message("completed");
                for called in calls {
                    if self.caller_tools.contains(&called.call.name) {
                        continue;
                    }
                    match &mut self.held {
                        Some(held) => held.push(HeldCall { called: called.clone(), done: None }),
                        None => events.extend(self.call(called)),
                    }
                }
                events
            }
            RunEvent::CallDone { response } => self.called(response),
            RunEvent::TurnStarted { .. } => self.tell_held(false),
            RunEvent::Usage { usage } => {
                self.usage = *usage;
                Vec::new()
            }
            RunEvent::Ended { end, at } => self.end(end, *at),
            RunEvent::Reasoning { .. }
            | RunEvent::Progress { .. }
            | RunEvent::Notice { .. }
            | RunEvent::Compacted { .. }
            | RunEvent::Checked { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::ChildStarted { .. } => Vec::new(),
            RunEvent::Child { run, event, .. } => {
                self.hear_child(run, event);
                Vec::new()
            }
        }
    }

    fn text(&mut self, delta: &str) -> Vec<Value> {
        let mut events = Vec::new();
        let index = self.output.len();
        if self.message.is_none() {
            let id = self.item_id("msg");
            let item = message(&id, "in_progress", &[]);
            events.push(self.told(
                "response.output_item.added",
                json!({ "output_index": index, "item": item }),
            ));
            events.push(self.told(
                "response.content_part.added",
                json!({
                    "item_id": id, "output_index": index, "content_index": 0, "part": part("", &[]),
                }),
            ));
            self.message = Some(MessageDraft { id, text: String::new() });
        }
        let Some(draft) = &mut self.message else { return events };
        draft.text.push_str(delta);
        let fields = json!({
            "item_id": draft.id, "output_index": index, "content_index": 0, "delta": delta,
            "logprobs": [],
        });
        events.push(self.told("response.output_text.delta", fields));
        events
    }

    fn close_message(&mut self, status: &str) -> Vec<Value> {
        let Some(MessageDraft { id, text }) = self.message.take() else { return Vec::new() };
        let index = self.output.len();
        let at = json!({ "item_id": id, "output_index": index, "content_index": 0 });
        let with = |key: &str, value: Value| {
            let mut fields = at.clone();
            if let Value::Object(fields) = &mut fields {
                fields.insert(key.to_owned(), value);
            }
            fields
        };
        let mut done = with("text", text.clone().into());
        if let Value::Object(fields) = &mut done {
            fields.insert("logprobs".to_owned(), json!([]));
        }
        let cited = annotations_of(&text, &self.references);
        let whole = part(&text, &cited);
        let item = message(&id, status, std::slice::from_ref(&whole));
        self.output.push(item.clone());
        let mut events = Vec::new();
        for (place, cited) in cited.into_iter().enumerate() {
            let mut fields = with("annotation", cited);
            if let Value::Object(fields) = &mut fields {
                fields.insert("annotation_index".to_owned(), place.into());
            }
            events.push(self.told("response.output_text.annotation.added", fields));
        }
        events.push(self.told("response.output_text.done", done));
        events.push(self.told("response.content_part.done", with("part", whole)));
        let ended = json!({ "output_index": index, "item": item });
        events.push(self.told("response.output_item.done", ended));
        events
    }

    /// Whether the last message ends with these words. Calls of the provider may have been told
    /// behind it.
    fn is_said(&self, words: &str) -> bool {
        if let Some(draft) = &self.message {
            return draft.text.ends_with(words);
        }
        let mut items = self.output.iter().rev();
        let last = items.find(|item| item.get("type").is_some_and(|kind| kind == "message"));
        let text = last.and_then(|last| last.pointer("/content/0/text")?.as_str());
        text.is_some_and(|text| text.ends_with(words))
    }

    /// The last events, with the whole answer.
    fn end(&mut self, end: &RunEnd, at: u64) -> Vec<Value> {
        let is_whole =
            !end.stop.is_limit() && end.stop != StopReason::Cancelled && end.fault.is_none();
        self.references.clone_from(&end.references);
        let mut events = Vec::new();
        let is_said = self.is_said(&end.text);
        if end.fault.is_none() && !end.text.is_empty() && !is_said {
            events.extend(self.close_message("completed"));
            events.extend(self.text(&end.text));
        }
        events.extend(self.close_message(if is_whole { "completed" } else { "incomplete" }));
        events.extend(self.tell_held(end.stop == StopReason::Approval));
        events.extend(self.ask_below());
        // What was called and not run: the run has ended before.
        for (index, _) in std::mem::take(&mut self.open) {
            let error = Value::from("this call was not run");
            events.extend(self.end_call(index, "failed", Value::Null, error));
        }
        for call in &end.calls {
            events.extend(self.caller_call(call));
        }
        let (status, kind) = if end.stop == StopReason::Fault {
            ("failed", "response.failed")
        } else if end.stop == StopReason::Cancelled {
            // A client that cancelled knows; no event of this API says it.
            ("cancelled", "response.incomplete")
        } else if end.stop.is_limit() || end.stop == StopReason::Withheld {
            ("incomplete", "response.incomplete")
        } else {
            ("completed", "response.completed")
        };
        let details = incomplete_because(end.stop).map(|reason| json!({ "reason": reason }));
        let error = end.fault.as_ref().map(|fault| {
            let error = ApiError::of_model(fault);
            json!({ "code": error.code, "message": error.message })
        });
        self.set("status", status.into());
        self.set("incomplete_details", details.unwrap_or_default());
        self.set("error", error.unwrap_or_default());
        self.set("usage", usage_told(&self.usage));
        if status == "completed" {
            self.set("completed_at", at.into());
        }
        let response = self.response();
        events.push(self.told(kind, json!({ "response": response })));
        events
    }

    /// The id of the item that comes next.
    fn item_id(&self, kind: &str) -> String {
        format!("{kind}_{}_{}", self.key, self.output.len())
    }

    fn set(&mut self, key: &str, value: Value) {
        self.response.insert(key.to_owned(), value);
    }
}

/// What its `mcp` tools name; they were read when the run began.
fn servers_of(run: &RunMeta) -> McpServers {
    let whole = [Some(run.agent.as_str()), run.profile.as_deref()];
    let whole: Vec<_> = whole.into_iter().flatten().collect();
    McpServers::read(&run.request.body, &whole).unwrap_or_default()
}

/// The id of an item that puts a call to whoever asks.
pub(super) fn approval_id(ticket: &str) -> String {
    format!("{APPROVAL}{ticket}")
}

/// The ticket in such an id.
pub(super) fn ticket_of(id: &str) -> Option<&str> {
    id.strip_prefix(APPROVAL)
}

/// The tools of a request, as they are given back.
fn tools_told(body: &Value) -> Vec<Value> {
    body.get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|tool| {
            let mut tool = tool.clone();
            if let Value::Object(fields) = &mut tool
                && fields.get("type").is_some_and(|kind| kind == "function")
            {
                for field in ["description", "parameters", "strict"] {
                    fields.entry(field).or_insert(Value::Null);
                }
            }
            tool
        })
        .collect()
}

/// Why an answer is not whole, in the words of the API where it has one.
fn incomplete_because(stop: StopReason) -> Option<&'static str> {
    match stop {
        StopReason::Length | StopReason::Tokens => Some("max_output_tokens"),
        StopReason::Withheld => Some("content_filter"),
        StopReason::Turns | StopReason::Calls | StopReason::Cost | StopReason::Time => {
            Some(stop.as_str())
        }
        StopReason::Done
        | StopReason::HandedOver
        | StopReason::CallerCalls
        | StopReason::Approval
        | StopReason::Cancelled
        | StopReason::Fault => None,
    }
}

/// The id of a run as clients of this API know it.
pub(super) fn response_id(run: &str) -> String {
    format!("resp_{run}")
}

pub(super) fn usage_told(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "total_tokens": usage.total(),
        "input_tokens_details": { "cached_tokens": usage.cached_tokens },
        "output_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
    })
}
