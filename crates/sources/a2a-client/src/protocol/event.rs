//! What an agent sends: an answer, or one event of a stream.

use serde_json::Value;

use super::json::{field, flag, text};
use super::message::AgentMessage;
use super::task::{AgentTask, TaskArtifact, TaskStatus};
use super::wire::WireForm;

#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// A task as it is now, whole.
    Task(AgentTask),
    /// An answer without a task.
    Message(AgentMessage),
    Status {
        task: Option<String>,
        context: Option<String>,
        status: TaskStatus,
    },
    Artifact {
        task: Option<String>,
        context: Option<String>,
        artifact: TaskArtifact,
        /// It goes behind what came of the artifact before.
        append: bool,
    },
    /// A kind of event that nobody here knows.
    Unknown,
}

impl AgentEvent {
    /// An event of either version: under its name (1.0), or with its `kind` in it (0.3). A bare
    /// task, which is what a task is asked for with, is one too.
    pub fn read(value: &Value, form: WireForm) -> Self {
        let named: [(&str, &[&str]); 4] = [
            ("task", &["task"]),
            ("message", &["message", "msg"]),
            ("status-update", &["statusUpdate", "status_update"]),
            ("artifact-update", &["artifactUpdate", "artifact_update"]),
        ];
        let said = field(value, &["kind"]).and_then(Value::as_str);
        let found = match said {
            Some(kind) => Self::of_kind(kind, value, form),
            None => named.iter().find_map(|(kind, names)| {
                let inner = field(value, names).filter(|inner| inner.is_object())?;
                Self::of_kind(kind, inner, form)
            }),
        };
        found.unwrap_or_else(|| Self::bare(value, form))
    }

    fn of_kind(kind: &str, value: &Value, form: WireForm) -> Option<Self> {
        let task = || text(value, &["taskId", "task_id"]);
        let context = || text(value, &["contextId", "context_id"]);
        match kind {
            "task" => AgentTask::read(value, form).map(Self::Task),
            "message" => AgentMessage::read(value, form).map(Self::Message),
            "status-update" => {
                let status = field(value, &["status"]).map(|it| TaskStatus::read(it, form))?;
                Some(Self::Status { task: task(), context: context(), status })
            }
            "artifact-update" => {
                let mut artifact =
                    field(value, &["artifact"]).and_then(|it| TaskArtifact::read(it, form))?;
                let numbered = || value.pointer("/metadata/index").and_then(Value::as_u64);
                artifact.index = artifact.index.or_else(numbered);
                let append = flag(value, &["append"]);
                Some(Self::Artifact { task: task(), context: context(), artifact, append })
            }
            _ => None,
        }
    }

    /// What says nothing of what it is.
    fn bare(value: &Value, form: WireForm) -> Self {
        let looks_like_task = text(value, &["id"]).is_some() && field(value, &["status"]).is_some();
        let looks_like_message = field(value, &["parts"]).is_some_and(Value::is_array)
            && field(value, &["role"]).is_some();
        if looks_like_task && let Some(task) = AgentTask::read(value, form) {
            return Self::Task(task);
        }
        if looks_like_message && let Some(message) = AgentMessage::read(value, form) {
            return Self::Message(message);
        }
        Self::Unknown
    }
}
