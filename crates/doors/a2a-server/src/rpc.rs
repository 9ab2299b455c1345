//! Requests and answers over JSON-RPC 2.0.

use serde_json::{Value, json};
use toolcrib_a2a_client::protocol::wire::{ProtocolBinding, ProtocolVersion, WireForm};

use crate::fault::{A2aFault, A2aFaultKind};
use crate::operation::{A2aOperation, OperationKind};
use crate::version::AskedVersion;

/// Each operation by its names in 1.0 and in 0.3; 0.3 has no list over JSON-RPC.
const METHODS: [(OperationKind, &str, &str); 11] = [
    (OperationKind::Send, "SendMessage", "message/send"),
    (OperationKind::Stream, "SendStreamingMessage", "message/stream"),
    (OperationKind::Get, "GetTask", "tasks/get"),
    (OperationKind::List, "ListTasks", ""),
    (OperationKind::Cancel, "CancelTask", "tasks/cancel"),
    (OperationKind::Subscribe, "SubscribeToTask", "tasks/resubscribe"),
    (OperationKind::Card, "GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"),
    (
        OperationKind::SetPush,
        "CreateTaskPushNotificationConfig",
        "tasks/pushNotificationConfig/set",
    ),
    (OperationKind::GetPush, "GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/get"),
    (
        OperationKind::ListPushes,
        "ListTaskPushNotificationConfigs",
        "tasks/pushNotificationConfig/list",
    ),
    (
        OperationKind::DeletePush,
        "DeleteTaskPushNotificationConfig",
        "tasks/pushNotificationConfig/delete",
    ),
];

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcRequest {
    /// A text, a number or `null`, to be given back.
    pub id: Value,
    pub operation: Result<(A2aOperation, WireForm), A2aFault>,
}

/// What a body asks. A client that says no version means 0.3.
pub fn read(body: &Value, version: Result<AskedVersion, A2aFault>) -> RpcRequest {
    let refused = |id: Value, message: &str| RpcRequest {
        id,
        operation: Err(A2aFault::new(A2aFaultKind::InvalidRequest, message)),
    };
    let Some(fields) = body.as_object() else {
        return refused(Value::Null, "a request of JSON-RPC is an object, and one at a time");
    };
    let id = match fields.get("id") {
        None | Some(Value::Null) => Value::Null,
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            return refused(Value::Null, "`id` must be a text or a number");
        }
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refused(id, "`jsonrpc` must be \"2.0\"");
    }
    let Some(method) = fields.get("method").and_then(Value::as_str) else {
        return refused(id, "`method` must name what is asked");
    };
    let empty = json!({});
    let params = fields.get("params").filter(|params| !params.is_null()).unwrap_or(&empty);
    if !params.is_object() {
        let operation = Err(A2aFault::params("`params` must be an object"));
        return RpcRequest { id, operation };
    }
    let operation = version.and_then(|version| asked(method, params, version));
    RpcRequest { id, operation }
}

fn asked(
    method: &str,
    params: &Value,
    version: AskedVersion,
) -> Result<(A2aOperation, WireForm), A2aFault> {
    let found = METHODS.iter().find_map(|(kind, current, old)| {
        if *current == method {
            return Some((*kind, ProtocolVersion::V1));
        }
        (*old == method).then_some((*kind, ProtocolVersion::V03))
    });
    let found = found.filter(|_| !method.is_empty());
    let (kind, own) = found.ok_or_else(|| {
        let shown: String = method.chars().take(80).collect();
        let message = format!("there is no method `{shown}`: `SendMessage` begins a task");
        A2aFault::new(A2aFaultKind::MethodNotFound, message)
    })?;
    let form = WireForm::of(version.of(own, &format!("`{method}`"))?, ProtocolBinding::JsonRpc);
    A2aOperation::read(kind, params, form).map(|operation| (operation, form))
}

