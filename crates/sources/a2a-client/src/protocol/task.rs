//! A task: what an agent works at, how far it is, and what came of it.

use serde_json::{Map, Value};

use super::json::{field, list, set, text};
use super::message::{AgentMessage, parts};
use super::part::MessagePart;
use super::state::TaskState;
use super::wire::WireForm;

#[derive(Debug, Clone, PartialEq)]
pub struct AgentTask {
    pub id: String,
    pub context: Option<String>,
    pub status: TaskStatus,
    pub artifacts: Vec<TaskArtifact>,
    pub history: Vec<AgentMessage>,
    pub metadata: Option<Value>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskStatus {
    pub state: TaskState,
    pub message: Option<AgentMessage>,
    /// When it was noted, as the agent writes it.
    pub timestamp: Option<String>,
}

/// A thing that a task made.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskArtifact {
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub parts: Vec<MessagePart>,
    /// The place of a piece among the pieces of its artifact, where it is said.
    pub index: Option<u64>,
    pub metadata: Option<Value>,
}

impl AgentTask {
    /// A task of either version; `None`: it has no name.
    pub fn read(value: &Value, form: WireForm) -> Option<Self> {
        let artifacts =
            list(value, &["artifacts"]).iter().filter_map(|it| TaskArtifact::read(it, form));
        Some(Self {
            id: text(value, &["id"])?,
            context: text(value, &["contextId", "context_id"]),
            status: field(value, &["status"])
                .map(|it| TaskStatus::read(it, form))
                .unwrap_or_default(),
            artifacts: artifacts.collect(),
            history: list(value, &["history"])
                .iter()
                .filter_map(|it| AgentMessage::read(it, form))
                .collect(),
            metadata: field(value, &["metadata"]).cloned(),
        })
    }

    /// The same as an agent sends it; lists with nothing in them are left out.
    pub fn write(&self, form: WireForm) -> Value {
        let mut fields = Map::new();
        if form == WireForm::Kinds {
            fields.insert("kind".to_owned(), "task".into());
        }
        fields.insert("id".to_owned(), self.id.as_str().into());
        set(&mut fields, "contextId", self.context.as_deref());
        fields.insert("status".to_owned(), self.status.write(form));
        let artifacts: Vec<_> = self.artifacts.iter().map(|it| it.write(form)).collect();
        set(&mut fields, "artifacts", Some(artifacts).filter(|list| !list.is_empty()));
        let history: Vec<_> = self.history.iter().map(|it| it.write(form)).collect();
        set(&mut fields, "history", Some(history).filter(|list| !list.is_empty()));
        set(&mut fields, "metadata", self.metadata.clone());
        Value::Object(fields)
    }
}

impl TaskStatus {
    pub fn read(value: &Value, form: WireForm) -> Self {
        let state = field(value, &["state"]).and_then(Value::as_str);
        Self {
            state: state.map(TaskState::read).unwrap_or_default(),
            message: field(value, &["message", "update"])
                .and_then(|it| AgentMessage::read(it, form)),
            timestamp: text(value, &["timestamp"]),
        }
    }

    pub fn write(&self, form: WireForm) -> Value {
        let mut fields = Map::new();
        fields.insert("state".to_owned(), self.state.name(form).into());
        set(&mut fields, "message", self.message.as_ref().map(|it| it.write(form)));
        set(&mut fields, "timestamp", self.timestamp.as_deref());
        Value::Object(fields)
    }
}

impl TaskArtifact {
    /// One without a name is the only one of its task.
    pub fn read(value: &Value, form: WireForm) -> Option<Self> {
        value.as_object()?;
        let metadata = field(value, &["metadata"]).cloned();
        Some(Self {
            id: text(value, &["artifactId", "artifact_id"]).unwrap_or_default(),
            name: text(value, &["name"]),
            description: text(value, &["description"]),
            parts: parts(value, form),
            index: field(value, &["index"]).and_then(Value::as_u64),
            metadata,
        })
    }

    pub fn write(&self, form: WireForm) -> Value {
        let mut fields = Map::new();
        fields.insert("artifactId".to_owned(), self.id.as_str().into());
        set(&mut fields, "name", self.name.as_deref());
        set(&mut fields, "description", self.description.as_deref());
        let parts: Vec<_> = self.parts.iter().map(|part| part.write(form)).collect();
        fields.insert("parts".to_owned(), parts.into());
        set(&mut fields, "metadata", self.metadata.clone());
        Value::Object(fields)
    }
}
