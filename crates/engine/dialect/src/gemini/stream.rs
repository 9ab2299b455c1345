//! Chunks of a streamed reply, put together: every chunk holds whole parts.

use serde_json::{Map, Value, json};
use toolcrib_core::{Call, Plan};

use super::hosted::NOTES;
use super::{Gemini, calls};
use crate::dialect::{Dialect, ReplyStream};
use crate::reply::envelope::{self, NotAReply};
use crate::reply::stream_budget::StreamBudget;

#[derive(Default)]
pub(super) struct GeminiStream {
    content: Vec<Value>,
    finish_reason: Option<Value>,
    /// What is said of the provider's tools; what comes later says all of it.
    notes: Map<String, Value>,
    failure: Option<Value>,
    room: StreamBudget,
}

impl ReplyStream for GeminiStream {
    fn push(&mut self, chunk: &Value) {
        self.failure = self.failure.take().or_else(|| failure(chunk));
        let reason = chunk.pointer("/candidates/0/finishReason").filter(|reason| !reason.is_null());
        self.finish_reason = reason.cloned().or(self.finish_reason.take());
        for note in NOTES {
            let said = chunk.pointer("/candidates/0").and_then(|candidate| candidate.get(note));
            let said = said.filter(|said| said.as_object().is_some_and(|said| !said.is_empty()));
            self.notes.extend(said.map(|said| (note.to_owned(), said.clone())));
        }
        let content = calls::content(chunk);
        let parts = content.and_then(|content| content.get("parts")).and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            let bytes = part.get("text").and_then(Value::as_str).map_or(0, str::len);
            if self.room.takes_item() && self.room.takes_bytes(bytes) {
                self.content.push(part.clone());
            }
        }
    }

    fn reply(&self) -> Value {
        if let Some(failure) = &self.failure {
            return failure.clone();
        }
        // A stream that broke off was cut, whatever was the cause.
        let ended = self.finish_reason.clone().filter(|_| !self.room.is_full());
        let reason = ended.unwrap_or_else(|| "MAX_TOKENS".into());
        let mut candidate = json!({
            "content": { "role": "model", "parts": self.content },
            "finishReason": reason,
        });
        if let Value::Object(fields) = &mut candidate {
            fields.extend(self.notes.clone());
        }
        json!({ "candidates": [candidate] })
    }

    fn not_a_reply(&self) -> Option<NotAReply> {
        Gemini.not_a_reply(&self.reply())
    }

    fn finish(&mut self, plan: &Plan) -> Result<Vec<Call>, NotAReply> {
        match self.not_a_reply() {
            Some(why) => Err(why),
            None => Gemini.calls(plan, &self.reply()),
        }
    }
}

/// An error, or the reason why the prompt was blocked, which comes in place of candidates.
fn failure(chunk: &Value) -> Option<Value> {
    let blocked = || {
        let reason = chunk.pointer("/promptFeedback/blockReason")?;
        let is_told = !reason.is_null() && chunk.get("candidates").is_none();
        is_told.then(|| json!({ "promptFeedback": { "blockReason": reason } }))
    };
    envelope::failure(chunk).or_else(blocked)
}
