//! Who asks: of which revision, and what it can be asked in turn.

use rmcp::model::TASKS_EXTENSION_ID;
use serde_json::Value;
use toolcrib_core::{CompactJson, LogLevel, QuestionKind};

use crate::protocol::content::BlockKinds;
use crate::protocol::revisions::{OBJECTS, has_greeting};

/// The other side of one request.
#[derive(Debug, Clone)]
pub(crate) struct ClientFeatures {
    /// Of 2026-07-28 or later: a question goes out as an answer, and the client comes back.
    pub(crate) is_modern: bool,
    pub(crate) kinds: BlockKinds,
    has_structured: bool,
    /// What it can be asked.
    pub(crate) answers: Vec<QuestionKind>,
    /// A call may be answered with a task.
    pub(crate) takes_tasks: bool,
    /// The lowest level of logs that it wants to hear; `None`: it wants no logs.
    pub(crate) hears: Option<LogLevel>,
}

impl ClientFeatures {
    /// A client of a revision that said this of what it can.
    pub(crate) fn of(revision: &str, capabilities: &Value) -> Self {
        let is_modern = !has_greeting(revision);
        let knows_tasks = capabilities
            .get("extensions")
            .is_some_and(|extensions| extensions.get(TASKS_EXTENSION_ID).is_some());
        Self {
            is_modern,
            kinds: BlockKinds { audio: true, links: revision >= OBJECTS },
            has_structured: revision >= OBJECTS,
            answers: answers(capabilities),
            // The revisions before had tasks of another kind.
            takes_tasks: knows_tasks && is_modern,
            // Who wants less or more says so, in 2026-07-28 with each request.
            hears: (!is_modern).then_some(LogLevel::Info),
        }
    }

    pub(crate) fn can_answer(&self, question: QuestionKind) -> bool {
        self.answers.contains(&question)
    }

    /// Of its capabilities those that are made use of here.
    pub(crate) fn capabilities(&self) -> Value {
        let mut capabilities = serde_json::Map::new();
        for answer in &self.answers {
            let (capability, mode) = match answer {
                QuestionKind::Form => ("elicitation", Some("form")),
                QuestionKind::Address => ("elicitation", Some("url")),
                QuestionKind::Sample => ("sampling", None),
                QuestionKind::Roots => ("roots", None),
            };
            let said = capabilities.entry(capability).or_insert_with(|| serde_json::json!({}));
            if let (Value::Object(modes), Some(mode)) = (said, mode) {
                modes.insert(mode.to_owned(), serde_json::json!({}));
            }
        }
        Value::Object(capabilities)
    }

    /// Whether it may say several things at once, as 2025-03-26 has it and no other revision.
    pub(crate) fn has_batches(&self) -> bool {
        self.kinds.audio && !self.kinds.links
    }

    /// Whether a result may carry this as data: before 2026-07-28 it must be an object.
    pub(crate) fn takes_data(&self, data: &Value) -> bool {
        self.is_modern || (self.has_structured && data.is_object())
    }

    /// Whether a tool may promise results of this schema.
    pub(crate) fn takes_output(&self, schema: &CompactJson) -> bool {
        let of_objects = || schema.value().get("type").is_some_and(|kind| kind == "object");
        self.is_modern || (self.has_structured && of_objects())
    }
}

fn answers(said: &Value) -> Vec<QuestionKind> {
    let has = |key: &str| said.get(key).is_some_and(Value::is_object);
    let mut answers = Vec::new();
    if let Some(modes) = said.get("elicitation").and_then(Value::as_object) {
        // The first revision with questions had no modes, and meant forms.
        if modes.contains_key("form") || !modes.contains_key("url") {
            answers.push(QuestionKind::Form);
        }
        if modes.contains_key("url") {
            answers.push(QuestionKind::Address);
        }
    }
    if has("sampling") {
        answers.push(QuestionKind::Sample);
    }
    if has("roots") {
        answers.push(QuestionKind::Roots);
    }
    answers
}

/// The method by which a question is put.
pub(crate) fn method(question: QuestionKind) -> &'static str {
    match question {
        QuestionKind::Form | QuestionKind::Address => "elicitation/create",
        QuestionKind::Sample => "sampling/createMessage",
        QuestionKind::Roots => "roots/list",
    }
}
