//! What the provider of a model runs itself: what of it a request may have, and what is told of it
//! while an answer comes.

mod wishes;

use serde_json::{Map, Value};
use toolcrib_core::Plan;
use toolcrib_dialect::{Dialect, HostedCall};

use super::answer::ModelDelta;
use super::settings::{ModelApi, ModelSettings};

/// Calls that are told before the answer is whole: for each of them the answer so far is read.
const MOST_EARLY: usize = 64;

/// The models of Google before these take tools of Google or functions, and not both:
/// <https://ai.google.dev/gemini-api/docs/tool-combination>.
const APART: [&str; 2] = ["gemini-1", "gemini-2"];

impl ModelSettings {
    /// Whether its API takes tools of the provider beside functions.
    pub(super) fn mixes_hosted(&self) -> bool {
        let name = self.name.rsplit('/').next().unwrap_or_default();
        self.api != ModelApi::Gemini || !APART.iter().any(|old| name.starts_with(old))
    }
}

/// What an API of `OpenAI` tells of the work of its tools only if it is asked for it.
const INCLUDED: [(&str, &str); 3] = [
    ("web_search", "web_search_call.action.sources"),
    ("code_interpreter", "code_interpreter_call.outputs"),
    ("file_search", "file_search_call.results"),
];

/// Asks for what the tools of the provider in this body find.
pub(super) fn include(api: ModelApi, body: &mut Map<String, Value>) {
    if api != ModelApi::OpenAiResponses {
        return;
    }
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let kinds: Vec<_> = tools.filter_map(|tool| tool.get("type")?.as_str()).collect();
    let wished = INCLUDED.iter().filter(|(kind, _)| kinds.contains(kind));
    let wished: Vec<Value> = wished.map(|(_, wish)| (*wish).into()).collect();
    if let Some(Value::Array(list)) = body.get_mut("include") {
        list.extend(wished);
    }
}

/// Leaves the tools of the provider out of a body, where its model does not take them beside the
/// functions that it has: the plan may be one for another model.
pub(super) fn leave_out(model: &ModelSettings, body: &mut Map<String, Value>) {
    if model.mixes_hosted() {
        return;
    }
    let is_function = |tool: &Value| tool.get("functionDeclarations").is_some();
    let Some(tools) = body.get_mut("tools").and_then(Value::as_array_mut) else { return };
    if !tools.iter().any(is_function) {
        return;
    }
    tools.retain(is_function);
    if let Some(Value::Object(config)) = body.get_mut("toolConfig") {
        config.remove("includeServerSideToolInvocations");
        if config.is_empty() {
            body.remove("toolConfig");
        }
    }
}

/// A turn of Anthropic without the calls of the provider of which it does not tell the end, as the
/// API wants it where something else follows than what the turn goes on with.
pub(super) fn without_open_calls(mut message: Value) -> Option<Value> {
    let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) else {
        return Some(message);
    };
    let ended: Vec<_> =
        blocks.iter().filter_map(|block| block.get("tool_use_id")).cloned().collect();
    blocks.retain(|block| {
        let is_call = block.get("type").is_some_and(|kind| kind == "server_tool_use");
        !is_call || block.get("id").is_some_and(|id| ended.contains(id))
    });
    let is_empty = blocks.is_empty();
    (!is_empty).then_some(message)
}

/// Tells of the calls of one answer, each once.
#[derive(Default)]
pub(super) struct HostedTeller {
    told: usize,
    early: usize,
}

impl HostedTeller {
    /// Tells of those that have ended with this event.
    pub(super) fn hear(
        &mut self,
        (dialect, plan): (&dyn Dialect, Option<&Plan>),
        event: &Value,
        so_far: impl FnOnce() -> Value,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> bool {
        if self.early >= MOST_EARLY || !dialect.ends_hosted(event) {
            return false;
        }
        self.early += 1;
        self.tell_rest(&dialect.hosted(plan, &so_far()).calls, tell)
    }

    /// Tells of those that were not told; says whether there were any.
    pub(super) fn tell_rest(
        &mut self,
        calls: &[HostedCall],
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> bool {
        let new = calls.get(self.told..).unwrap_or_default();
        for call in new {
            tell(ModelDelta::Hosted(Box::new(call.clone())));
        }
        self.told += new.len();
        !new.is_empty()
    }
}
