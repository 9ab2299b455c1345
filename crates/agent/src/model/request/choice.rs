//! Which calls a model may make, and which it has to, as each API is told of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::settings::ModelApi;

/// What whoever asks wants of the calls of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallChoice {
    /// The model calls what it likes, and what the plan makes it call.
    #[default]
    Free,
    /// No call is made in the whole run. Tools are shown all the same: some APIs refuse a thread
    /// with calls and no tools.
    Never,
    /// The first turn has to call something.
    Any,
    /// The first turn has to call the caller's own tool of this name.
    CallerTool(String),
}

impl CallChoice {
    pub(crate) fn is_free(&self) -> bool {
        *self == Self::Free
    }

    /// What is left of it in a turn; the first has the number 0. What must be called has been called
    /// then, so that the run can end.
    pub(crate) fn of_turn(&self, turn: u32) -> Self {
        match self {
            Self::Any | Self::CallerTool(_) if turn > 0 => Self::Free,
            Self::Free | Self::Never | Self::Any | Self::CallerTool(_) => self.clone(),
        }
    }

    /// Says it in a body that has its tools. Of tools that are not there nothing can be said.
    pub(crate) fn write(&self, api: ModelApi, body: &mut Map<String, Value>) {
        let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
        let is_there = match api {
            ModelApi::Gemini => {
                tools.clone().any(|tool| tool.get("functionDeclarations").is_some())
            }
            ModelApi::OpenAiChat | ModelApi::OpenAiResponses | ModelApi::Anthropic => {
                tools.clone().next().is_some()
            }
        };
        let (Some(told), true) = (self.told(api), is_there) else { return };
        let (place, key) = match api {
            ModelApi::OpenAiChat | ModelApi::OpenAiResponses | ModelApi::Anthropic => {
                (body, "tool_choice")
            }
            ModelApi::Gemini => {
                // What else is said of the tools stays.
                let config = body.entry("toolConfig").or_insert_with(|| json!({}));
                let Value::Object(config) = config else { return };
                (config, "functionCallingConfig")
            }
        };
        // What the plan makes a model call is a call.
        if *self != Self::Any || !place.contains_key(key) {
            place.insert(key.to_owned(), told);
        }
    }

    fn told(&self, api: ModelApi) -> Option<Value> {
        Some(match (self, api) {
            (Self::Free, _) => return None,
            (Self::Never, ModelApi::OpenAiChat | ModelApi::OpenAiResponses) => json!("none"),
            (Self::Never, ModelApi::Anthropic) => json!({ "type": "none" }),
            (Self::Never, ModelApi::Gemini) => json!({ "mode": "NONE" }),
            (Self::Any, ModelApi::OpenAiChat | ModelApi::OpenAiResponses) => json!("required"),
            (Self::Any, ModelApi::Anthropic) => json!({ "type": "any" }),
            (Self::Any, ModelApi::Gemini) => json!({ "mode": "ANY" }),
            (Self::CallerTool(name), ModelApi::OpenAiChat) => {
                json!({ "type": "function", "function": { "name": name } })
            }
            (Self::CallerTool(name), ModelApi::OpenAiResponses) => {
                json!({ "type": "function", "name": name })
            }
            (Self::CallerTool(name), ModelApi::Anthropic) => {
                json!({ "type": "tool", "name": name })
            }
            (Self::CallerTool(name), ModelApi::Gemini) => {
                json!({ "mode": "ANY", "allowedFunctionNames": [name] })
            }
        })
    }

    /// The same in words, for a model that is told of its tools in words. `forced`: what the plan
    /// makes it call, by the names that it knows.
    pub(crate) fn in_words(&self, forced: &[String]) -> Option<String> {
        let names = match self {
            Self::Never => return None,
            Self::CallerTool(name) => format!("`{name}`"),
            Self::Any if forced.is_empty() => "one of the tools".to_owned(),
            Self::Any => forced.join(" or "),
            Self::Free if forced.is_empty() => return None,
            Self::Free => forced.join(" and "),
        };
        Some(format!("Your next answer has to call {names}. Do not answer in words before."))
    }
}
