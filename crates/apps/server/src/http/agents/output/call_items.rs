//! Calls as items of an answer.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolcrib_agent::{CallEnd, CallOutcome, CallText, CalledTool, RunEvent, RunReference};

use super::super::live::live_run::DecidedCall;
use super::{HeldCall, ResponseWriter, approval_id};

impl ResponseWriter {
    pub(super) fn call(&mut self, called: &CalledTool) -> Vec<Value> {
        let source = called.source.as_deref().unwrap_or("toolcrib");
        self.open_call(&called.call, source, None)
    }

    /// `approval`: the item by which the caller was asked about it.
    fn open_call(&mut self, call: &CallText, source: &str, approval: Option<&str>) -> Vec<Value> {
        let id = self.item_id("mcp");
        let label = self.servers.label(source).unwrap_or(source);
        let item = json!({
            "type": "mcp_call", "id": id, "server_label": label,
            "name": call.name, "arguments": call.arguments, "output": null, "error": null,
            "approval_request_id": approval, "status": "in_progress",
        });
        let index = self.output.len();
        self.output.push(item.clone());
        // What comes in pieces is not there from the beginning.
        let mut added = item;
        if let Value::Object(fields) = &mut added {
            fields.insert("arguments".to_owned(), "".into());
        }
        self.open.push((index, call.id.clone()));
        let at = json!({ "item_id": id, "output_index": index });
        let arguments = |key: &str| {
            let mut fields = at.clone();
            if let Value::Object(fields) = &mut fields {
                fields.insert(key.to_owned(), call.arguments.clone().into());
            }
            fields
        };
        let (delta, whole) = (arguments("delta"), arguments("arguments"));
        vec![
            self.told(
                "response.output_item.added",
                json!({ "output_index": index, "item": added }),
            ),
            self.told("response.mcp_call.in_progress", at),
            self.told("response.mcp_call_arguments.delta", delta),
            self.told("response.mcp_call_arguments.done", whole),
        ]
    }

    /// What a call came to. One that may still be put to the caller is told when it is known.
    pub(super) fn called(&mut self, done: &CallEnd) -> Vec<Value> {
        self.note_references(done);
        let held = self.held.iter_mut().flatten();
        let place = held.enumerate().find(|(_, held)| held.called.call.id == done.id);
        match place {
            Some((_, held)) if done.outcome == CallOutcome::Pending => {
                held.done = Some(done.clone());
                Vec::new()
            }
            Some((place, _)) => {
                let held = self.held.as_mut().map(|held| held.remove(place));
                let mut events = Vec::new();
                if let Some(held) = held {
                    events.extend(self.call(&held.called));
                }
                events.extend(self.close_call(done));
                events
            }
            None => self.close_call(done),
        }
    }

    fn note_references(&mut self, done: &CallEnd) {
        let named = done.more.get("references").cloned().unwrap_or_default();
        let named: Vec<RunReference> = serde_json::from_value(named).unwrap_or_default();
        for source in named {
            if self.references.iter().all(|known| known.number != source.number) {
                self.references.push(source);
            }
        }
    }

    fn close_call(&mut self, done: &CallEnd) -> Vec<Value> {
        let place = self.open.iter().position(|(_, call)| *call == done.id);
        // A run that waits for people has the call in progress until somebody has decided.
        let is_over = done.outcome != CallOutcome::Pending || !self.waits_for_people;
        let place = place.filter(|_| is_over);
        let Some((index, _)) = place.map(|place| self.open.remove(place)) else {
            return Vec::new();
        };
        let text = Value::from(done.text.clone());
        if done.is_error() {
            return self.end_call(index, "failed", Value::Null, text);
        }
        self.end_call(index, "completed", text, Value::Null)
    }

    /// The calls that were held back. `asks`: those that wait are put to the caller.
    pub(super) fn tell_held(&mut self, asks: bool) -> Vec<Value> {
        let held = self.held.as_mut().map(std::mem::take).unwrap_or_default();
        let mut events = Vec::new();
        let mut asked = HashSet::new();
        for HeldCall { called, done } in held {
            let ticket = done.as_ref().and_then(|done| done.more.get("ticket")?.as_str());
            if let Some(ticket) = ticket.filter(|_| asks) {
                // Equal calls wait under one.
                if asked.insert(ticket.to_owned()) {
                    events.extend(self.ask(&called, ticket));
                }
                continue;
            }
            events.extend(self.call(&called));
            if let Some(done) = done {
                events.extend(self.close_call(&done));
            }
        }
        events
    }

