//! New tasks, changes of tasks, and their end.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::view::{TaskListView, TaskView, task};
use super::{TasksCall, list_id};
use crate::backend::{FieldChange, NewTask, TaskChange};
use crate::tools::fields::{change, emptied, given, line};
use crate::tools::quoting;
use crate::tools::times::CallClock;
use crate::tools::tool::{DataAnswer, DeletedItem};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateTaskArguments {
    #[schemars(length(min = 1, max = 500))]
    title: String,
    #[schemars(length(max = 8000))]
    notes: Option<String>,
    /// Until when: `Friday`, `tomorrow 5pm`, `2026-01-21`.
    #[schemars(length(min = 1, max = 200))]
    due: Option<String>,
    /// Id or name of a list; the first if not set.
    #[schemars(length(min = 1, max = 1024))]
    list: Option<String>,
    /// IANA time zone of `due`; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
}

pub(super) async fn create(
    here: TasksCall,
    create: CreateTaskArguments,
) -> Result<DataAnswer<TaskView>, ToolError> {
    let times = CallClock::new(&here.settings, create.timezone.as_deref())?;
    let (due, notes) = match &create.due {
        Some(text) => {
            let (due, notes) = times.due(text)?;
            (Some(due), notes)
        }
        None => (None, Vec::new()),
    };
    let new = NewTask {
        list: list_id(&here, create.list.as_deref()).await?,
        title: line("title", &create.title)?,
        notes: create.notes.filter(|text| !text.trim().is_empty()),
        due,
    };
    let kept = here.keeper.add(&here.owner, new).await?;
    Ok(DataAnswer { data: task(kept, &times), notes })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskIdArguments {
    /// Id of the task.
    #[schemars(length(min = 1, max = 1024))]
    task_id: String,
}

pub(super) async fn complete(
    here: TasksCall,
    one: TaskIdArguments,
) -> Result<DataAnswer<TaskView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let before = here.keeper.task(&here.owner, &one.task_id).await?;
    if before.done.is_some() {
        let notes = vec!["it was marked as done already".to_owned()];
        return Ok(DataAnswer { data: task(before, &times), notes });
    }
    let done = FieldChange::Set(times.now().timestamp());
    mark(&here, &one.task_id, done, &times).await
}

pub(super) async fn reopen(
    here: TasksCall,
    one: TaskIdArguments,
) -> Result<DataAnswer<TaskView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let before = here.keeper.task(&here.owner, &one.task_id).await?;
    if before.done.is_none() {
        let notes = vec!["it was open already".to_owned()];
        return Ok(DataAnswer { data: task(before, &times), notes });
    }
    mark(&here, &one.task_id, FieldChange::Clear, &times).await
}

async fn mark(
    here: &TasksCall,
    id: &str,
    done: FieldChange<jiff::Timestamp>,
    times: &CallClock,
) -> Result<DataAnswer<TaskView>, ToolError> {
    let change = TaskChange { done, ..TaskChange::default() };
    let after = here.keeper.change(&here.owner, id, change).await?;
    Ok(task(after, times).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateTaskArguments {
    /// Id of the task.
    #[schemars(length(min = 1, max = 1024))]
    task_id: String,
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(min = 1, max = 500))]
    title: Option<String>,
    #[serde(default, deserialize_with = "change")]
    #[schemars(with = "Option<String>", length(max = 8000))]
    notes: FieldChange<String>,
    /// Until when: `Friday`, `tomorrow 5pm`, `2026-01-21`; null for no day.
    #[serde(default, deserialize_with = "change")]
    #[schemars(with = "Option<String>", length(min = 1, max = 200))]
    due: FieldChange<String>,
    /// IANA time zone of `due`; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
}

pub(super) async fn update(
    here: TasksCall,
    update: UpdateTaskArguments,
) -> Result<DataAnswer<TaskView>, ToolError> {
    let times = CallClock::new(&here.settings, update.timezone.as_deref())?;
    let mut notes = Vec::new();
    let due = match &update.due {
        FieldChange::Keep => FieldChange::Keep,
        FieldChange::Clear => FieldChange::Clear,
        FieldChange::Set(text) => {
            let (due, said) = times.due(text)?;
            notes = said;
            FieldChange::Set(due)
        }
    };
    let change = TaskChange {
        title: update.title.as_deref().map(|title| line("title", title)).transpose()?,
        notes: emptied(update.notes),
        due,
        done: FieldChange::Keep,
    };
    if change == TaskChange::default() {
        return Err(ToolError::told("nothing would change: give what is to be different"));
    }
    let after = here.keeper.change(&here.owner, &update.task_id, change).await?;
    Ok(DataAnswer { data: task(after, &times), notes })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateTaskListArguments {
    #[schemars(length(min = 1, max = 200))]
    name: String,
}

pub(super) async fn create_list(
    here: TasksCall,
    list: CreateTaskListArguments,
) -> Result<DataAnswer<TaskListView>, ToolError> {
    let name = line("name", &list.name)?;
    Ok(TaskListView::from(here.keeper.add_list(&here.owner, &name).await?).into())
}

pub(super) async fn delete(
    here: TasksCall,
    one: TaskIdArguments,
) -> Result<DataAnswer<DeletedItem>, ToolError> {
    let TaskIdArguments { task_id: id } = one;
    let before = here.keeper.task(&here.owner, &id).await?;
    here.keeper.remove(&here.owner, &id).await?;
    Ok(DeletedItem::new(id, before.title).into())
}

/// `Delete the task *Water the plants*, due Tue 24 Nov 2026`.
pub(super) async fn delete_words(
    here: TasksCall,
    one: TaskIdArguments,
) -> Result<String, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let before = here.keeper.task(&here.owner, &one.task_id).await?;
    let due = before.due.map(|due| format!(", due {}", times.say_due(&due)));
    let done = if before.done.is_some() { ", which is done" } else { "" };
    let title = quoting::title(&before.title);
    Ok(format!("Delete the task {title}{}{done}", due.unwrap_or_default()))
}
