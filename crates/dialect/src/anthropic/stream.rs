//! Events of a streamed message, put together.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan};

use super::Anthropic;
use crate::dialect::{Dialect, Stream};
use crate::envelope::{self, NotAReply};
use crate::pieces::Room;

pub(super) struct Blocks {
    dialect: Anthropic,
    content: BTreeMap<u64, Block>,
    stop_reason: Option<String>,
    failure: Option<Value>,
    room: Room,
}

struct Block {
    value: Value,
    /// Input that came as text.
    input: String,
}

impl Blocks {
    pub(super) fn new(dialect: Anthropic) -> Self {
        let (content, room) = (BTreeMap::new(), Room::default());
        Self { dialect, content, stop_reason: None, failure: None, room }
    }

    fn begin(&mut self, place: u64, block: &Value) {
        if self.room.takes_item() {
            let block = Block { value: block.clone(), input: String::new() };
            self.content.insert(place, block);
        }
    }

    fn extend(&mut self, place: u64, delta: &Value) {
        let Some(block) = self.content.get_mut(&place) else {
            return;
        };
        if let Some(text) = delta.get("partial_json").and_then(Value::as_str) {
            self.room.append(&mut block.input, text);
        }
        for field in ["text", "thinking", "signature"] {
            if let Some(text) = delta.get(field).and_then(Value::as_str) {
                self.room.append_to(&mut block.value, field, text);
            }
        }
        if let (Some(new), Value::Object(fields)) = (delta.get("citation"), &mut block.value) {
            let citations = fields.entry("citations").or_insert_with(|| json!([]));
            if let (Value::Array(known), true) = (citations, self.room.takes_item()) {
                known.push(new.clone());
            }
        }
    }
}

impl Block {
    /// Input that is no JSON stays text: it is repaired or refused where calls are run.
    fn whole(&self) -> Value {
        let mut value = self.value.clone();
        if let (Value::Object(fields), false) = (&mut value, self.input.is_empty()) {
            let read = serde_json::from_str(&self.input);
            let input = read.unwrap_or_else(|_| self.input.clone().into());
            fields.insert("input".to_owned(), input);
        }
        value
    }
}

impl Stream for Blocks {
    fn push(&mut self, event: &Value) {
        self.failure = self.failure.take().or_else(|| envelope::failure(event));
        let place = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match event.get("type").and_then(Value::as_str) {
            Some("content_block_start") => {
                self.begin(place, event.get("content_block").unwrap_or(&Value::Null));
            }
            Some("content_block_delta") => {
                self.extend(place, event.get("delta").unwrap_or(&Value::Null));
            }
            Some("message_delta") => {
                let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop_reason = reason.map(ToOwned::to_owned).or(self.stop_reason.take());
            }
            _ => {}
        }
    }

    fn reply(&self) -> Value {
        if let Some(failure) = &self.failure {
            return failure.clone();
        }
        // A stream that broke off was cut, whatever was the cause.
        let ended = self.stop_reason.as_deref().filter(|_| !self.room.is_full());
        json!({
            "role": "assistant",
            "content": self.content.values().map(Block::whole).collect::<Vec<_>>(),
            "stop_reason": ended.unwrap_or("max_tokens"),
        })
    }

    fn not_a_reply(&self) -> Option<NotAReply> {
        self.dialect.not_a_reply(&self.reply())
    }

    fn finish(&mut self, plan: &Plan) -> Vec<Call> {
        self.dialect.calls(plan, &self.reply())
    }
}
