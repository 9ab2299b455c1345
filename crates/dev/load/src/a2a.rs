//! What an agent costs that others ask over A2A, and what one costs that we ask: beside the client
//! and the server of the SDK in Python, with a model that answers at once.

mod messages;
mod tasks;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::LoadError;
use crate::test_bed::MeasuredPrograms;

/// How much is measured.
#[derive(Debug, Clone)]
pub struct A2aSettings {
    /// Messages of each way; the middle counts.
    pub messages: usize,
    /// Tasks that are open at once.
    pub tasks: usize,
    /// A Python with the SDK; `None`: only what needs none is measured.
    pub python: Option<PathBuf>,
}

impl Default for A2aSettings {
    fn default() -> Self {
        Self { messages: 300, tasks: 1_000, python: None }
    }
}

/// Measures all of it, in a folder below this one.
pub async fn a2a(
    programs: &MeasuredPrograms,
    below: &Path,
    much: &A2aSettings,
) -> Result<Value, LoadError> {
    let messages = match &much.python {
        Some(python) => messages::messages(programs, below, python, much.messages).await?,
        None => Value::Null,
    };
    Ok(
        json!({ "messages": messages, "tasks": tasks::open_tasks(programs, below, much.tasks).await? }),
    )
}
