//! Chunks of a streamed chat reply, put together.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use toolcrib_core::{Call, Plan};

use super::OpenAiChat;
use crate::dialect::{Dialect, ReplyStream};
use crate::reply::envelope::{self, NotAReply};
use crate::reply::stream_budget::StreamBudget;

pub(super) struct ChatStream {
    dialect: OpenAiChat,
    /// The message but for its calls: also texts that only some servers send and want back.
    message: Value,
    calls: Vec<PartialCall>,
    /// The old form of a single call.
    legacy: Option<PartialCall>,
    finish_reason: Option<String>,
    failure: Option<Value>,
    room: StreamBudget,
}

/// A call as far as it came.
#[derive(Default)]
struct PartialCall {
    index: Option<u64>,
    id: Option<Value>,
    kind: Option<Value>,
    name: Option<Value>,
    text: String,
    /// Arguments that came as a value and not as text.
    value: Option<Value>,
    custom: bool,
}

impl ChatStream {
    pub(super) fn new(dialect: OpenAiChat) -> Self {
        Self {
            dialect,
            message: json!({ "role": "assistant", "content": null }),
            calls: Vec::new(),
            legacy: None,
            finish_reason: None,
            failure: None,
            room: StreamBudget::default(),
        }
    }

    /// What its words are founded on, where the provider searched.
    fn annotate(&mut self, delta: &Value) {
        let new = delta.get("annotations").and_then(Value::as_array).into_iter().flatten();
        for note in new {
            if let (Value::Object(message), true) = (&mut self.message, self.room.takes_item()) {
                let known = message.entry("annotations").or_insert_with(|| json!([]));
                if let Value::Array(known) = known {
                    known.push(note.clone());
                }
            }
        }
    }

    /// The call that a delta goes on with. `OpenAI` says it by `index`; other servers leave that
    /// out or give all calls the same one, and then a new id or name tells where a call begins.
    fn place(&mut self, delta: &Value) -> usize {
        let index = delta.get("index").and_then(Value::as_u64);
        let id = delta.get("id").filter(|id| !matches!(id, Value::Null) && *id != "");
        let place = match index {
            Some(_) => self.calls.iter().rposition(|piece| piece.index == index),
            None => self.calls.len().checked_sub(1),
        };
        let goes_on = place.filter(|place| {
            self.calls.get(*place).is_some_and(|piece| match (id, &piece.id) {
                (Some(new), Some(old)) => new == old,
                _ => index.is_some() || !piece.is_followed_by(delta),
            })
        });
        goes_on.unwrap_or_else(|| {
            if self.room.takes_item() {
                self.calls.push(PartialCall { index, ..PartialCall::default() });
            }
            self.calls.len().saturating_sub(1)
        })
    }
}

impl PartialCall {
    /// Whether a delta without id and index is the next call.
    fn is_followed_by(&self, delta: &Value) -> bool {
        let inner = delta.get("function").or_else(|| delta.get("custom"));
        let name = inner.and_then(|inner| inner.get("name")).filter(|name| !name.is_null());
        match (name, &self.name) {
            (Some(new), Some(old)) if new == old => {
                self.value.is_some() || serde_json::from_str::<IgnoredAny>(&self.text).is_ok()
            }
            (Some(_), Some(_)) => true,
            _ => false,
        }
    }

    fn add(&mut self, delta: &Value, room: &mut StreamBudget) {
        let keep = |old: &mut Option<Value>, new: Option<&Value>| {
            if let Some(new) = new.filter(|new| !matches!(new, Value::Null) && *new != "") {
                old.get_or_insert_with(|| new.clone());
            }
        };
        keep(&mut self.id, delta.get("id"));
        keep(&mut self.kind, delta.get("type"));
        let custom = delta.get("custom");
        self.custom |= custom.is_some_and(Value::is_object);
        let inner = delta.get("function").or(custom).unwrap_or(&Value::Null);
        keep(&mut self.name, inner.get("name"));
        match inner.get("arguments").or_else(|| inner.get("input")) {
            Some(Value::String(text)) => room.append(&mut self.text, text),
            None | Some(Value::Null) => {}
            Some(value) => self.value = Some(value.clone()),
        }
    }

    fn inner(&self) -> Value {
        let field = if self.custom { "input" } else { "arguments" };
        let mut inner = Map::new();
        inner.extend(self.name.clone().map(|name| ("name".to_owned(), name)));
        let value = self.value.clone().filter(|_| self.text.is_empty());
        inner.insert(field.to_owned(), value.unwrap_or_else(|| self.text.clone().into()));
        Value::Object(inner)
    }

    fn whole(&self) -> Value {
        let kind = if self.custom { "custom" } else { "function" };
        let mut call = Map::new();
        call.extend(self.id.clone().map(|id| ("id".to_owned(), id)));
        let said = self.kind.clone().unwrap_or_else(|| kind.into());
        call.insert("type".to_owned(), said);
        call.insert(kind.to_owned(), self.inner());
        Value::Object(call)
    }
}

impl ReplyStream for ChatStream {
    fn push(&mut self, chunk: &Value) {
        self.failure = self.failure.take().or_else(|| envelope::failure(chunk));
        let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) else {
            return;
        };
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish_reason = Some(reason.to_owned());
        }
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        for (field, text) in delta.as_object().into_iter().flatten() {
            let is_new = self.message.get(field).is_none();
            if let (Some(text), true) = (text.as_str(), field != "role")
                && (!is_new || self.room.takes_item())
            {
                self.room.append_to(&mut self.message, field, text);
            }
        }
        self.annotate(delta);
        if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
            let legacy = self.legacy.get_or_insert_default();
            legacy.add(&json!({ "function": call }), &mut self.room);
        }
        let deltas = delta.get("tool_calls").and_then(Value::as_array);
        for delta in deltas.into_iter().flatten() {
            let place = self.place(delta);
            if let Some(piece) = self.calls.get_mut(place).filter(|_| !self.room.is_full()) {
                piece.add(delta, &mut self.room);
            }
        }
    }

    fn reply(&self) -> Value {
        if let Some(failure) = &self.failure {
            return failure.clone();
        }
        let mut message = self.message.clone();
        if let Value::Object(fields) = &mut message {
            if !self.calls.is_empty() {
                let calls = self.calls.iter().map(PartialCall::whole).collect();
                fields.insert("tool_calls".to_owned(), calls);
            }
            fields.extend(
                self.legacy.as_ref().map(|legacy| ("function_call".to_owned(), legacy.inner())),
            );
        }
        // A stream that broke off was cut, whatever was the cause.
        let ended = self.finish_reason.as_deref().filter(|_| !self.room.is_full());
        let reason = ended.unwrap_or("length");
        json!({ "choices": [{ "index": 0, "message": message, "finish_reason": reason }] })
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
