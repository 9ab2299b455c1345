//! A task as it is told.

use schemars::JsonSchema;
use serde::Serialize;

use crate::backend::{Task, TaskDue, TaskList};
use crate::tools::times::{CallClock, iso};

#[derive(Serialize, JsonSchema)]
pub(crate) struct TaskView {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
    /// A day, or ISO 8601 with offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    /// For people: `Tue 24 Nov 2026`.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<String>,
    done: bool,
    /// When it was done, as ISO 8601 with offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_at: Option<String>,
    /// The id of its list.
    list: String,
}

pub(crate) fn task(task: Task, times: &CallClock) -> TaskView {
    let due = task.due.as_ref().map(|due| match due {
        TaskDue::Day(day) => day.to_string(),
        TaskDue::At(moment) => iso(&times.here(moment)),
    });
    TaskView {
        id: task.id,
        title: task.title,
        notes: task.notes,
        due,
        when: task.due.as_ref().map(|due| times.say_due(due)),
        done: task.done.is_some(),
        done_at: task.done.map(|moment| iso(&times.at(moment))),
        list: task.list,
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TaskListView {
    id: String,
    name: String,
}

impl From<TaskList> for TaskListView {
    fn from(TaskList { id, name }: TaskList) -> Self {
        Self { id, name }
    }
}
