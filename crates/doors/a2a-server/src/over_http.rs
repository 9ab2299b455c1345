//! Requests by paths and methods of HTTP.

use serde_json::Value;
use toolcrib_a2a_client::protocol::wire::{ProtocolBinding, ProtocolVersion, WireForm};

use crate::fault::A2aFault;
use crate::operation::{A2aOperation, OperationKind};
use crate::version::AskedVersion;

/// What a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedPath {
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

/// The version of a path: those of 0.3 begin with `v1`, of all things.
pub fn form(is_below_v1: bool, asked: AskedVersion) -> Result<WireForm, A2aFault> {
    let (own, name) = if is_below_v1 {
        (ProtocolVersion::V03, "a path below `/v1`")
    } else {
        (ProtocolVersion::V1, "a path without `/v1`")
    };
    asked.of(own, name).map(|version| WireForm::of(version, ProtocolBinding::HttpJson))
}

/// `params`: the body, else what the query has; with the `id` of the path, where it has one. Of a
/// configuration of push notifications the path has the `taskId`, and perhaps the `id`.
pub fn read(path: AskedPath, params: &Value, form: WireForm) -> Result<A2aOperation, A2aFault> {
    let kind = match path {
        AskedPath::Send => OperationKind::Send,
        AskedPath::Stream => OperationKind::Stream,
        AskedPath::Get => OperationKind::Get,
        AskedPath::List => OperationKind::List,
        AskedPath::Cancel => OperationKind::Cancel,
        AskedPath::Subscribe => OperationKind::Subscribe,
        AskedPath::Card => OperationKind::Card,
        AskedPath::SetPush => OperationKind::SetPush,
        AskedPath::GetPush => OperationKind::GetPush,
        AskedPath::ListPushes => OperationKind::ListPushes,
        AskedPath::DeletePush => OperationKind::DeletePush,
    };
    A2aOperation::read(kind, params, form)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcrib_a2a_client::protocol::state::TaskState;

    use super::*;
    use crate::operation::{SendOptions, TaskQuery};

    #[test]
    fn a_query_is_read_as_its_texts_say() {
        let asked = json!({ "pageSize": "2", "includeArtifacts": "true", "status": "completed" });
        let read = read(AskedPath::List, &asked, WireForm::Current).unwrap();
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
            let refused = super::read(AskedPath::List, &wrong, WireForm::Current);
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
        let read = read(AskedPath::Send, &body, WireForm::OldProto).unwrap();
        let A2aOperation::Send { message, options, .. } = read else { panic!("{read:?}") };
        assert_eq!(message.words().as_deref(), Some("hello"));
        assert_eq!(message.context.as_deref(), Some("c"));
        let wanted = SendOptions { is_streamed: false, waits: false, history: None };
        assert_eq!(options, wanted);
    }
}
