//! Events of a streamed response, put together.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan};

use super::OpenAiResponses;
use crate::dialect::{Dialect, ReplyStream};
use crate::reply::envelope::{self, NotAReply};
use crate::reply::stream_budget::StreamBudget;

pub(super) struct ResponsesStream {
    dialect: OpenAiResponses,
    items: BTreeMap<u64, Value>,
    /// The items that were said to be done.
    done: HashSet<u64>,
    /// The whole response, which the last event brings.
    whole: Option<Value>,
    failure: Option<Value>,
    room: StreamBudget,
}

impl ResponsesStream {
    pub(super) fn new(dialect: OpenAiResponses) -> Self {
        let (items, room) = (BTreeMap::new(), StreamBudget::default());
        Self { dialect, items, done: HashSet::new(), whole: None, failure: None, room }
    }

    /// The place of the item that an event speaks of: as it says, else by the item's id.
    fn place(&self, event: &Value) -> Option<u64> {
        event.get("output_index").and_then(Value::as_u64).or_else(|| {
            let id = event.get("item_id").or(event.pointer("/item/id"))?;
            let named = self.items.iter().find(|(_, item)| item.get("id") == Some(id));
            named.map(|(place, _)| *place)
        })
    }

    fn item(&mut self, event: &Value) -> Option<&mut Value> {
        self.items.get_mut(&self.place(event)?)
    }

    fn begin(&mut self, event: &Value) -> Option<u64> {
        let item = event.get("item")?;
        let next = self.items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let place = event.get("output_index").and_then(Value::as_u64).unwrap_or(next);
        let has_room = self.items.contains_key(&place) || self.room.takes_item();
        has_room.then(|| {
            self.items.insert(place, item.clone());
            place
        })
    }

    fn end(&mut self, event: &Value) {
        let known = self.place(event).filter(|place| self.items.contains_key(place));
        let place = match (known, event.get("item")) {
            (Some(place), Some(whole)) => {
                self.items.insert(place, whole.clone());
                Some(place)
            }
            _ => self.begin(event),
        };
        self.done.extend(place);
    }

    /// The items so far. What an item says of itself was said when it began, so that it is told
    /// anew where the response ended without saying more.
    fn output(&self, is_whole: bool) -> Vec<Value> {
        let items = self.items.iter().map(|(place, item)| {
            let mut item = item.clone();
            let is_done = self.done.contains(place);
            let is_call = item.get("type").is_some_and(is_call);
            if let (Value::Object(fields), true) = (&mut item, is_call) {
                if is_done {
                    fields.entry("status").or_insert_with(|| "completed".into());
                } else if is_whole && fields.contains_key("status") {
                    fields.insert("status".to_owned(), "completed".into());
                } else if !is_whole {
                    fields.insert("status".to_owned(), "incomplete".into());
                }
            }
            item
        });
        items.collect()
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

impl ReplyStream for ResponsesStream {
    fn push(&mut self, event: &Value) {
        self.failure = self.failure.take().or_else(|| failure(event));
        match event.get("type").and_then(Value::as_str) {
            Some("response.output_item.added") => {
                self.begin(event);
            }
            Some("response.output_item.done") => self.end(event),
            Some("response.function_call_arguments.delta") => self.extend(event, "arguments"),
            Some("response.function_call_arguments.done") => self.set(event, "arguments"),
            Some("response.custom_tool_call_input.delta") => self.extend(event, "input"),
            Some("response.custom_tool_call_input.done") => self.set(event, "input"),
            Some(
                kind @ ("response.completed"
                | "response.incomplete"
                | "response.failed"
                | "response.cancelled"),
            ) => {
                let mut whole = event.get("response").cloned().unwrap_or_else(|| json!({}));
                if let (Value::Object(fields), Some((_, status))) =
                    (&mut whole, kind.split_once('.'))
                {
                    fields.entry("status").or_insert_with(|| status.into());
                }
                self.whole = Some(whole);
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
        let output = self.output(status == "completed");
        json!({ "status": status, "output": output })
    }

    fn not_a_reply(&self) -> Option<NotAReply> {
        self.dialect.not_a_reply(&self.reply())
    }

    fn finish(&mut self, plan: &Plan) -> Result<Vec<Call>, NotAReply> {
        match self.not_a_reply() {
            Some(why) => Err(why),
            None => self.dialect.calls(plan, &self.reply()),
        }
    }
}

fn is_call(kind: &Value) -> bool {
    kind == "function_call" || kind == "custom_tool_call"
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
