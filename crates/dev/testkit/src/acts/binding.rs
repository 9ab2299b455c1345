//! The operations of the suite in the words of each binding of A2A 1.0.

use http::Method;
use serde_json::{Map, Value, json};

use super::wire::ActsReply;

/// A way in which agents are spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActsBinding {
    JsonRpc,
    Rest,
}

impl ActsBinding {
    pub const ALL: [Self; 2] = [Self::JsonRpc, Self::Rest];

    /// As the suite says it.
    pub fn word(self) -> &'static str {
        match self {
            Self::JsonRpc => "jsonrpc",
            Self::Rest => "rest",
        }
    }

    /// As a card says it.
    pub(super) fn is_named(self, named: &str) -> bool {
        match self {
            Self::JsonRpc => named == "JSONRPC",
            Self::Rest => named == "HTTP+JSON" || named == "REST",
        }
    }
}

/// What an operation asks: a method of JSON-RPC, and a path of HTTP with what fills it.
pub(super) struct BoundOperation {
    pub(super) rpc: &'static str,
    pub(super) method: Method,
    pub(super) path: String,
    /// What is asked with it, as JSON-RPC says it.
    pub(super) params: Value,
    /// The same, where it stands in a body of HTTP.
    pub(super) body: Option<Value>,
    /// The same, where it stands in a query.
    pub(super) query: Vec<(String, String)>,
}

