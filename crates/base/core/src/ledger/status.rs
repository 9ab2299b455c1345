//! How a recorded call stands, as whoever made it may read it.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::ending::Ending;
use super::timestamp::rfc3339;

/// A call of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallStatus {
    /// Our name of it.
    pub call: String,
    pub tool: String,
    pub planned: SystemTime,
    /// In the word of the record.
    pub state: &'static str,
    /// `None` while it runs.
    pub ended: Option<(SystemTime, Ending)>,
}

impl CallStatus {
    /// For a program.
    pub fn data(&self) -> Value {
        json!({
            "call_id": self.call,
            "tool": self.tool,
            "state": self.state,
            "planned": rfc3339(self.planned),
            "ended": self.ended.map(|(at, _)| rfc3339(at)),
            "safe_to_retry": self.is_safe_to_retry(),
        })
    }

    /// For a model: what to do about it.
    pub fn words(&self) -> String {
        let tool = &self.tool;
        match self.ended.map(|(_, ending)| ending) {
            None => format!("`{tool}` still runs: ask again in a while"),
            Some(Ending::Succeeded) => format!("`{tool}` took effect: do not repeat it"),
            Some(Ending::Failed(_)) => {
                format!("`{tool}` failed, and that is known: it may be made again")
            }
            Some(Ending::NotExecuted) => format!("`{tool}` did not run: it may be made again"),
            Some(Ending::Unknown) => format!(
                "nobody knows whether `{tool}` took effect: do not repeat it, check by other tools \
                 or ask the user"
            ),
        }
    }

    fn is_safe_to_retry(&self) -> bool {
        let ending = self.ended.map(|(_, ending)| ending);
        matches!(ending, Some(Ending::Failed(_) | Ending::NotExecuted))
    }
}
