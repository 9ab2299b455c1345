//! What an agent sends: an answer, or one event of a stream.

use serde_json::{Map, Value, json};

use super::json::{field, flag, set, text};
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

    /// The same as an agent sends it, in the form of one version. What nobody knows is empty.
    pub fn write(&self, form: WireForm) -> Value {
        let (name, value) = match self {
            Self::Task(task) => ("task", task.write(form)),
            Self::Message(message) => ("message", message.write(form)),
            Self::Status { task, context, status } => {
                let mut fields = update("status-update", (task, context), form);
                fields.insert("status".to_owned(), status.write(form));
                // 1.0 tells it by the state alone.
                if form != WireForm::Current {
                    let is_final = status.state.is_terminal() || status.state.is_interrupted();
                    fields.insert("final".to_owned(), is_final.into());
                }
                ("statusUpdate", Value::Object(fields))
            }
            Self::Artifact { task, context, artifact, append } => {
                let mut fields = update("artifact-update", (task, context), form);
                fields.insert("artifact".to_owned(), artifact.write(form));
                fields.insert("append".to_owned(), (*append).into());
                ("artifactUpdate", Value::Object(fields))
            }
            Self::Unknown => return json!({}),
        };
        match form {
            WireForm::Kinds => value,
            WireForm::Current | WireForm::OldProto => json!({ name: value }),
        }
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

/// What every piece of news about a task has.
fn update(
    kind: &str,
    (task, context): (&Option<String>, &Option<String>),
    form: WireForm,
) -> Map<String, Value> {
    let mut fields = Map::new();
    if form == WireForm::Kinds {
        fields.insert("kind".to_owned(), kind.into());
    }
    set(&mut fields, "taskId", task.as_deref());
    set(&mut fields, "contextId", context.as_deref());
    fields
}
