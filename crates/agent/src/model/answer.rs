//! What a model answers: its words, its calls, and what it cost.

pub(crate) mod generated;
pub(crate) mod sampled;

use serde_json::Value;
use toolcrib_core::Call;
use toolcrib_dialect::{HostedCall, HostedWork};

use sampled::SampledTokens;

use super::settings::ModelApi;
use crate::item::{CallText, Echo};
use crate::usage::{Usage, UsageSource};

/// A whole turn of a model.
#[derive(Debug, Clone)]
pub struct ModelAnswer {
    pub text: String,
    /// As an executor takes them.
    pub calls: Vec<Call>,
    /// As the model wrote them, in the same order.
    pub call_texts: Vec<CallText>,
    pub echo: Echo,
    pub usage: Usage,
    /// The answer ended because it may be no longer.
    pub was_cut: bool,
    /// What the provider's own tools did for it. Their calls were told while they came.
    pub hosted: HostedWork,
    /// The API goes on with the turn when it is sent it back.
    pub is_paused: bool,
    /// Its tokens, where an engine tells them.
    pub sampled: Option<Box<SampledTokens>>,
}

/// A piece of an answer, while it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelDelta {
    Text(String),
    Reasoning(String),
    /// What was told does not hold: the answer broke off, and is asked for anew.
    Retracted(String),
    /// Another model is asked in the place of one that gave no answer, and why.
    OtherModel(String),
    /// A call that the provider made and answered.
    Hosted(Box<HostedCall>),
}

impl ModelDelta {
    /// Its words, whatever they are.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Text(words)
            | Self::Reasoning(words)
            | Self::Retracted(words)
            | Self::OtherModel(words) => words,
            // Its bytes are counted with those of calls.
            Self::Hosted(_) => "",
        }
    }
}

/// The piece that an event of a stream brings.
pub(super) fn delta(api: ModelApi, event: &Value) -> Option<ModelDelta> {
    let text = |pointer: &str| {
        let text = event.pointer(pointer).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match api {
        ModelApi::OpenAiChat => {
            text("/choices/0/delta/content").map(ModelDelta::Text).or_else(|| {
                let thought = text("/choices/0/delta/reasoning_content")
                    .or_else(|| text("/choices/0/delta/reasoning"));
                thought.map(ModelDelta::Reasoning)
            })
        }
        ModelApi::OpenAiResponses => match event.get("type").and_then(Value::as_str)? {
            "response.output_text.delta" | "response.refusal.delta" => {
                text("/delta").map(ModelDelta::Text)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                text("/delta").map(ModelDelta::Reasoning)
            }
            _ => None,
        },
        ModelApi::Anthropic => text("/delta/text")
            .map(ModelDelta::Text)
            .or_else(|| text("/delta/thinking").map(ModelDelta::Reasoning)),
        ModelApi::Gemini => {
            let parts = event.pointer("/candidates/0/content/parts")?.as_array()?;
            let said: String = parts.iter().filter_map(said_by_part).collect();
            (!said.is_empty()).then_some(ModelDelta::Text(said))
        }
    }
}

/// Bytes of a call that an event of a stream brings.
pub(super) fn call_bytes(api: ModelApi, event: &Value) -> usize {
    let length = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).map_or(0, str::len);
    match api {
        ModelApi::OpenAiChat => length("/choices/0/delta/tool_calls/0/function/arguments"),
        ModelApi::OpenAiResponses => {
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            if kind == "response.function_call_arguments.delta" { length("/delta") } else { 0 }
        }
        ModelApi::Anthropic => length("/delta/partial_json"),
        ModelApi::Gemini => {
            let parts = event.pointer("/candidates/0/content/parts").and_then(Value::as_array);
            let calls = parts.into_iter().flatten().filter_map(|part| part.get("functionCall"));
            calls.map(|call| call.to_string().len()).sum()
        }
    }
}

/// A part of Gemini that is no thought.
fn said_by_part(part: &Value) -> Option<&str> {
    let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
    part.get("text").and_then(Value::as_str).filter(|_| !is_thought)
}

/// The words of a turn, from its messages as they go back to the API.
pub(crate) fn text(api: ModelApi, turn: &[Value]) -> String {
    let mut text = String::new();
    let is_said = |message: &&Value| match message.get("type").and_then(Value::as_str) {
        // Of Responses: thoughts are items too.
        Some(kind) if api == ModelApi::OpenAiResponses => kind == "message",
        _ => true,
    };
    let is_thought = |part: &Value| {
        part.get("type")
            .and_then(Value::as_str)
            .is_some_and(|kind| !["text", "output_text", "refusal"].contains(&kind))
    };
    for message in turn.iter().filter(is_said) {
        match api {
            ModelApi::OpenAiChat | ModelApi::Anthropic | ModelApi::OpenAiResponses => {
                match message.get("content") {
                    Some(Value::String(said)) => text.push_str(said),
                    Some(Value::Array(parts)) => {
                        for part in parts.iter().filter(|part| !is_thought(part)) {
                            let said = part.get("text").or_else(|| part.get("refusal"));
                            text.push_str(said.and_then(Value::as_str).unwrap_or_default());
                        }
                    }
                    _ => {}
                }
            }
            ModelApi::Gemini => {
                let parts = message.get("parts").and_then(Value::as_array);
                parts.into_iter().flatten().filter_map(said_by_part).for_each(|said| {
                    text.push_str(said);
                });
            }
        }
    }
    text
}

