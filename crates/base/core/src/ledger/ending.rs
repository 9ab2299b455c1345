//! How a call ended, for the record.

use serde::{Deserialize, Serialize};

use crate::outcome::ErrorKind;

/// The truthful end of a planned call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ending", content = "kind")]
pub enum Ending {
    Succeeded,
    /// It ran and failed, or certainly had no effect.
    Failed(ErrorKind),
    /// It never started.
    NotExecuted,
    /// It was started, and nobody can say how it ended.
    Unknown,
}
