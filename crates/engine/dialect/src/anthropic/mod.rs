//! Anthropic Messages.

mod calls;
mod definitions;
mod hosted;
mod results;
mod stream;

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan, Report, Response};

use crate::dialect::{Dialect, ReplyStream, StrictMode};
use crate::hosted::calls::HostedWork;
use crate::rendering::{Rendering, kept};
use crate::reply::fill_ids;

/// `anthropic`: `POST /v1/messages`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Anthropic {
    pub strict: StrictMode,
}

impl Anthropic {
    pub const NAME: &'static str = "anthropic";
}

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn defers(&self) -> bool {
        true
    }

    /// Source: what is held back is not in the prompt until a search names it.
    fn upfront(&self, rendering: &Rendering) -> Value {
        let tools = rendering.tools.as_array().into_iter().flatten();
        tools.filter(|tool| tool.get("defer_loading") != Some(&true.into())).cloned().collect()
    }

    fn rendering(&self, plan: &Plan) -> Arc<Rendering> {
        kept(plan, (Self::NAME, self.strict as u8), || definitions::render(plan, self.strict))
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

    fn ends_hosted(&self, event: &Value) -> bool {
        hosted::ends(event)
    }

    /// One message with all results: the API wants them together and before any text.
    fn results(&self, report: &Report) -> Vec<Value> {
        results::message(report).into_iter().collect()
    }

    fn echo(&self, reply: &Value) -> Vec<Value> {
        let content = reply.get("content").unwrap_or(reply);
        let mut content = content.clone();
        let blocks = content.as_array_mut().filter(|blocks| !blocks.is_empty());
        let Some(blocks) = blocks else { return Vec::new() };
        fill_ids(Some(blocks), "id", |kind| kind == "tool_use");
        vec![json!({ "role": "assistant", "content": content })]
    }

    fn late(&self, response: &Response) -> Value {
        json!({ "role": "user", "content": [{ "type": "text", "text": response.late_text() }] })
    }

    fn stream(&self) -> Box<dyn ReplyStream> {
        Box::new(stream::AnthropicStream::new(*self))
    }
}
