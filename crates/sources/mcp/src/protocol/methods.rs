//! The methods of the protocol, of all revisions and in both directions. What is none of them is an
//! extension's, of which nobody here knows what it does.

use serde_json::Value;
use toolcrib_core::{JsonFields, ResourceOperation, ServerInfo};

/// Those of the protocol itself, sorted.
pub const METHODS: [&str; 34] = [
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/initialized",
    "notifications/message",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/roots/list_changed",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks/status",
    "notifications/tools/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "sampling/createMessage",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tools/call",
    "tools/list",
];

/// Of the extension that the door has itself.
const OWN: [&str; 2] = ["notifications/tasks", "tasks/update"];

/// What a client asks what a server says of itself by, in the newest revision: the key of what it
/// says there besides, whichever revision it was asked in.
pub(crate) const GREETING: &str = "server/discover";

/// The method of a question to a library.
pub(crate) fn of_operation(operation: &ResourceOperation) -> &str {
    match operation {
        ResourceOperation::Prompt => "prompts/get",
        ResourceOperation::Resource => "resources/read",
        ResourceOperation::Completion => "completion/complete",
        ResourceOperation::Level => "logging/setLevel",
        ResourceOperation::Method(method) | ResourceOperation::Notice(method) => method,
    }
}

/// What the result of a method says besides; to whoever speaks a revision before 2026-07-28
/// nothing of how long it may be kept.
pub(crate) fn besides(server: &ServerInfo, method: &str, is_modern: bool) -> JsonFields {
    let mut besides = match server.hints.get(method) {
        Some(Value::Object(besides)) => besides.clone(),
        _ => JsonFields::new(),
    };
    besides.retain(|key, _| is_modern || !["ttlMs", "cacheScope"].contains(&key.as_str()));
    besides
}

pub(crate) fn is_defined(method: &str) -> bool {
    METHODS.contains(&method) || OWN.contains(&method)
}
