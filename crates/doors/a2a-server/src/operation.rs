//! What is asked of an agent, of either version and by either binding.

use serde_json::Value;
use toolcrib_a2a_client::protocol::message::{AgentMessage, MessageRole};
use toolcrib_a2a_client::protocol::part::{MessagePart, PartContent};
use toolcrib_a2a_client::protocol::state::TaskState;
use toolcrib_a2a_client::protocol::wire::WireForm;

use crate::fault::{A2aFault, A2aFaultKind};
use crate::params::{count, field, flag, text};
use crate::push::PushConfig;

/// Bytes of an id that a client makes.
const LONGEST_ID: usize = 256;
/// Parts of a message.
const MOST_PARTS: usize = 1_000;
/// Tasks of a page: by default, and at the most (the specification has both numbers).
const PAGE: (u64, u64) = (50, 100);
/// How configurations of push notifications are called inside of another request, in all versions.
const PUSH: [&str; 3] =
    ["taskPushNotificationConfig", "pushNotificationConfig", "push_notification"];

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum A2aOperation {
    /// A message, for a new task or for one that is there.
    Send {
        message: AgentMessage,
        options: SendOptions,
        /// Where what comes of the task is told besides.
        push: Option<PushConfig>,
    },
    Get {
        task: String,
        history: Option<u64>,
    },
    List(TaskQuery),
    Cancel {
        task: String,
    },
    /// What comes of a task from now on. `after`: the sequence of the last event that is known.
    Subscribe {
        task: String,
        after: Option<u64>,
    },
    /// The card as whoever signed in sees it.
    Card,
    /// A configuration of push notifications is made, or takes the place of the one with its id.
    SetPush {
        task: String,
        config: PushConfig,
    },
    /// `config`: the id; `None`: the only one of the task, as 0.3 may ask.
    GetPush {
        task: String,
        config: Option<String>,
    },
    ListPushes {
        task: String,
        page_size: u64,
        /// Where the page before ended.
        token: Option<String>,
    },
    DeletePush {
        task: String,
        config: String,
    },
}

/// How a message wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendOptions {
    /// With events as they come.
    pub is_streamed: bool,
    /// Only once the task has ended or waits for somebody.
    pub waits: bool,
    /// Messages of the history at the most.
    pub history: Option<u64>,
}

/// Which tasks are listed.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskQuery {
    pub context: Option<String>,
    pub state: Option<TaskState>,
    pub page_size: u64,
    /// Where the page before ended.
    pub token: Option<String>,
    pub history: Option<u64>,
    /// RFC 3339: only tasks whose status is not older.
    pub changed_since: Option<String>,
    pub with_artifacts: bool,
}

/// Kinds of operations, by which a method or a path is told from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// `message:send`.
    Send,
    /// `message:stream`.
    Stream,
    /// `tasks/{id}`.
    Get,
    /// `tasks`.
    List,
    /// `tasks/{id}:cancel`.
    Cancel,
    /// `tasks/{id}:subscribe`.
    Subscribe,
    /// `extendedAgentCard`; of 0.3, `card`.
    Card,
    /// `POST tasks/{id}/pushNotificationConfigs`.
    SetPush,
    /// `GET tasks/{id}/pushNotificationConfigs/{config}`.
    GetPush,
    /// `GET tasks/{id}/pushNotificationConfigs`.
    ListPushes,
    /// `DELETE tasks/{id}/pushNotificationConfigs/{config}`.
    DeletePush,
}

impl A2aOperation {
    /// `params`: those of a method; of a path its body, else what the query has, with the `id` that
    /// the path has. Of a configuration of push notifications the path has the `taskId`, and perhaps
    /// the `id`.
    pub fn read(kind: OperationKind, params: &Value, form: WireForm) -> Result<Self, A2aFault> {
        let history = || count(params, &["historyLength", "history_length"]);
        Ok(match kind {
            OperationKind::Send | OperationKind::Stream => {
                send(params, kind == OperationKind::Stream, form)?
            }
            OperationKind::Get => Self::Get { task: task(params)?, history: history()? },
            OperationKind::List => Self::List(query(params, history()?)?),
            OperationKind::Cancel => Self::Cancel { task: task(params)? },
            OperationKind::Subscribe => {
                let metadata = field(params, &["metadata"]).unwrap_or(&Value::Null);
                Self::Subscribe { task: task(params)?, after: count(metadata, &["after"])? }
            }
            OperationKind::Card => Self::Card,
            OperationKind::SetPush => {
                let config = PushConfig::read(params, form)?;
                Self::SetPush { task: pushed(params, form)?, config }
            }
            OperationKind::GetPush => {
                Self::GetPush { task: pushed(params, form)?, config: push(params, form)? }
            }
            OperationKind::ListPushes => Self::ListPushes {
                task: pushed(params, form)?,
                page_size: page_size(params)?,
                token: text(params, &["pageToken", "page_token"])?,
            },
            OperationKind::DeletePush => {
                let config = push(params, form)?;
                let config = config.ok_or_else(|| {
                    let message = "the id of a configuration must be said";
                    A2aFault::params(message).telling("field", "id")
                })?;
                Self::DeletePush { task: pushed(params, form)?, config }
            }
        })
    }
}