    /// What those tell who work for the run: nothing of it is an item, but a call that waits for a
    /// person is put to the caller.
    pub(super) fn hear_child(&mut self, run: &str, event: &RunEvent) {
        if let RunEvent::Calls { calls } = event
            && self.held.is_some()
        {
            let held = calls.iter().map(|one| HeldCall { called: one.clone(), done: None });
            self.held_below.extend(held.map(|held| (run.to_owned(), held)));
        }
        let RunEvent::CallDone { response } = event else { return };
        let is_it =
            |(of, held): &(String, HeldCall)| of == run && held.called.call.id == response.id;
        // The ids of models repeat: the newest is meant.
        let Some(place) = self.held_below.iter().rposition(is_it) else { return };
        if response.outcome != CallOutcome::Pending {
            self.held_below.remove(place);
        } else if let Some((_, held)) = self.held_below.get_mut(place) {
            held.done = Some(response.clone());
        }
    }

    /// Puts the calls to the caller that wait in those who work for the run.
    pub(super) fn ask_below(&mut self) -> Vec<Value> {
        let held = std::mem::take(&mut self.held_below);
        let mut asked = HashSet::new();
        let mut events = Vec::new();
        for (_, HeldCall { called, done }) in held {
            let ticket = done.as_ref().and_then(|done| done.more.get("ticket")?.as_str());
            if let Some(ticket) = ticket.filter(|ticket| asked.insert((*ticket).to_owned())) {
                events.extend(self.ask(&called, ticket));
            }
        }
        events
    }

    fn ask(&mut self, called: &CalledTool, ticket: &str) -> Vec<Value> {
        let source = called.source.as_deref().unwrap_or("toolcrib");
        let item = json!({
            "type": "mcp_approval_request", "id": approval_id(ticket),
            "server_label": self.servers.label(source).unwrap_or(source),
            "name": called.call.name, "arguments": called.call.arguments,
        });
        let index = self.output.len();
        self.output.push(item.clone());
        let fields = json!({ "output_index": index, "item": item });
        vec![
            self.told("response.output_item.added", fields.clone()),
            self.told("response.output_item.done", fields),
        ]
    }

    /// What came of the calls that the request said yes to; once.
    pub(super) fn tell_decided(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        for decided in std::mem::take(&mut self.decided) {
            let DecidedCall { id, tool, source, arguments, has_run, text, is_error } = decided;
            if !has_run {
                continue;
            }
            let index = self.output.len();
            let call = CallText { id: id.clone(), name: tool, arguments };
            events.extend(self.open_call(&call, &source, Some(&id)));
            self.open.retain(|(open, _)| *open != index);
            let (output, error) =
                if is_error { (Value::Null, text.into()) } else { (text.into(), Value::Null) };
            let status = if is_error { "failed" } else { "completed" };
            events.extend(self.end_call(index, status, output, error));
        }
        events
    }

    pub(super) fn end_call(
        &mut self,
        index: usize,
        status: &str,
        output: Value,
        error: Value,
    ) -> Vec<Value> {
        let Some(Value::Object(item)) = self.output.get_mut(index) else { return Vec::new() };
        item.insert("status".to_owned(), status.into());
        item.insert("output".to_owned(), output);
        item.insert("error".to_owned(), error);
        let item = Value::Object(item.clone());
        let id = item.get("id").cloned();
        let kind = format!("response.mcp_call.{status}");
        vec![
            self.told(&kind, json!({ "item_id": id, "output_index": index })),
            self.told("response.output_item.done", json!({ "output_index": index, "item": item })),
        ]
    }

    pub(super) fn caller_call(&mut self, call: &CallText) -> Vec<Value> {
        let id = self.item_id("fc");
        let item = |status: &str, arguments: &str| {
            json!({
                "type": "function_call", "id": id, "call_id": call.id, "name": call.name,
                "arguments": arguments, "status": status,
            })
        };
        let index = self.output.len();
        let whole = item("completed", &call.arguments);
        self.output.push(whole.clone());
        let mut events = vec![self.told(
            "response.output_item.added",
            json!({ "output_index": index, "item": item("in_progress", "") }),
        )];
        for (kind, key) in [("delta", "delta"), ("done", "arguments")] {
            let fields = json!({ "item_id": id, "output_index": index, key: call.arguments });
            events.push(self.told(&format!("response.function_call_arguments.{kind}"), fields));
        }
        events.push(
            self.told("response.output_item.done", json!({ "output_index": index, "item": whole })),
        );
        events
    }
}
