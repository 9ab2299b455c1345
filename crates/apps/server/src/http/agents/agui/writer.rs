//! The events of a run as those of AG-UI 1.0. Nothing is left open before the last of them.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolcrib_agent::{CallEnd, CallOutcome, CallText, RunEnd, RunEvent, StopReason, Usage};

use super::super::live::live_run::RunMeta;

/// The version of the protocol that is spoken.
const PROTOCOL: &str = "1.0";

/// What is told of a call that the run did without.
const NOT_RUN: &str = "this call was not run";

#[derive(Default)]
pub(super) struct AguiWriter {
    key: String,
    /// Of the client, as the ids of its thread and its run.
    thread: Value,
    run: Value,
    /// Names of tools that the client runs.
    caller_tools: Vec<String>,
    /// Ids of calls whose results the client has already.
    known: HashSet<String>,
    /// The message that is being written; whether it is what the model thinks.
    message: Option<(String, bool)>,
    /// How many ids of messages were given out.
    messages: usize,
    turn: OpenTurn,
    /// Calls without a result.
    open: Vec<String>,
    /// Tickets, each with its call.
    tickets: Vec<(String, String)>,
    usage: Option<Usage>,
    is_over: bool,
}

/// What was told of the turn that goes on.
#[derive(Default)]
struct OpenTurn {
    step: Option<String>,
    text: String,
    messages: Vec<String>,
    /// The message that its calls belong to.
    parent: Option<String>,
}

impl AguiWriter {
    pub(super) fn new(meta: &RunMeta, body: &Value) -> Self {
        let field = |key: &str| body.get(key).cloned().unwrap_or_default();
        Self {
            key: meta.id.clone(),
            thread: field("threadId"),
            run: field("runId"),
            caller_tools: meta.request.caller_tools.clone(),
            ..Self::default()
        }
    }

