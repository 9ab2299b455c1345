//! `OpenAI` Responses.

mod calls;
mod definitions;
mod results;
mod stream;

use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{Call, Plan, Report};

use crate::dialect::{Dialect, Stream, Strict};
use crate::rendering::{Rendering, kept};

/// `openai-responses`: `POST /v1/responses`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAiResponses {
    pub strict: Strict,
    pub deferred: Deferred,
}

/// How tools are sent whose definitions the API holds back until its search finds them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Deferred {
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

    fn rendering(&self, plan: &Plan) -> Arc<Rendering> {
        let options = self.strict as u8 + 2 * self.deferred as u8;
        kept(plan, (Self::NAME, options), || definitions::render(plan, *self))
    }

    fn calls(&self, plan: &Plan, reply: &Value) -> Vec<Call> {
        calls::read(plan, &self.rendering(plan), reply)
    }

    fn results(&self, report: &Report) -> Vec<Value> {
        report.responses.iter().map(results::item).collect()
    }

    fn echo(&self, reply: &Value) -> Vec<Value> {
        let items = reply.get("output").unwrap_or(reply).as_array();
        items.cloned().unwrap_or_default()
    }

    fn stream(&self) -> Box<dyn Stream> {
        Box::new(stream::Events::new(*self))
    }
}
