//! What is refused, as each binding says it.

use serde_json::{Map, Value, json};

/// The kinds of refusals: those of the protocol, of JSON-RPC, and two of any server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum A2aFaultKind {
    /// The body is no JSON.
    ParseError,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    TaskNotFound,
    TaskNotCancelable,
    PushNotificationNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    VersionNotSupported,
    TooMany,
    Unavailable,
}

impl A2aFaultKind {
    pub const ALL: [Self; 13] = [
        Self::ParseError,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::Internal,
        Self::TaskNotFound,
        Self::TaskNotCancelable,
        Self::PushNotificationNotSupported,
        Self::UnsupportedOperation,
        Self::ContentTypeNotSupported,
        Self::VersionNotSupported,
        Self::TooMany,
        Self::Unavailable,
    ];

    /// Code of JSON-RPC, status of HTTP, status of gRPC, reason.
    ///
    /// Source: "Error handling" of `docs/specification.md` of a2aproject/A2A at v1.0.1, which
    /// changed several rows of 1.0.0.
    fn row(self) -> (i64, u16, &'static str, &'static str) {
        match self {
            Self::ParseError => (-32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR"),
            Self::InvalidRequest => (-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
            Self::MethodNotFound => (-32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
            Self::InvalidParams => (-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
            Self::Internal => (-32603, 500, "INTERNAL", "INTERNAL_ERROR"),
            Self::TaskNotFound => (-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
            Self::TaskNotCancelable => (-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
            Self::PushNotificationNotSupported => {
                (-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED")
            }
            Self::UnsupportedOperation => {
                (-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION")
            }
            Self::ContentTypeNotSupported => {
                (-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")
            }
            Self::VersionNotSupported => {
                (-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED")
            }
            // The protocol has no words of its own for these two.
            Self::TooMany => (-32603, 429, "RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS"),
            Self::Unavailable => (-32603, 503, "UNAVAILABLE", "UNAVAILABLE"),
        }
    }

    /// Of JSON-RPC.
    pub fn code(self) -> i64 {
        self.row().0
    }

    /// Of HTTP, where the request came by its path.
    pub fn status(self) -> u16 {
        self.row().1
    }

    pub fn reason(self) -> &'static str {
        self.row().3
    }
}

/// A refusal with what is wrong this time and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct A2aFault {
    pub kind: A2aFaultKind,
    pub message: String,
    /// What a program may want to know besides; texts, as `google.rpc.ErrorInfo` has them.
    pub more: Vec<(&'static str, String)>,
}

impl A2aFault {
    pub fn new(kind: A2aFaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), more: Vec::new() }
    }

    pub fn params(message: impl Into<String>) -> Self {
        Self::new(A2aFaultKind::InvalidParams, message)
    }

    /// One that is not there, or is somebody else's: nobody is told which.
    pub fn no_task(id: &str) -> Self {
        let shown: String = id.chars().take(80).collect();
        let message = format!("none of your tasks is `{shown}`: `ListTasks` lists them");
        Self::new(A2aFaultKind::TaskNotFound, message)
    }

    /// A configuration of push notifications that is not there.
    pub fn no_push(id: &str) -> Self {
        let shown: String = id.chars().take(80).collect();
        let message = format!(
            "the task has no configuration `{shown}`: `ListTaskPushNotificationConfigs` lists them"
        );
        Self::new(A2aFaultKind::TaskNotFound, message)
    }

    #[must_use]
    pub fn telling(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.more.push((name, text.into()));
        self
    }

    /// The `error` of an answer of JSON-RPC.
    pub fn to_rpc(&self) -> Value {
        json!({
            "code": self.kind.code(), "message": self.message, "data": [self.info()],
        })
    }

    /// The body of an answer over HTTP: `google.rpc.Status`.
    pub fn to_http(&self) -> Value {
        let (_, status, name, _) = self.kind.row();
        json!({
            "error": {
                "code": status, "status": name, "message": self.message, "details": [self.info()],
            },
        })
    }

    fn info(&self) -> Value {
        let more = self.more.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into()));
        json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": self.kind.reason(),
            "domain": "a2a-protocol.org",
            "metadata": more.collect::<Map<_, _>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{A2aFault, A2aFaultKind};

    #[test]
    fn every_refusal_has_the_code_and_the_status_of_the_table() {
        let rows: Vec<_> =
            A2aFaultKind::ALL.iter().map(|kind| (kind.code(), kind.status())).collect();
        let wanted = [
            (-32700, 400),
            (-32600, 400),
            (-32601, 404),
            (-32602, 400),
            (-32603, 500),
            (-32001, 404),
            (-32002, 400),
            (-32003, 400),
            (-32004, 400),
            (-32005, 400),
            (-32009, 400),
            (-32603, 429),
            (-32603, 503),
        ];
        assert_eq!(rows, wanted);
    }

    #[test]
    fn a_refusal_says_its_reason_in_both_bindings() {
        let fault = A2aFault::no_task("x").telling("taskId", "x");
        let info = serde_json::json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
            "domain": "a2a-protocol.org", "metadata": { "taskId": "x" },
        });
        let message = "none of your tasks is `x`: `ListTasks` lists them";
        let rpc = serde_json::json!({ "code": -32001, "message": message, "data": [info] });
        let http = serde_json::json!({ "error": {
            "code": 404, "status": "NOT_FOUND", "message": message, "details": [info],
        } });
        assert_eq!((fault.to_rpc(), fault.to_http()), (rpc, http));
    }
}
