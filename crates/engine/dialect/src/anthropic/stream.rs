//! Events of a streamed message, put together.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan};

use super::Anthropic;
use crate::dialect::{Dialect, ReplyStream};
use crate::reply::envelope::{self, NotAReply};
use crate::reply::stream_budget::StreamBudget;

pub(super) struct AnthropicStream {
    dialect: Anthropic,
    content: BTreeMap<u64, ContentBlock>,
    stop_reason: Option<String>,
    failure: Option<Value>,
    room: StreamBudget,
}

struct ContentBlock {
    value: Value,
    /// Input that came as text.
    input: String,
    /// Its end came.
    is_ended: bool,
}

impl AnthropicStream {
    pub(super) fn new(dialect: Anthropic) -> Self {
        let (content, room) = (BTreeMap::new(), StreamBudget::default());
        Self { dialect, content, stop_reason: None, failure: None, room }
    }

    fn begin(&mut self, place: u64, block: &Value) {
        if self.room.takes_item() {
            let block =
                ContentBlock { value: block.clone(), input: String::new(), is_ended: false };
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

impl ContentBlock {
    /// Input that is no JSON stays text: it is repaired or refused where calls are run. So does
    /// that of a block which has not ended in a message that was cut: nothing says it is whole.
    fn whole(&self, is_cut: bool) -> Value {
        let mut value = self.value.clone();
        let is_half = is_cut && !self.is_ended && value.get("type") == Some(&"tool_use".into());
        if let (Value::Object(fields), true) = (&mut value, is_half || !self.input.is_empty()) {
            let text = || Value::from(self.input.as_str());
            let read = if is_half { None } else { serde_json::from_str(&self.input).ok() };
            fields.insert("input".to_owned(), read.unwrap_or_else(text));
        }
        value
    }
}

impl ReplyStream for AnthropicStream {
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
            Some("content_block_stop") => {
                if let Some(block) = self.content.get_mut(&place) {
                    block.is_ended = true;
                }
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
        let is_cut = ended.is_none();
        json!({
            "role": "assistant",
            "content": self.content.values().map(|block| block.whole(is_cut)).collect::<Vec<_>>(),
            "stop_reason": ended.unwrap_or("max_tokens"),
        })
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
