//! New tasks, changes of tasks, and their end.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::view::{ListView, TaskView, task};
use super::{Here, list_id};
use crate::backend::{Change, NewTask, TaskChange};
use crate::tools::fields::{change, emptied, given, line};
use crate::tools::quoting;
use crate::tools::times::Times;
use crate::tools::tool::{Answer, Deleted};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
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

pub(super) async fn create(here: Here, create: Create) -> Result<Answer<TaskView>, ToolError> {
    let times = Times::new(&here.settings, create.timezone.as_deref())?;
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
    Ok(Answer { data: task(kept, &times), notes })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct One {
    /// Id of the task.
    #[schemars(length(min = 1, max = 1024))]
    task_id: String,
}

pub(super) async fn complete(here: Here, one: One) -> Result<Answer<TaskView>, ToolError> {
    let times = Times::new(&here.settings, None)?;
    let before = here.keeper.task(&here.owner, &one.task_id).await?;
    if before.done.is_some() {
        let notes = vec!["it was marked as done already".to_owned()];
        return Ok(Answer { data: task(before, &times), notes });
    }
    let done = Change::Set(times.now().timestamp());
    mark(&here, &one.task_id, done, &times).await
}

pub(super) async fn reopen(here: Here, one: One) -> Result<Answer<TaskView>, ToolError> {
    let times = Times::new(&here.settings, None)?;
    let before = here.keeper.task(&here.owner, &one.task_id).await?;
    if before.done.is_none() {
        let notes = vec!["it was open already".to_owned()];
        return Ok(Answer { data: task(before, &times), notes });
    }
    mark(&here, &one.task_id, Change::Clear, &times).await
}

async fn mark(
    here: &Here,
    id: &str,
    done: Change<jiff::Timestamp>,
    times: &Times,
) -> Result<Answer<TaskView>, ToolError> {
    let change = TaskChange { done, ..TaskChange::default() };
    let after = here.keeper.change(&here.owner, id, change).await?;
    Ok(task(after, times).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Update {
    /// Id of the task.
    #[schemars(length(min = 1, max = 1024))]
    task_id: String,
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(min = 1, max = 500))]
    title: Option<String>,
    #[serde(default, deserialize_with = "change")]
    #[schemars(with = "Option<String>", length(max = 8000))]
    notes: Change<String>,
    /// Until when: `Friday`, `tomorrow 5pm`, `2026-01-21`; null for no day.
    #[serde(default, deserialize_with = "change")]
    #[schemars(with = "Option<String>", length(min = 1, max = 200))]
    due: Change<String>,
    /// IANA time zone of `due`; the user's if not set.
    #[schemars(length(min = 1, max = 64))]
    timezone: Option<String>,
}

pub(super) async fn update(here: Here, update: Update) -> Result<Answer<TaskView>, ToolError> {
    let times = Times::new(&here.settings, update.timezone.as_deref())?;
    let mut notes = Vec::new();
    let due = match &update.due {
        Change::Keep => Change::Keep,
        Change::Clear => Change::Clear,
        Change::Set(text) => {
            let (due, said) = times.due(text)?;
            notes = said;
            Change::Set(due)
        }
    };
    let change = TaskChange {
        title: update.title.as_deref().map(|title| line("title", title)).transpose()?,
        notes: emptied(update.notes),
        due,
        done: Change::Keep,
    };
    if change == TaskChange::default() {
        return Err(ToolError::told("nothing would change: give what is to be different"));
    }
    let after = here.keeper.change(&here.owner, &update.task_id, change).await?;
    Ok(Answer { data: task(after, &times), notes })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateList {
    #[schemars(length(min = 1, max = 200))]
    name: String,
}

pub(super) async fn create_list(
    here: Here,
    list: CreateList,
) -> Result<Answer<ListView>, ToolError> {
    let name = line("name", &list.name)?;
    Ok(ListView::from(here.keeper.add_list(&here.owner, &name).await?).into())
}

pub(super) async fn delete(here: Here, one: One) -> Result<Answer<Deleted>, ToolError> {
    let One { task_id: id } = one;
    let before = here.keeper.task(&here.owner, &id).await?;
    here.keeper.remove(&here.owner, &id).await?;
    Ok(Deleted::new(id, before.title).into())
}

/// `Delete the task *Water the plants*, due Tue 24 Nov 2026`.
pub(super) async fn delete_words(here: Here, one: One) -> Result<String, ToolError> {
    let times = Times::new(&here.settings, None)?;
    let before = here.keeper.task(&here.owner, &one.task_id).await?;
    let due = before.due.map(|due| format!(", due {}", times.say_due(&due)));
    let done = if before.done.is_some() { ", which is done" } else { "" };
    let title = quoting::title(&before.title);
    Ok(format!("Delete the task {title}{}{done}", due.unwrap_or_default()))
}
