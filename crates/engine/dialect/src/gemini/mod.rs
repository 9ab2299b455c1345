//! Gemini `generateContent`.

mod calls;
mod definitions;
mod hosted;
mod results;
mod stream;

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan, Report, Response};

use crate::dialect::{Dialect, ReplyStream};
use crate::hosted::calls::HostedWork;
use crate::rendering::{Rendering, kept};

/// `gemini`: `POST /v1beta/models/{model}:generateContent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gemini;

impl Gemini {
    pub const NAME: &'static str = "gemini";
}

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn rendering(&self, plan: &Plan) -> Arc<Rendering> {
        kept(plan, (Self::NAME, 0), || definitions::render(plan))
    }

    fn read_calls(&self, plan: &Plan, reply: &Value) -> Vec<Call> {
        if self.not_a_reply(reply).is_some() {
            return Vec::new();
        }
        calls::read(plan, &self.rendering(plan), reply)
    }

    fn hosted(&self, plan: Option<&Plan>, reply: &Value) -> HostedWork {
        hosted::read(reply).named(plan, Self::NAME, hosted::is_of)
    }

    /// One content with all results, in the order of the calls: without ids that order and the
    /// names are what the API matches by.
    fn results(&self, report: &Report) -> Vec<Value> {
        let parts: Vec<Value> = report.responses.iter().map(results::part).collect();
        let content = (!parts.is_empty()).then(|| json!({ "role": "user", "parts": parts }));
        content.into_iter().collect()
    }

    /// The content as it came, with every `thoughtSignature`: the API refuses a turn without.
    fn echo(&self, reply: &Value) -> Vec<Value> {
        calls::content(reply).cloned().into_iter().collect()
    }

    fn late(&self, response: &Response) -> Value {
        json!({ "role": "user", "parts": [{ "text": response.late_text() }] })
    }

    fn stream(&self) -> Box<dyn ReplyStream> {
        Box::new(stream::GeminiStream::default())
    }
}
