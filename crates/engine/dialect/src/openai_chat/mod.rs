//! `OpenAI` Chat Completions, and the many servers that speak it.

mod calls;
pub(crate) mod definitions;
pub(crate) mod hosted;
mod results;
mod stream;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_core::{Call, Plan, Report, Response};

use crate::dialect::{Dialect, ReplyStream, StrictMode};
use crate::hosted::calls::HostedWork;
use crate::rendering::{Rendering, kept};
use crate::reply::fill_ids;

/// `openai-chat`: `POST /v1/chat/completions`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAiChat {
    pub strict: StrictMode,
}

impl OpenAiChat {
    pub const NAME: &'static str = "openai-chat";
}

impl Dialect for OpenAiChat {
    fn name(&self) -> &'static str {
        Self::NAME
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

    fn results(&self, report: &Report) -> Vec<Value> {
        report.responses.iter().map(results::message).collect()
    }

    fn echo(&self, reply: &Value) -> Vec<Value> {
        let mut turn = calls::message(reply).cloned();
        let calls = turn.as_mut().and_then(|turn| turn.get_mut("tool_calls")?.as_array_mut());
        fill_ids(calls, "id", |_| true);
        turn.into_iter().collect()
    }

    fn late(&self, response: &Response) -> Value {
        json!({ "role": "user", "content": response.late_text() })
    }

    fn stream(&self) -> Box<dyn ReplyStream> {
        Box::new(stream::ChatStream::new(*self))
    }
}

/// `OpenAI` takes fields of any name.
pub(crate) fn key(name: &str) -> Cow<'_, str> {
    Cow::Borrowed(name)
}
