//! What is wrong with a change over the file.

use serde_json::{Value, json};

/// What is wrong with a change, and at which place.
#[derive(Debug, Clone)]
pub(crate) struct ChangeProblem {
    pub(crate) path: String,
    pub(crate) message: String,
}

impl ChangeProblem {
    pub(crate) fn to_json(&self) -> Value {
        json!({ "path": self.path, "message": self.message })
    }
}