/// The task that a configuration is about. 0.3 calls it `id` where it calls nothing else so.
fn pushed(params: &Value, form: WireForm) -> Result<String, A2aFault> {
    let task = text(params, &["taskId", "task_id"])?;
    let old = if form == WireForm::Kinds { text(params, &["id"])? } else { None };
    task.or(old)
        .ok_or_else(|| A2aFault::params("`taskId` must name a task").telling("field", "taskId"))
}

/// The id of a configuration.
fn push(params: &Value, form: WireForm) -> Result<Option<String>, A2aFault> {
    match form {
        WireForm::Kinds => text(params, &["pushNotificationConfigId"]),
        WireForm::Current | WireForm::OldProto => text(params, &["id"]),
    }
}

fn task(params: &Value) -> Result<String, A2aFault> {
    let id = text(params, &["id", "name"])?;
    id.ok_or_else(|| A2aFault::params("`id` must name a task").telling("field", "id"))
}

fn send(params: &Value, is_streamed: bool, form: WireForm) -> Result<A2aOperation, A2aFault> {
    let said = field(params, &["message", "request"]).filter(|said| said.is_object());
    let said = said.ok_or_else(|| {
        A2aFault::params("`message` must be a message").telling("field", "message")
    })?;
    let role = text(said, &["role"])?;
    if !matches!(role.as_deref(), None | Some("user" | "ROLE_USER")) {
        let message = "`message.role` must be that of the user: agents answer here";
        return Err(A2aFault::params(message).telling("field", "message.role"));
    }
    let message = AgentMessage::read(said, form);
    let mut message = message.ok_or_else(|| A2aFault::params("`message` must be an object"))?;
    message.role = MessageRole::User;
    // Some clients say it beside the message.
    message.task = message.task.or(text(params, &["taskId", "task_id"])?);
    message.context = message.context.or(text(params, &["contextId", "context_id"])?);
    check(&message)?;
    let options = options(params, is_streamed, form)?;
    let configuration = field(params, &["configuration"]).unwrap_or(&Value::Null);
    let push = field(configuration, &PUSH).map(|push| PushConfig::read(push, form)).transpose()?;
    Ok(A2aOperation::Send { message, options, push })
}

fn check(message: &AgentMessage) -> Result<(), A2aFault> {
    let ids = [
        ("message.messageId", Some(&message.id)),
        ("message.taskId", message.task.as_ref()),
        ("message.contextId", message.context.as_ref()),
    ];
    for (name, id) in ids {
        if id.is_some_and(|id| id.len() > LONGEST_ID) {
            let message = format!("`{name}` may have {LONGEST_ID} bytes");
            return Err(A2aFault::params(message).telling("field", name));
        }
    }
    if message.parts.is_empty() || message.parts.len() > MOST_PARTS {
        let message = format!("`message.parts` must have from 1 to {MOST_PARTS} parts");
        return Err(A2aFault::params(message).telling("field", "message.parts"));
    }
    message.parts.iter().try_for_each(takes)
}

