//! Events of a streamed response, put together.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan};

use super::OpenAiResponses;
use crate::dialect::{Dialect, Stream};
use crate::envelope::{self, NotAReply};
use crate::pieces::Room;

pub(super) struct Events {
    dialect: OpenAiResponses,
    items: BTreeMap<u64, Value>,
    /// The whole response, which the last event brings.
    whole: Option<Value>,
    failure: Option<Value>,
    room: Room,
}

impl Events {
    pub(super) fn new(dialect: OpenAiResponses) -> Self {
        let (items, room) = (BTreeMap::new(), Room::default());
        Self { dialect, items, whole: None, failure: None, room }
    }

    /// The item that an event speaks of: by its place, else by its id.
    fn item(&mut self, event: &Value) -> Option<&mut Value> {
        if let Some(place) = event.get("output_index").and_then(Value::as_u64) {
            return self.items.get_mut(&place);
        }
        let id = event.get("item_id").or(event.pointer("/item/id"))?;
        self.items.values_mut().find(|item| item.get("id") == Some(id))
    }

    fn begin(&mut self, event: &Value) {
        let Some(item) = event.get("item") else {
            return;
        };
        let next = self.items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let place = event.get("output_index").and_then(Value::as_u64).unwrap_or(next);
        if self.items.contains_key(&place) || self.room.takes_item() {
            self.items.insert(place, item.clone());
        }
    }

    fn end(&mut self, event: &Value) {
        match (self.item(event), event.get("item")) {
            (Some(begun), Some(whole)) => *begun = whole.clone(),
            _ => self.begin(event),
        }
    }

    fn set(&mut self, event: &Value, field: &str) {
        let Some(value) = event.get(field).cloned() else {
            return;
        };
        if let Some(Value::Object(item)) = self.item(event) {
            item.insert(field.to_owned(), value);
        }
    }

    fn extend(&mut self, event: &Value, field: &str) {
        let more = event.get("delta").and_then(Value::as_str).unwrap_or_default();
        let mut room = std::mem::take(&mut self.room);
        if let Some(item) = self.item(event) {
            room.append_to(item, field, more);
        }
        self.room = room;
    }
}

impl Stream for Events {
    fn push(&mut self, event: &Value) {
        self.failure = self.failure.take().or_else(|| failure(event));
        match event.get("type").and_then(Value::as_str) {
            Some("response.output_item.added") => self.begin(event),
            Some("response.output_item.done") => self.end(event),
            Some("response.function_call_arguments.delta") => self.extend(event, "arguments"),
            Some("response.function_call_arguments.done") => self.set(event, "arguments"),
            Some("response.custom_tool_call_input.delta") => self.extend(event, "input"),
            Some("response.custom_tool_call_input.done") => self.set(event, "input"),
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                self.whole = event.get("response").cloned();
            }
            _ => {}
        }
    }

    /// The last event's response where it has items; some servers send it without.
    fn reply(&self) -> Value {
        if let Some(failure) = &self.failure {
            return failure.clone();
        }
        let whole = self.whole.as_ref();
        let items = whole.and_then(|whole| whole.get("output")).and_then(Value::as_array);
        if let (Some(whole), Some(false)) = (whole, items.map(Vec::is_empty)) {
            return whole.clone();
        }
        let said = whole.filter(|_| !self.room.is_full()).and_then(|whole| whole.get("status"));
        let status = said.cloned().unwrap_or_else(|| "incomplete".into());
        json!({ "status": status, "output": self.items.values().collect::<Vec<_>>() })
    }

    fn not_a_reply(&self) -> Option<NotAReply> {
        self.dialect.not_a_reply(&self.reply())
    }

    fn finish(&mut self, plan: &Plan) -> Vec<Call> {
        self.dialect.calls(plan, &self.reply())
    }
}

/// An event of the type `error` is the error itself; that of a response which failed stands in it.
fn failure(event: &Value) -> Option<Value> {
    match event.get("type").and_then(Value::as_str) {
        Some("error") => envelope::failure(event).or_else(|| Some(json!({ "error": event }))),
        Some("response.failed") => {
            let told = event.get("response").and_then(envelope::failure);
            told.or_else(|| envelope::failure(event))
        }
        Some(_) => None,
        None => envelope::failure(event),
    }
}
