//! How a model is told of tools, and how its calls are told.

use toolcrib_core::{Call, RawArguments};
use toolcrib_dialect::Dialect;

use crate::item::CallText;
use crate::model::settings::{ModelApi, ModelSettings};

/// In which tools are named for a model: one that calls in its words is told of them in the form that
/// most models learned.
pub(super) fn tool_dialect(settings: &ModelSettings) -> Box<dyn Dialect> {
    match settings.call_format() {
        Some(_) => ModelApi::OpenAiChat.dialect(),
        None => settings.api.dialect(),
    }
}

/// A call as the model wrote it.
pub(super) fn call_text(call: &Call) -> CallText {
    CallText {
        id: call.id.clone(),
        name: if call.wire.name.is_empty() { call.name.clone() } else { call.wire.name.clone() },
        arguments: match &call.arguments {
            RawArguments::Absent => String::new(),
            RawArguments::Text(text) => text.clone(),
            RawArguments::Value(value) => value.to_string(),
        },
    }
}