/// Whether a part is of a kind that is read here.
fn takes(part: &MessagePart) -> Result<(), A2aFault> {
    let told = || {
        let metadata = part.metadata.as_ref();
        metadata.and_then(|it| text(it, &["contentType", "mimeType"]).ok().flatten())
    };
    let media = part.media.clone().or_else(told);
    let refused = |what: String| {
        let message = format!("{what} is not read here: send text, JSON as data, or a file");
        Err(A2aFault::new(A2aFaultKind::ContentTypeNotSupported, message))
    };
    match &part.content {
        PartContent::Unknown(_) => refused("a part that is no text, file or data".to_owned()),
        PartContent::Data(_) => match media.as_deref() {
            None | Some("application/json") => Ok(()),
            Some(other) => refused(format!("data of the type `{}`", shown(other))),
        },
        PartContent::Text(_) => match media.as_deref() {
            None | Some("application/json") => Ok(()),
            Some(text) if text.starts_with("text/") => Ok(()),
            Some(other) => refused(format!("text of the type `{}`", shown(other))),
        },
        PartContent::Bytes(_) | PartContent::Address(_) => Ok(()),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

fn options(params: &Value, is_streamed: bool, form: WireForm) -> Result<SendOptions, A2aFault> {
    let said = field(params, &["configuration"]);
    let configuration = said.unwrap_or(&Value::Null);
    let at_once = flag(configuration, &["returnImmediately", "return_immediately"])?;
    let blocking = flag(configuration, &["blocking"])?;
    let waits = match form {
        WireForm::Current => !at_once.unwrap_or(false),
        WireForm::Kinds => blocking.unwrap_or(true),
        // The JSON of protocol buffers leaves `false` out.
        WireForm::OldProto => blocking.unwrap_or(said.is_none()),
    };
    let history = count(configuration, &["historyLength", "history_length"])?;
    Ok(SendOptions { is_streamed, waits, history })
}

fn page_size(params: &Value) -> Result<u64, A2aFault> {
    let (usual, most) = PAGE;
    let page_size = count(params, &["pageSize", "page_size"])?.unwrap_or(usual);
    if !(1..=most).contains(&page_size) {
        let message = format!("`pageSize` must be from 1 to {most}");
        return Err(A2aFault::params(message).telling("field", "pageSize"));
    }
    Ok(page_size)
}

fn query(params: &Value, history: Option<u64>) -> Result<TaskQuery, A2aFault> {
    let page_size = page_size(params)?;
    let state = text(params, &["status"])?;
    let state = state.filter(|state| state != "TASK_STATE_UNSPECIFIED").map(|name| {
        let state = TaskState::read(&name);
        let is_known = state != TaskState::Unknown;
        is_known.then_some(state).ok_or_else(|| {
            let message = format!("`{}` is no state of a task", shown(&name));
            A2aFault::params(message).telling("field", "status")
        })
    });
    Ok(TaskQuery {
        context: text(params, &["contextId", "context_id"])?,
        state: state.transpose()?,
        page_size,
        token: text(params, &["pageToken", "page_token"])?,
        history,
        changed_since: text(params, &["statusTimestampAfter", "status_timestamp_after"])?,
        with_artifacts: flag(params, &["includeArtifacts", "include_artifacts"])?.unwrap_or(false),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_is_read_as_its_texts_say() {
        let asked = json!({ "pageSize": "2", "includeArtifacts": "true", "status": "completed" });
        let read = A2aOperation::read(OperationKind::List, &asked, WireForm::Current).unwrap();
        let A2aOperation::List(TaskQuery { page_size, with_artifacts, state, .. }) = read else {
            panic!("{read:?}");
        };
        assert_eq!((page_size, with_artifacts), (2, true));
        assert_eq!(state.map(TaskState::as_str), Some("completed"));
        for wrong in [
            json!({ "pageSize": "0" }),
            json!({ "pageSize": "101" }),
            json!({ "status": "x" }),
            json!({ "historyLength": "-1" }),
        ] {
            let refused = A2aOperation::read(OperationKind::List, &wrong, WireForm::Current);
            assert_eq!(refused.unwrap_err().kind.status(), 400, "{wrong}");
        }
    }

    #[test]
    fn a_message_of_0_3_is_read_in_the_json_of_protocol_buffers() {
        let body = json!({
            "request": {
                "message_id": "m", "role": "ROLE_USER", "content": [{ "text": "hello" }],
                "context_id": "c",
            },
            "configuration": {},
        });
        let read = A2aOperation::read(OperationKind::Send, &body, WireForm::OldProto).unwrap();
        let A2aOperation::Send { message, options, .. } = read else { panic!("{read:?}") };
        assert_eq!(message.words().as_deref(), Some("hello"));
        assert_eq!(message.context.as_deref(), Some("c"));
        let wanted = SendOptions { is_streamed: false, waits: false, history: None };
        assert_eq!(options, wanted);
    }
}