    /// Whether the last event was told.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn begin(&self, body: &Value) -> Vec<Value> {
        let mut begun = json!({
            "type": "RUN_STARTED", "threadId": self.thread, "runId": self.run,
            "protocolVersion": PROTOCOL,
        });
        let parent = body.get("parentRunId").filter(|parent| parent.is_string());
        if let (Value::Object(fields), Some(parent)) = (&mut begun, parent) {
            fields.insert("parentRunId".to_owned(), parent.clone());
        }
        let mut events = vec![begun];
        if let Some(state) = body.get("state").filter(|state| !state.is_null()) {
            events.push(json!({ "type": "STATE_SNAPSHOT", "snapshot": state }));
        }
        events
    }

    /// One of a run that works for another one, whose ids begin with its own.
    pub(super) fn of_child(run: &str) -> Self {
        Self { key: run.to_owned(), ..Self::default() }
    }

    /// Takes what another stream told of the run before. `known`: calls whose results came since,
    /// and that the client has by another way.
    pub(super) fn recall(&mut self, told: &[RunEvent], known: HashSet<String>) {
        for event in told {
            self.hear(event);
        }
        self.close();
        self.known = known;
    }

    pub(super) fn hear(&mut self, event: &RunEvent) -> Vec<Value> {
        match event {
            RunEvent::TurnStarted { turn } => self.turn_starts(*turn),
            RunEvent::Text { delta } => {
                self.turn.text.push_str(delta);
                self.say(delta, false)
            }
            RunEvent::Reasoning { delta } => self.say(delta, true),
            RunEvent::Retracted { why } => {
                let mut events = self.close_message();
                let turn = std::mem::take(&mut self.turn);
                let taken = json!({ "messageIds": turn.messages, "why": why });
                events.push(custom("toolcrib.retracted", &taken));
                self.turn.step = turn.step;
                events
            }
            RunEvent::Calls { calls } => {
                let mut events = self.close_message();
                for called in calls {
                    if !self.caller_tools.contains(&called.call.name) {
                        self.open.push(called.call.id.clone());
                        events.extend(self.call(&called.call));
                    }
                }
                events
            }
            RunEvent::CallDone { response } => self.call_done(response),
            RunEvent::Progress { text } => vec![custom("toolcrib.progress", &json!(text))],
            RunEvent::Notice { text } => vec![custom("toolcrib.notice", &json!(text))],
            RunEvent::Checked { verdict } => vec![custom("toolcrib.checked", &json!(verdict))],
            RunEvent::Compacted { hides, text } => {
                let told = json!({ "hides": hides, "text": text });
                vec![custom("toolcrib.compacted", &told)]
            }
            // Whether it still waits is looked up when the run pauses.
            // Those of other runs have a writer each.
            RunEvent::Waiting { .. } | RunEvent::ChildStarted { .. } | RunEvent::Child { .. } => {
                Vec::new()
            }
            RunEvent::Usage { usage } => {
                self.usage = Some(*usage);
                Vec::new()
            }
            RunEvent::Ended { end, .. } => self.end(end),
        }
    }

    fn turn_starts(&mut self, turn: u32) -> Vec<Value> {
        let mut events = self.close_message();
        // The model is asked when all calls of the turn before are answered.
        events.extend(self.answer_open());
        events.extend(self.close());
        self.known.clear();
        let name = format!("turn {turn}");
        events.push(json!({ "type": "STEP_STARTED", "stepName": name }));
        self.turn = OpenTurn { step: Some(name), ..OpenTurn::default() };
        events
    }

    fn call_done(&mut self, response: &CallEnd) -> Vec<Value> {
        if response.outcome == CallOutcome::Pending {
            if let Some(ticket) = response.more.get("ticket").and_then(Value::as_str) {
                self.tickets.push((ticket.to_owned(), response.id.clone()));
            }
            return Vec::new();
        }
        self.open.retain(|id| *id != response.id);
        if self.known.contains(&response.id) {
            return Vec::new();
        }
        vec![self.result(&response.id, &response.text)]
    }

    /// The call that waits under a ticket.
    pub(super) fn call_of(&self, ticket: &str) -> Option<&str> {
        let mut tickets = self.tickets.iter().rev();
        tickets.find(|(known, _)| known == ticket).map(|(_, call)| call.as_str())
    }

    /// The run waits for a person.
    pub(super) fn pause(&mut self, interrupts: &[Value]) -> Vec<Value> {
        let mut events = self.close();
        events.push(self.finished(&json!({ "type": "interrupt", "interrupts": interrupts })));
        events
    }

    fn end(&mut self, end: &RunEnd) -> Vec<Value> {
        let mut events = Vec::new();
        // A tool that took over, or a limit, has words that the model did not say.
        if end.fault.is_none() && !self.turn.text.ends_with(&end.text) {
            events.extend(self.close_message());
            events.extend(self.say(&end.text, false));
        }
        events.extend(self.close_message());
        events.extend(self.answer_open());
        for left in &end.calls {
            events.extend(self.call(left));
        }
        events.extend(self.close());
        let ids: Vec<_> = end.calls.iter().map(|call| call.id.as_str()).collect();
        events.push(match (&end.fault, end.stop) {
            (Some(fault), _) => self.failed(&fault.message, fault.kind.as_str()),
            (None, StopReason::Cancelled) => self.finished(&json!({ "type": "cancelled" })),
            (None, stop) => {
                let mut outcome = json!({ "type": "success" });
                if let (Value::Object(fields), false) = (&mut outcome, ids.is_empty()) {
                    fields.insert("pendingToolCallIds".to_owned(), json!(ids));
                }
                let mut event = self.finished(&outcome);
                if let Value::Object(fields) = &mut event {
                    let mut result = json!({ "stop": stop });
                    if let (Value::Object(result), false) = (&mut result, end.references.is_empty())
                    {
                        result.insert("references".to_owned(), json!(end.references));
                    }
                    if let (Value::Object(result), false) = (&mut result, end.checks.is_empty()) {
                        result.insert("checks".to_owned(), json!(end.checks));
                    }
                    fields.insert("result".to_owned(), result);
                }
                event
            }
        });
        events
    }

    /// The last event of a run that failed.
    pub(super) fn failed(&mut self, message: &str, code: &str) -> Value {
        self.is_over = true;
        self.with_usage(json!({ "type": "RUN_ERROR", "message": message, "code": code }))
    }

    fn finished(&mut self, outcome: &Value) -> Value {
        self.is_over = true;
        self.with_usage(json!({
            "type": "RUN_FINISHED", "threadId": self.thread, "runId": self.run,
            "outcome": outcome,
        }))
    }

    fn with_usage(&self, mut event: Value) -> Value {
        if let (Value::Object(fields), Some(usage)) = (&mut event, self.usage) {
            let usage = json!([{
                "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens,
                "totalTokens": usage.total(), "reasoningTokens": usage.reasoning_tokens,
                "cachedInputTokens": usage.cached_tokens,
            }]);
            fields.insert("usage".to_owned(), usage);
        }
        event
    }

    fn next_id(&mut self) -> String {
        self.messages += 1;
        format!("msg_{}_{}", self.key, self.messages)
    }

    fn result(&mut self, call: &str, text: &str) -> Value {
        json!({
            "type": "TOOL_CALL_RESULT", "messageId": self.next_id(), "toolCallId": call,
            "content": text, "role": "tool",
        })
    }

    pub(super) fn answer_open(&mut self) -> Vec<Value> {
        let open = std::mem::take(&mut self.open);
        open.iter().map(|id| self.result(id, NOT_RUN)).collect()
    }

    fn call(&mut self, call: &CallText) -> Vec<Value> {
        let parent = self.turn.parent.take().unwrap_or_else(|| self.next_id());
        let mut events = vec![json!({
            "type": "TOOL_CALL_START", "toolCallId": call.id, "toolCallName": call.name,
            "parentMessageId": parent,
        })];
        self.turn.parent = Some(parent);
        if !call.arguments.is_empty() {
            events.push(json!({
                "type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": call.arguments,
            }));
        }
        events.push(json!({ "type": "TOOL_CALL_END", "toolCallId": call.id }));
        events
    }

    fn say(&mut self, delta: &str, thinks: bool) -> Vec<Value> {
        let mut events = Vec::new();
        if delta.is_empty() {
            return events;
        }
        let same = self.message.clone().filter(|(_, before)| *before == thinks);
        let id = if let Some((id, _)) = same {
            id
        } else {
            events.extend(self.close_message());
            let id = self.next_id();
            self.message = Some((id.clone(), thinks));
            self.turn.messages.push(id.clone());
            if thinks {
                events.push(json!({ "type": "REASONING_START", "messageId": id }));
            } else {
                self.turn.parent = Some(id.clone());
            }
            let (kind, role) = if thinks {
                ("REASONING_MESSAGE_START", "reasoning")
            } else {
                ("TEXT_MESSAGE_START", "assistant")
            };
            events.push(json!({ "type": kind, "messageId": id, "role": role }));
            id
        };
        let kind = if thinks { "REASONING_MESSAGE_CONTENT" } else { "TEXT_MESSAGE_CONTENT" };
        events.push(json!({ "type": kind, "messageId": id, "delta": delta }));
        events
    }

    pub(super) fn close_message(&mut self) -> Vec<Value> {
        let Some((id, thinks)) = self.message.take() else { return Vec::new() };
        let kinds: &[&str] = if thinks {
            &["REASONING_MESSAGE_END", "REASONING_END"]
        } else {
            &["TEXT_MESSAGE_END"]
        };
        kinds.iter().map(|kind| json!({ "type": kind, "messageId": id })).collect()
    }

    fn close(&mut self) -> Vec<Value> {
        let mut events = self.close_message();
        let step = self.turn.step.take();
        events.extend(step.map(|name| json!({ "type": "STEP_FINISHED", "stepName": name })));
        events
    }
}

fn custom(name: &str, value: &Value) -> Value {
    json!({ "type": "CUSTOM", "name": name, "value": value })
}
