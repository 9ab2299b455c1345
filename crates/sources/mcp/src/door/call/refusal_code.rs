//! The codes that the protocol has for what was refused.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};
use toolcrib_core::{QuestionKind, Refusal, RefusalReason};

/// In the revisions before 2026-07-28, which says `INVALID_PARAMS` of it.
const NO_RESOURCE: i32 = -32002;
/// The client has not declared what the call needs.
pub(crate) const CLIENT_LACKS: i32 = -32021;

/// A refusal as the protocol has it.
pub(crate) fn error_data(refusal: &Refusal) -> ErrorData {
    let (code, data) = match &refusal.reason {
        RefusalReason::UnknownMethod => (ErrorCode::METHOD_NOT_FOUND, None),
        RefusalReason::InvalidRequest => (ErrorCode::INVALID_PARAMS, None),
        RefusalReason::NoResource { uri } => (ErrorCode(NO_RESOURCE), Some(json!({ "uri": uri }))),
        RefusalReason::HostLacks(question) => {
            let lacking = json!({ "requiredCapabilities": capability(*question) });
            (ErrorCode(CLIENT_LACKS), Some(lacking))
        }
        RefusalReason::Origin { code, data } => (ErrorCode(*code), data.clone()),
    };
    ErrorData::new(code, refusal.message.clone(), data)
}

/// What a client declares that can answer such a question.
fn capability(question: QuestionKind) -> Value {
    match question {
        QuestionKind::Form => json!({ "elicitation": { "form": {} } }),
        QuestionKind::Address => json!({ "elicitation": { "url": {} } }),
        QuestionKind::Sample => json!({ "sampling": {} }),
        QuestionKind::Roots => json!({ "roots": {} }),
    }
}
