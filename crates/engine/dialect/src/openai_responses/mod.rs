//! `OpenAI` Responses.

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

/// `openai-responses`: `POST /v1/responses`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAiResponses {
    pub strict: StrictMode,
    pub deferred: DeferralMode,
}

/// How tools are sent whose definitions the API holds back until its search finds them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeferralMode {
    /// One by one: the model sees name and description of each.
    #[default]
    Flat,
    /// In one namespace for each category, else for each source: the model sees those alone.
    Namespaces,
}

impl OpenAiResponses {
    pub const NAME: &'static str = "openai-responses";
}

impl Dialect for OpenAiResponses {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn defers(&self) -> bool {
        true
    }

    /// Of a function that is held back by itself the model sees name and description, of a
    /// namespace its own.
    fn upfront(&self, rendering: &Rendering) -> Value {
        let tools = rendering.tools.as_array().into_iter().flatten();
        let shown = tools.map(|tool| {
            let is_held_back = tool.get("defer_loading") == Some(&true.into())
                || tool.get("type").is_some_and(|kind| kind == "namespace");
            if is_held_back {
                json!({ "name": tool.get("name"), "description": tool.get("description") })
            } else {
                tool.clone()
            }
        });
        shown.collect()
    }

    fn rendering(&self, plan: &Plan) -> Arc<Rendering> {
        let options = self.strict as u8 + 2 * self.deferred as u8;
        kept(plan, (Self::NAME, options), || definitions::render(plan, *self))
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

    fn results(&self, report: &Report) -> Vec<Value> {
        report.responses.iter().map(results::item).collect()
    }

    fn echo(&self, reply: &Value) -> Vec<Value> {
        let items = reply.get("output").unwrap_or(reply).as_array();
        let mut items = items.cloned().unwrap_or_default();
        fill_ids(Some(&mut items), "call_id", |kind| {
            kind == "function_call" || kind == "custom_tool_call"
        });
        items
    }

    fn late(&self, response: &Response) -> Value {
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": response.late_text() }] })
    }

    fn stream(&self) -> Box<dyn ReplyStream> {
        Box::new(stream::ResponsesStream::new(*self))
    }
}
