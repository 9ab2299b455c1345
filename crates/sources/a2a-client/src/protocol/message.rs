//! What one side says to the other at once.

use serde_json::{Map, Value, json};

use super::json::{field, list, set, text};
use super::part::{MessagePart, PartContent};
use super::wire::WireForm;

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    User,
    Agent,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentMessage {
    pub id: String,
    pub role: MessageRole,
    pub parts: Vec<MessagePart>,
    /// The conversation that it belongs to.
    pub context: Option<String>,
    /// The task that it belongs to.
    pub task: Option<String>,
    pub metadata: Option<Value>,
}

impl AgentMessage {
    /// What a user says in a conversation that begins with it.
    pub fn of_user(id: impl Into<String>, parts: Vec<MessagePart>) -> Self {
        Self {
            id: id.into(),
            role: MessageRole::User,
            parts,
            context: None,
            task: None,
            metadata: None,
        }
    }

    /// A message of either version; `None`: it is no object.
    pub fn read(value: &Value, form: WireForm) -> Option<Self> {
        value.as_object()?;
        let is_user = matches!(text(value, &["role"]).as_deref(), Some("user" | "ROLE_USER"));
        Some(Self {
            id: text(value, &["messageId", "message_id"]).unwrap_or_default(),
            role: if is_user { MessageRole::User } else { MessageRole::Agent },
            parts: parts(value, form),
            context: text(value, &["contextId", "context_id"]),
            task: text(value, &["taskId", "task_id"]),
            metadata: field(value, &["metadata"]).cloned(),
        })
    }

    pub fn write(&self, form: WireForm) -> Value {
        let parts: Vec<_> = self.parts.iter().map(|part| part.write(form)).collect();
        let mut fields = Map::new();
        if form == WireForm::Kinds {
            fields.insert("kind".to_owned(), "message".into());
        }
        fields.insert("messageId".to_owned(), self.id.as_str().into());
        let role = match (form, self.role) {
            (WireForm::Kinds, MessageRole::User) => "user",
            (WireForm::Kinds, MessageRole::Agent) => "agent",
            (WireForm::Current | WireForm::OldProto, MessageRole::User) => "ROLE_USER",
            (WireForm::Current | WireForm::OldProto, MessageRole::Agent) => "ROLE_AGENT",
        };
        fields.insert("role".to_owned(), role.into());
        let place = if form == WireForm::OldProto { "content" } else { "parts" };
        fields.insert(place.to_owned(), json!(parts));
        set(&mut fields, "contextId", self.context.as_deref());
        set(&mut fields, "taskId", self.task.as_deref());
        set(&mut fields, "metadata", self.metadata.clone());
        Value::Object(fields)
    }

    /// Its words alone, in one piece; `None`: there are none.
    pub fn words(&self) -> Option<String> {
        let words = self.parts.iter().filter_map(|part| match &part.content {
            PartContent::Text(text) => Some(text.trim()),
            PartContent::Bytes(_)
            | PartContent::Address(_)
            | PartContent::Data(_)
            | PartContent::Unknown(_) => None,
        });
        let words: Vec<_> = words.filter(|words| !words.is_empty()).collect();
        (!words.is_empty()).then(|| words.join("\n\n"))
    }
}

/// The parts of a message or of an artifact.
pub(crate) fn parts(value: &Value, form: WireForm) -> Vec<MessagePart> {
    let parts = list(value, &["parts", "content"]).iter();
    parts.map(|part| MessagePart::read(part, form)).collect()
}
