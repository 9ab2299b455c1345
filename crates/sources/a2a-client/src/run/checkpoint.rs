//! What is left of a task for a process that takes its call up.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A task that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskCheckpoint {
    pub(crate) task: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) context: Option<String>,
    time: TaskTime,
}

/// How long it may take, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TaskTime {
    /// Since 1970.
    Until(u64),
    /// A person is asked, and that takes none of its time.
    Left(u64),
}

impl TaskCheckpoint {
    pub(crate) fn running(task: &str, context: Option<&str>, left: Duration) -> Self {
        Self::new(task, context, TaskTime::Until(milliseconds(since_1970().saturating_add(left))))
    }

    pub(crate) fn asking(task: &str, context: Option<&str>, left: Duration) -> Self {
        Self::new(task, context, TaskTime::Left(milliseconds(left)))
    }

    fn new(task: &str, context: Option<&str>, time: TaskTime) -> Self {
        Self { task: task.to_owned(), context: context.map(str::to_owned), time }
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn written(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What is left of its time.
    pub(crate) fn left(&self) -> Duration {
        match self.time {
            TaskTime::Until(until) => Duration::from_millis(until).saturating_sub(since_1970()),
            TaskTime::Left(left) => Duration::from_millis(left),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
