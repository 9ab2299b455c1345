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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_code_and_what_programs_read_beside_it() {
        let said = |reason| {
            let ErrorData { code, message, data, .. } = error_data(&Refusal::new(reason, "no"));
            assert_eq!(message, "no");
            (code.0, data)
        };
        assert_eq!(said(RefusalReason::UnknownMethod), (-32601, None));
        assert_eq!(said(RefusalReason::InvalidRequest), (-32602, None));
        let missing = RefusalReason::NoResource { uri: "note://x".to_owned() };
        assert_eq!(said(missing), (-32002, Some(json!({ "uri": "note://x" }))));
        for (question, declared) in [
            (QuestionKind::Form, json!({ "elicitation": { "form": {} } })),
            (QuestionKind::Address, json!({ "elicitation": { "url": {} } })),
            (QuestionKind::Sample, json!({ "sampling": {} })),
            (QuestionKind::Roots, json!({ "roots": {} })),
        ] {
            let data = Some(json!({ "requiredCapabilities": declared }));
            assert_eq!(said(RefusalReason::HostLacks(question)), (-32021, data));
        }
        let foreign = RefusalReason::Origin { code: 7, data: Some(json!([1])) };
        assert_eq!(said(foreign), (7, Some(json!([1]))));
    }
}
