//! The tools of tasks.

mod change;
mod find;
mod view;

use std::sync::Arc;

use toolcrib_core::{Effect, ToolError};

use super::tool::{BackendCall, DeskToolContext, DeskToolInfo, DeskToolsResult, asked, tool};
use crate::backend::TasksBackend;
use crate::time_settings::DeskTimeSettings;
use crate::tools::fields::named;

/// Who keeps tasks, for one call.
type TasksCall = BackendCall<dyn TasksBackend>;

const CATEGORY: &str = "tasks";

pub(crate) fn tools(
    keeper: Arc<dyn TasksBackend>,
    settings: &Arc<DeskTimeSettings>,
) -> DeskToolsResult {
    let at = DeskToolContext { keeper, settings: Arc::clone(settings) };
    Ok(vec![
        tool(&LIST, &at, find::list)?,
        tool(&LISTS, &at, find::lists)?,
        tool(&CREATE, &at, change::create)?,
        tool(&COMPLETE, &at, change::complete)?,
        tool(&REOPEN, &at, change::reopen)?,
        tool(&UPDATE, &at, change::update)?,
        tool(&CREATE_LIST, &at, change::create_list)?,
        asked(&DELETE, &at, (change::delete, change::delete_words))?,
    ])
}

const READER: DeskToolInfo = DeskToolInfo { category: CATEGORY, ..DeskToolInfo::READER };
const WRITER: DeskToolInfo = DeskToolInfo { effect: Effect::Write, idempotent: false, ..READER };

const LIST: DeskToolInfo = DeskToolInfo {
    name: "list_tasks",
    actions: &["list", "search", "read"],
    summary: "List open tasks, or find tasks by list, due day or words",
    description: "Lists tasks, those that are due first before the others; open ones unless \
                  another status is asked for. Use it for what is to be done, what is due by a \
                  day, and for the id of a task before changing it.",
    ..READER
};

const LISTS: DeskToolInfo = DeskToolInfo {
    name: "list_task_lists",
    actions: &["list", "read"],
    summary: "List the lists of tasks there are, the default first",
    description: "Lists the lists of tasks with their names and ids; new tasks go to the first \
                  unless another is named. Use it when the user speaks of a particular list.",
    ..READER
};

const CREATE: DeskToolInfo = DeskToolInfo {
    name: "create_task",
    actions: &["create", "write"],
    summary: "Create a task with a title, notes and a due day",
    description: "Creates a task. Use it for what the user has to do and not to be reminded of at \
                  a place in the calendar. Some keepers of tasks keep the day alone of a due time.",
    ..WRITER
};

const COMPLETE: DeskToolInfo = DeskToolInfo {
    name: "mark_task_complete",
    actions: &["update", "write"],
    idempotent: true,
    summary: "Mark a task as done by its id",
    description: "Marks a task as done; one that is done already stays as it is. Use it when the \
                  user has done something, and `mark_task_incomplete` to take it back.",
    ..WRITER
};

const REOPEN: DeskToolInfo = DeskToolInfo {
    name: "mark_task_incomplete",
    actions: &["update", "write"],
    idempotent: true,
    summary: "Open a task again that was marked as done",
    description: "Opens a task again; one that is open stays as it is. Use it when something was \
                  marked as done by mistake or is to be done once more.",
    ..WRITER
};

const UPDATE: DeskToolInfo = DeskToolInfo {
    name: "update_task",
    actions: &["update", "write"],
    idempotent: true,
    summary: "Change the title, notes or due day of a task",
    description: "Changes what is given of a task; null clears its notes or its due day. Use it to \
                  rename or postpone a task, and `mark_task_complete` when it is done.",
    ..WRITER
};

const CREATE_LIST: DeskToolInfo = DeskToolInfo {
    name: "create_task_list",
    actions: &["create", "write"],
    summary: "Create another list for tasks",
    description: "Creates an empty list for tasks. Use it when the user wants to keep some tasks \
                  apart; the name must not be taken yet.",
    ..WRITER
};

const DELETE: DeskToolInfo = DeskToolInfo {
    name: "delete_task",
    actions: &["delete", "write"],
    effect: Effect::Destroy,
    summary: "Delete a task for good by its id",
    description: "Deletes a task for good. Use it when the user wants a task gone that was not \
                  done, and `mark_task_complete` for what was; the user is asked before.",
    ..WRITER
};

/// A list that was named by id or name.
async fn list_id(here: &TasksCall, said: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(said) = said else { return Ok(None) };
    let known = here.keeper.lists(&here.owner).await?;
    let found = named("list", said, &known, |one| (&one.id, &one.name))?;
    Ok(Some(found.id.clone()))
}