/// What the API says of tokens in an event, or in a whole answer; it takes the place of what was
/// said before.
pub(super) fn note_usage(api: ModelApi, event: &Value, usage: &mut Option<Usage>) {
    let number = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    match api {
        ModelApi::OpenAiChat => {
            let Some(said) = event.get("usage").filter(|said| said.is_object()) else { return };
            let Some(input) = number(said, "/prompt_tokens") else { return };
            *usage = Some(Usage {
                input_tokens: input,
                cached_tokens: number(said, "/prompt_tokens_details/cached_tokens").unwrap_or(0),
                output_tokens: number(said, "/completion_tokens").unwrap_or(0),
                reasoning_tokens: number(said, "/completion_tokens_details/reasoning_tokens")
                    .unwrap_or(0),
                source: UsageSource::Reported,
            });
        }
        ModelApi::OpenAiResponses => {
            let said = event.get("usage").or_else(|| event.pointer("/response/usage"));
            let Some(said) = said.filter(|said| said.is_object()) else { return };
            let Some(input) = number(said, "/input_tokens") else { return };
            *usage = Some(Usage {
                input_tokens: input,
                cached_tokens: number(said, "/input_tokens_details/cached_tokens").unwrap_or(0),
                output_tokens: number(said, "/output_tokens").unwrap_or(0),
                reasoning_tokens: number(said, "/output_tokens_details/reasoning_tokens")
                    .unwrap_or(0),
                source: UsageSource::Reported,
            });
        }
        ModelApi::Anthropic => {
            let said = event.get("usage").or_else(|| event.pointer("/message/usage"));
            let Some(said) = said.filter(|said| said.is_object()) else { return };
            // The beginning tells what was read, the end what was written.
            let mut sum = usage.unwrap_or_default();
            if let Some(plain) = number(said, "/input_tokens") {
                sum.cached_tokens = number(said, "/cache_read_input_tokens").unwrap_or(0);
                let made = number(said, "/cache_creation_input_tokens").unwrap_or(0);
                sum.input_tokens = plain.saturating_add(sum.cached_tokens).saturating_add(made);
            }
            sum.output_tokens = number(said, "/output_tokens").unwrap_or(sum.output_tokens);
            *usage = Some(sum);
        }
        ModelApi::Gemini => {
            let Some(said) = event.get("usageMetadata") else { return };
            let Some(input) = number(said, "/promptTokenCount") else { return };
            let thoughts = number(said, "/thoughtsTokenCount").unwrap_or(0);
            let written = number(said, "/candidatesTokenCount").unwrap_or(0);
            *usage = Some(Usage {
                input_tokens: input,
                cached_tokens: number(said, "/cachedContentTokenCount").unwrap_or(0),
                output_tokens: written.saturating_add(thoughts),
                reasoning_tokens: thoughts,
                source: UsageSource::Reported,
            });
        }
    }
}

/// Whether a whole reply ended because it may be no longer.
pub(super) fn was_cut(api: ModelApi, reply: &Value) -> bool {
    let said = |pointer: &str| reply.pointer(pointer).and_then(Value::as_str);
    match api {
        ModelApi::OpenAiChat => said("/choices/0/finish_reason") == Some("length"),
        ModelApi::OpenAiResponses => said("/status") == Some("incomplete"),
        ModelApi::Anthropic => said("/stop_reason") == Some("max_tokens"),
        ModelApi::Gemini => said("/candidates/0/finishReason") == Some("MAX_TOKENS"),
    }
}

/// Whether a whole reply is a turn with which the API goes on once it has it back.
pub(super) fn is_paused(api: ModelApi, reply: &Value) -> bool {
    api == ModelApi::Anthropic && reply.get("stop_reason").is_some_and(|why| why == "pause_turn")
}

/// The event with which a stream of this API says that it is whole; a stream that only ends is cut
/// off, whatever it brought.
pub(super) fn ends(api: ModelApi, event: &Value) -> bool {
    match api {
        ModelApi::OpenAiChat => {
            event.pointer("/choices/0/finish_reason").is_some_and(Value::is_string)
        }
        ModelApi::OpenAiResponses => matches!(
            event.get("type").and_then(Value::as_str),
            Some("response.completed" | "response.incomplete" | "response.failed")
        ),
        ModelApi::Anthropic => {
            event.get("type").is_some_and(|kind| kind == "message_stop" || kind == "error")
        }
        ModelApi::Gemini => {
            event.pointer("/candidates/0/finishReason").is_some_and(Value::is_string)
                || event.pointer("/promptFeedback/blockReason").is_some()
        }
    }
}
