//! The words by which the protocol speaks of tasks, as 2025-11-25 has them.

use serde_json::{Map, Value};

/// Under which a result names the task that it is of: nobody beyond us knows of it.
pub(super) const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Takes from a tool's definition that it runs as a task alone: through us it is called as any
/// other, and a client that reads otherwise would not call it. Whether it was there.
pub(crate) fn take_required(definition: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(execution)) = definition.get_mut("execution") else { return false };
    let is_required = execution.get("taskSupport").and_then(Value::as_str) == Some("required");
    if is_required {
        execution.shift_remove("taskSupport");
        if execution.is_empty() {
            definition.shift_remove("execution");
        }
    }
    is_required
}

/// Whether a request of ours only asks about a task.
pub(crate) fn is_about(method: &str) -> bool {
    matches!(method, "tasks/get" | "tasks/result")
}

/// Of which task something is that a server says, if it tells.
pub(crate) fn named_in(params: &Value) -> Option<&str> {
    params.get("_meta")?.get(RELATED)?.get("taskId")?.as_str()
}
