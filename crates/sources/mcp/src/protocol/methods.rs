//! The methods of the protocol, of all revisions and in both directions. What is none of them is an
//! extension's, of which nobody here knows what it does.

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

pub(crate) fn is_defined(method: &str) -> bool {
    METHODS.contains(&method) || OWN.contains(&method)
}
