//! A task: what an agent works at, how far it is, and what came of it.

use serde_json::Value;

use super::json::{field, list, text};
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
        })
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
}
