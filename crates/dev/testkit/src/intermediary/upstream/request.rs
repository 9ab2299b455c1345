//! A request under way, and how it is answered.

use std::sync::Arc;

use serde_json::{Value, json};

use super::state::{FixtureOutput, FixtureSender, FixtureState};

pub(crate) const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const MODERN: &str = "2026-07-28";

/// A request under way.
pub(super) struct FixtureRequest {
    pub(super) place: String,
    pub(super) message: Value,
    pub(super) is_modern: bool,
    pub(super) is_piped: bool,
    pub(super) output: FixtureSender,
    pub(super) state: Arc<FixtureState>,
}

impl FixtureRequest {
    pub(super) fn id(&self) -> &Value {
        &self.message["id"]
    }

    pub(super) fn params(&self) -> &Value {
        &self.message["params"]
    }

    pub(super) fn say(&self, message: Value) {
        // Nobody may be reading any more.
        let _ = self.output.send(FixtureOutput::Message(message));
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Ends it, unless it was given up. `end`: an object with `result` or `error`.
    pub(super) fn end(&self, mut end: Value) {
        if !self.state.is_running((&self.place, self.id())) {
            return;
        }
        if self.is_modern && end["result"].is_object() && end["result"]["resultType"].is_null() {
            end["result"]["resultType"] = json!("complete");
        }
        let mut message = json!({ "jsonrpc": "2.0", "id": self.id() });
        if let (Some(message), Value::Object(end)) = (message.as_object_mut(), end) {
            message.extend(end);
        }
        self.state.ends((&self.place, self.id()));
        self.say(message);
    }
}

/// Whether a message is of 2026-07-28.
pub(super) fn is_modern(message: &Value) -> bool {
    message["params"]["_meta"][REVISION_KEY] == MODERN
}

/// An error of the protocol.
pub(super) fn error(code: i64, message: &str, data: Option<Value>) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({ "error": error })
}