/// Names of errors in the suite with their codes, and the reasons that HTTP carries.
///
/// Source: "Error handling" of `docs/specification.md` of a2aproject/A2A at v1.0.1; the table of the
/// suite yields to it by its own words.
const ERRORS: [(&str, i64, &str); 14] = [
    ("TaskNotFoundError", -32001, "TASK_NOT_FOUND"),
    ("TaskNotCancelableError", -32002, "TASK_NOT_CANCELABLE"),
    ("PushNotificationNotSupportedError", -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    ("UnsupportedOperationError", -32004, "UNSUPPORTED_OPERATION"),
    ("StreamingNotSupportedError", -32004, "UNSUPPORTED_OPERATION"),
    ("ContentTypeNotSupportedError", -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
    ("InvalidAgentResponseError", -32006, "INVALID_AGENT_RESPONSE"),
    ("ExtendedCardNotSupportedError", -32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    ("ExtensionSupportRequiredError", -32008, "EXTENSION_SUPPORT_REQUIRED"),
    ("VersionNotSupportedError", -32009, "VERSION_NOT_SUPPORTED"),
    ("InvalidParamsError", -32602, "INVALID_PARAMS"),
    ("MethodNotFoundError", -32601, "METHOD_NOT_FOUND"),
    ("InternalError", -32603, "INTERNAL_ERROR"),
    ("JSONParseError", -32700, "PARSE_ERROR"),
];

/// The code of an error that the suite names, or the code itself.
pub(super) fn code(named: &Value) -> Option<i64> {
    let known = |name: &str| ERRORS.iter().find(|row| row.0 == name).map(|row| row.1);
    named.as_i64().or_else(|| named.as_str().and_then(known))
}

/// The operation in the words of both bindings; an error, if the suite names an unknown one.
pub(super) fn bind(operation: &str, params: &Value, fresh: &str) -> Result<BoundOperation, String> {
    let mut params = params.as_object().cloned().unwrap_or_default();
    let named = |params: &Map<String, Value>, name: &str| {
        params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (id, task) = (named(&params, "id"), named(&params, "taskId"));
    let (id, task) = (segment(&id), segment(&task));
    let configs = format!("/tasks/{task}/pushNotificationConfigs");
    let get = |rpc, path: String| (rpc, Method::GET, path);
    let post = |rpc, path: &str| (rpc, Method::POST, path.to_owned());
    let is_extended = params.remove("extended").is_some();
    let (rpc, method, path) = match operation {
        "send_message" => post("SendMessage", "/message:send"),
        "send_streaming_message" => post("SendStreamingMessage", "/message:stream"),
        "get_task" => get("GetTask", format!("/tasks/{id}")),
        "list_tasks" => get("ListTasks", "/tasks".to_owned()),
        "cancel_task" => post("CancelTask", &format!("/tasks/{id}:cancel")),
        "subscribe_to_task" => get("SubscribeToTask", format!("/tasks/{id}:subscribe")),
        "get_extended_agent_card" => get("GetExtendedAgentCard", "/extendedAgentCard".to_owned()),
        "get_agent_card" if is_extended => {
            get("GetExtendedAgentCard", "/extendedAgentCard".to_owned())
        }
        "set_push_notification_config" | "create_push_config" => {
            post("CreateTaskPushNotificationConfig", &configs)
        }
        "get_push_notification_config" | "get_push_config" => {
            get("GetTaskPushNotificationConfig", format!("{configs}/{id}"))
        }
        "list_push_notification_configs" | "list_push_configs" => {
            get("ListTaskPushNotificationConfigs", configs)
        }
        "delete_push_notification_config" | "delete_push_config" => {
            let path = format!("{configs}/{id}");
            ("DeleteTaskPushNotificationConfig", Method::DELETE, path)
        }
        other => return Err(format!("the suite asks for `{other}`, which is unknown here")),
    };
    if operation.starts_with("send_") {
        params = message(params, fresh);
    }
    // 1.0 has the fields of a configuration beside the name of its task.
    if let Some(Value::Object(config)) = params.remove("pushNotificationConfig") {
        params.extend(config);
    }
    let mut query = Vec::new();
    let mut body = None;
    if method == Method::POST {
        body = Some(if operation == "cancel_task" { json!({}) } else { params.clone().into() });
    } else {
        let own = params.iter().filter(|(name, _)| !matches!(name.as_str(), "id" | "taskId"));
        query.extend(own.map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        }));
    }
    Ok(BoundOperation { rpc, method, path, params: params.into(), body, query })
}

/// A message with a name of its own, and with the task and context that the suite puts beside it.
fn message(mut params: Map<String, Value>, fresh: &str) -> Map<String, Value> {
    let beside = ["taskId", "contextId"].map(|name| (name, params.remove(name)));
    if let Some(Value::Object(message)) = params.get_mut("message") {
        message.entry("messageId").or_insert_with(|| fresh.into());
        for (name, value) in beside {
            if let Some(value) = value {
                message.insert(name.to_owned(), value);
            }
        }
    }
    params
}

/// A name within a path. The suite may have any in its variables.
fn segment(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Takes what JSON-RPC puts around an answer from it.
pub(super) fn unwrap_rpc(mut reply: ActsReply) -> ActsReply {
    let part = |envelope: &Value, name: &str| envelope.get(name).cloned();
    if let Some(events) = &reply.events {
        let refused = events.first().and_then(|event| part(event, "error"));
        reply.events = Some(events.iter().filter_map(|event| part(event, "result")).collect());
        if refused.is_some() {
            reply.events = None;
            reply.error = refused;
        }
        return reply;
    }
    reply.error = reply.body.as_ref().and_then(|body| part(body, "error"));
    if let Some(result) = reply.body.as_ref().and_then(|body| part(body, "result")) {
        reply.body = Some(result);
    }
    if reply.error.is_none() && reply.status >= 400 {
        return refused_by_status(reply);
    }
    reply
}

/// Reads a refusal over HTTP: `google.rpc.Status` has a reason, from which the code follows.
pub(super) fn unwrap_http(mut reply: ActsReply) -> ActsReply {
    if reply.status < 400 {
        return reply;
    }
    let status = reply.body.as_ref().map(|body| body.get("error").unwrap_or(body));
    let details = status.and_then(|status| status.get("details")).and_then(Value::as_array);
    let reason = details.into_iter().flatten().find_map(|one| one.get("reason")?.as_str());
    let code = reason.and_then(|reason| ERRORS.iter().find(|row| row.2 == reason));
    let Some(code) = code.map(|row| row.1) else { return refused_by_status(reply) };
    let message = status.and_then(|status| status.get("message")).cloned();
    let data = details.map(|details| Value::Array(details.clone()));
    let mut error = json!({ "code": code, "message": message });
    if let (Some(data), Value::Object(error)) = (data, &mut error) {
        error.insert("data".to_owned(), data);
    }
    reply.error = Some(error);
    reply
}

/// A refusal that says nothing in the words of the protocol.
fn refused_by_status(mut reply: ActsReply) -> ActsReply {
    let said = |name: &str| reply.body.as_ref().and_then(|body| body.get(name)).cloned();
    let message = said("message").or_else(|| said("detail")).or_else(|| said("title"));
    reply.error = Some(json!({ "code": reply.status, "message": message }));
    reply
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ActsReply, bind, code, unwrap_http, unwrap_rpc};

    #[test]
    fn an_operation_is_a_method_and_a_path_with_the_same_words() {
        let params = json!({ "taskId": "t", "message": { "parts": [] } });
        let sent = bind("send_message", &params, "m1").unwrap();
        let wanted = json!({ "message": { "parts": [], "messageId": "m1", "taskId": "t" } });
        assert_eq!((sent.rpc, sent.path.as_str()), ("SendMessage", "/message:send"));
        assert_eq!((&sent.params, sent.body.as_ref()), (&wanted, Some(&wanted)));
        let got = bind("get_task", &json!({ "id": "a/b", "historyLength": 0 }), "").unwrap();
        assert_eq!((got.path.as_str(), got.body), ("/tasks/a%2Fb", None));
        assert_eq!(got.query, [("historyLength".to_owned(), "0".to_owned())]);
        let asked = json!({ "taskId": "t", "pushNotificationConfig": { "url": "https://a" } });
        let config = bind("set_push_notification_config", &asked, "").unwrap();
        assert_eq!(config.params, json!({ "taskId": "t", "url": "https://a" }));
        assert!(bind("fly", &json!({}), "").is_err());
    }

    #[test]
    fn a_refusal_has_the_same_code_over_both_bindings() {
        let error = json!({ "code": -32001, "message": "no" });
        let rpc =
            ActsReply { status: 200, body: Some(json!({ "error": error })), ..Default::default() };
        assert_eq!(unwrap_rpc(rpc).error, Some(error));
        let details = json!([{ "reason": "TASK_NOT_FOUND" }]);
        let body = json!({ "error": { "code": 404, "message": "no", "details": details } });
        let http = ActsReply { status: 404, body: Some(body), ..Default::default() };
        let wanted = json!({ "code": -32001, "message": "no", "data": details });
        assert_eq!(unwrap_http(http).error, Some(wanted));
        let bare = ActsReply { status: 502, ..Default::default() };
        assert_eq!(unwrap_http(bare).error, Some(json!({ "code": 502, "message": null })));
        assert_eq!(code(&json!("TaskNotFoundError")), Some(-32001));
        assert_eq!(code(&json!(-32700)), Some(-32700));
        assert_eq!(code(&json!("SomeError")), None);
    }
}
