//! What we say of ourselves, and what we can answer.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use serde_json::{Map, Value, json};
use toolcrib_core::QuestionKind;

/// A connection of nobody in particular: any of its calls may have somebody who can answer.
pub(crate) const EVERYTHING: &[QuestionKind] =
    &[QuestionKind::Form, QuestionKind::Address, QuestionKind::Sample, QuestionKind::Roots];

pub(crate) fn capabilities(answers: &[QuestionKind]) -> ClientCapabilities {
    let mut said = Map::new();
    let mut elicitation = Map::new();
    for question in answers {
        match question {
            QuestionKind::Form => _ = elicitation.insert("form".to_owned(), json!({})),
            QuestionKind::Address => _ = elicitation.insert("url".to_owned(), json!({})),
            QuestionKind::Sample => _ = said.insert("sampling".to_owned(), json!({})),
            QuestionKind::Roots => _ = said.insert("roots".to_owned(), json!({})),
        }
    }
    if !elicitation.is_empty() {
        said.insert("elicitation".to_owned(), Value::Object(elicitation));
    }
    // The shape is that of the protocol, and `said` is an object of objects.
    serde_json::from_value(Value::Object(said)).unwrap_or_default()
}

pub(crate) fn ourselves(answers: &[QuestionKind]) -> ClientConfig {
    let we = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(capabilities(answers), we)
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}
