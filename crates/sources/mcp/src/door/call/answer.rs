//! What a method answers.

use rmcp::model::ErrorData;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A result, as JSON.
pub(crate) struct MethodResult {
    pub(crate) text: Vec<u8>,
    /// It says of itself that what was wanted failed.
    pub(crate) has_failed: bool,
}

pub(crate) type MethodAnswer = Result<MethodResult, ErrorData>;

impl MethodResult {
    pub(crate) fn of(result: &impl Serialize) -> Self {
        // Values, texts and the fields of both are always JSON.
        let text = serde_json::to_vec(result).unwrap_or_else(|_| b"null".to_vec());
        Self { text, has_failed: false }
    }

    /// The result of a call.
    pub(crate) fn of_call(result: &Value) -> Self {
        let has_failed = result.get("isError").and_then(Value::as_bool).unwrap_or_default();
        Self { has_failed, ..Self::of(result) }
    }

    /// One without a word.
    pub(crate) fn empty() -> Self {
        Self { text: b"{}".to_vec(), has_failed: false }
    }
}

/// Questions in place of a result; `around`: what is said besides.
pub(crate) fn asking(
    questions: Map<String, Value>,
    state: &str,
    around: Map<String, Value>,
) -> MethodResult {
    let mut asking = around;
    asking.insert("resultType".to_owned(), json!("input_required"));
    asking.insert("inputRequests".to_owned(), Value::Object(questions));
    asking.insert("requestState".to_owned(), json!(state));
    MethodResult::of(&asking)
}