/// An answer.
pub fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub fn refusal(id: &Value, fault: &A2aFault) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": fault.to_rpc() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(said: Option<&str>) -> Result<AskedVersion, A2aFault> {
        AskedVersion::read(said)
    }

    fn code(body: &Value, said: Option<&str>) -> Option<i64> {
        read(body, version(said)).operation.err().map(|fault| fault.kind.code())
    }

    fn send(method: &str) -> Value {
        let message = json!({ "messageId": "m", "role": "user", "parts": [{ "text": "hello" }] });
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "message": message } })
    }

    #[test]
    fn a_method_is_asked_in_its_own_version_and_who_says_none_means_0_3() {
        let form = |method: &str, said: Option<&str>| {
            read(&send(method), version(said)).operation.map(|(_, form)| form)
        };
        assert_eq!(code(&send("SendMessage"), None), Some(-32601));
        assert_eq!(form("SendMessage", Some("1.0")), Ok(WireForm::Current));
        assert_eq!(form("message/send", None), Ok(WireForm::Kinds));
        assert_eq!(form("message/send", Some("0.3")), Ok(WireForm::Kinds));
        assert_eq!(code(&send("message/send"), Some("1.0")), Some(-32601));
        assert_eq!(code(&send("SendMessage"), Some("0.3")), Some(-32601));
        assert_eq!(code(&send("SendMessage"), Some("99.0")), Some(-32009));
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_code_of_its_fault() {
        let with = |field: &str, value: Value| {
            let mut body = send("SendMessage");
            body[field] = value;
            code(&body, Some("1.0"))
        };
        assert_eq!(with("jsonrpc", json!("1.0")), Some(-32600));
        assert_eq!(with("method", json!(7)), Some(-32600));
        assert_eq!(with("method", json!("DoSomethingUnsupported")), Some(-32601));
        assert_eq!(with("method", json!("")), Some(-32601));
        assert_eq!(with("params", json!([])), Some(-32602));
        assert_eq!(with("params", json!({})), Some(-32602));
        assert_eq!(code(&json!([send("SendMessage")]), Some("1.0")), Some(-32600));
        let params = |message: Value| with("params", json!({ "message": message }));
        assert_eq!(params(json!({ "role": "ROLE_USER", "parts": [] })), Some(-32602));
        assert_eq!(
            params(json!({ "role": "ROLE_AGENT", "parts": [{ "text": "x" }] })),
            Some(-32602)
        );
        let strange = json!({ "data": 1, "metadata": { "contentType": "application/x-strange" } });
        assert_eq!(params(json!({ "parts": [strange] })), Some(-32005));
        assert_eq!(params(json!({ "parts": [{ "video": 1 }] })), Some(-32005));
    }

    #[test]
    fn configurations_of_pushes_are_asked_for_in_the_words_of_each_version() {
        let asked = |method: &str, params: Value| {
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            let said = if method.contains('/') { None } else { Some("1.0") };
            read(&body, version(said)).operation.map(|(operation, _)| operation)
        };
        let (task, config) = ("t".to_owned(), "c".to_owned());
        let get = A2aOperation::GetPush { task: task.clone(), config: Some(config.clone()) };
        let current = asked("GetTaskPushNotificationConfig", json!({ "taskId": "t", "id": "c" }));
        assert_eq!(current, Ok(get.clone()));
        let params = json!({ "id": "t", "pushNotificationConfigId": "c" });
        assert_eq!(asked("tasks/pushNotificationConfig/get", params.clone()), Ok(get));
        let gone = A2aOperation::DeletePush { task: task.clone(), config };
        assert_eq!(asked("tasks/pushNotificationConfig/delete", params), Ok(gone));
        let listed = asked("tasks/pushNotificationConfig/list", json!({ "id": "t" }));
        assert_eq!(listed, Ok(A2aOperation::ListPushes { task, page_size: 50, token: None }));
        let unnamed = asked("DeleteTaskPushNotificationConfig", json!({ "taskId": "t" }));
        assert_eq!(unnamed.map_err(|fault| fault.kind.code()), Err(-32602));
        let params = json!({
            "message": { "messageId": "m", "role": "user", "parts": [{ "text": "hello" }] },
            "configuration": { "taskPushNotificationConfig": { "url": "https://a.example/" } },
        });
        let Ok(A2aOperation::Send { push, .. }) = asked("SendMessage", params) else {
            panic!("it is no message");
        };
        assert_eq!(push.unwrap().url, "https://a.example/");
    }
}
