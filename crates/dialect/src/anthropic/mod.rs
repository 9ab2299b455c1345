//! Anthropic Messages.

mod calls;
mod definitions;
mod results;
mod stream;

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan, Report};

use crate::dialect::{Dialect, Stream, Strict};
use crate::rendering::{Rendering, kept};

/// `anthropic`: `POST /v1/messages`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Anthropic {
    pub strict: Strict,
}

impl Anthropic {
    pub const NAME: &'static str = "anthropic";
}

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn rendering(&self, plan: &Plan) -> Arc<Rendering> {
        kept(plan, (Self::NAME, self.strict as u8), || definitions::render(plan, self.strict))
    }

    fn calls(&self, plan: &Plan, reply: &Value) -> Vec<Call> {
        calls::read(plan, &self.rendering(plan), reply)
    }

    /// One message with all results: the API wants them together and before any text.
    fn results(&self, report: &Report) -> Vec<Value> {
        results::message(report).into_iter().collect()
    }

    fn echo(&self, reply: &Value) -> Vec<Value> {
        let content = reply.get("content").unwrap_or(reply);
        let is_turn = content.as_array().is_some_and(|blocks| !blocks.is_empty());
        is_turn.then(|| json!({ "role": "assistant", "content": content })).into_iter().collect()
    }

    fn stream(&self) -> Box<dyn Stream> {
        Box::new(stream::Blocks::new(*self))
    }
}
