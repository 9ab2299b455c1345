//! Who asks: of which revision, and what it can be asked in turn.

use rmcp::model::{ClientCapabilities, ProtocolVersion};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::Value;
use toolcrib_core::{CompactJson, LogLevel, QuestionKind};

use crate::protocol::content::BlockKinds;

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
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let revision = context.protocol_version().unwrap_or(ProtocolVersion::V_2025_03_26);
        Self::that_said(&revision, context.client_capabilities())
    }

    /// The one that began a session. `None`: it did not say in that of which older revision it is.
    pub(crate) fn of_session(peer: &Peer<RoleServer>) -> Option<Self> {
        let info = peer.peer_info()?;
        let client = Self::that_said(&info.protocol_version, Some(info.capabilities.clone()));
        (!client.is_modern).then_some(client)
    }

    fn that_said(revision: &ProtocolVersion, said: Option<ClientCapabilities>) -> Self {
        let knows_tasks = said.as_ref().is_some_and(ClientCapabilities::supports_tasks);
        let said = said.and_then(|said| serde_json::to_value(said).ok()).unwrap_or_default();
        // Revisions are dates, which go in the order of their letters.
        let since = |other: ProtocolVersion| revision.as_str() >= other.as_str();
        Self {
            is_modern: !revision.has_initialize(),
            kinds: BlockKinds {
                audio: since(ProtocolVersion::V_2025_03_26),
                links: since(ProtocolVersion::V_2025_06_18),
            },
            has_structured: since(ProtocolVersion::V_2025_06_18),
            answers: answers(&said),
            // The revisions before had tasks of another kind.
            takes_tasks: knows_tasks && !revision.has_initialize(),
            // Who wants less or more says so, in 2026-07-28 with each request.
            hears: revision.has_initialize().then_some(LogLevel::Info),
        }
    }

    /// One of 2026-07-28 that can do this.
    pub(crate) fn modern(capabilities: &Value) -> Self {
        Self {
            is_modern: true,
            kinds: BlockKinds { audio: true, links: true },
            has_structured: true,
            answers: answers(capabilities),
            // Who takes tasks declares an extension, and does not come by the short way.
            takes_tasks: false,
            // Nor does who wants to hear something.
            hears: None,
        }
    }

    pub(crate) fn can_answer(&self, question: QuestionKind) -> bool {
        self.answers.contains(&question)
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
