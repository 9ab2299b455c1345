//! The tools of tasks.

mod change;
mod find;
mod view;

use std::sync::Arc;

use toolcrib_core::{Effect, ToolError};

use super::tool::{About, At, Tools, Turn, asked, tool};
use crate::backend::Tasks;
use crate::source::Settings;
use crate::tools::fields::named;

/// Who keeps tasks, for one call.
type Here = Turn<dyn Tasks>;

const CATEGORY: &str = "tasks";

pub(crate) fn tools(keeper: Arc<dyn Tasks>, settings: &Arc<Settings>) -> Tools {
    let at = At { keeper, settings: Arc::clone(settings) };
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

const READER: About = About { category: CATEGORY, ..About::READER };
const WRITER: About = About { effect: Effect::Write, idempotent: false, ..READER };

const LIST: About = About {
    name: "list_tasks",
    actions: &["list", "search", "read"],
    summary: "List open tasks, or find tasks by list, due day or words",
    description: "Lists tasks, those that are due first before the others; open ones unless \
                  another status is asked for. Use it for what is to be done, what is due by a \
                  day, and for the id of a task before changing it.",
    ..READER
};

const LISTS: About = About {
    name: "list_task_lists",
    actions: &["list", "read"],
    summary: "List the lists of tasks there are, the default first",
    description: "Lists the lists of tasks with their names and ids; new tasks go to the first \
                  unless another is named. Use it when the user speaks of a particular list.",
    ..READER
};

const CREATE: About = About {
    name: "create_task",
    actions: &["create", "write"],
    summary: "Create a task with a title, notes and a due day",
    description: "Creates a task. Use it for what the user has to do and not to be reminded of at \
                  a place in the calendar. Some keepers of tasks keep the day alone of a due time.",
    ..WRITER
};

const COMPLETE: About = About {
    name: "mark_task_complete",
    actions: &["update", "write"],
    idempotent: true,
    summary: "Mark a task as done by its id",
    description: "Marks a task as done; one that is done already stays as it is. Use it when the \
                  user has done something, and `mark_task_incomplete` to take it back.",
    ..WRITER
};

const REOPEN: About = About {
    name: "mark_task_incomplete",
    actions: &["update", "write"],
    idempotent: true,
    summary: "Open a task again that was marked as done",
    description: "Opens a task again; one that is open stays as it is. Use it when something was \
                  marked as done by mistake or is to be done once more.",
    ..WRITER
};

const UPDATE: About = About {
    name: "update_task",
    actions: &["update", "write"],
    idempotent: true,
    summary: "Change the title, notes or due day of a task",
    description: "Changes what is given of a task; null clears its notes or its due day. Use it to \
                  rename or postpone a task, and `mark_task_complete` when it is done.",
    ..WRITER
};

const CREATE_LIST: About = About {
    name: "create_task_list",
    actions: &["create", "write"],
    summary: "Create another list for tasks",
    description: "Creates an empty list for tasks. Use it when the user wants to keep some tasks \
                  apart; the name must not be taken yet.",
    ..WRITER
};

const DELETE: About = About {
    name: "delete_task",
    actions: &["delete", "write"],
    effect: Effect::Destroy,
    summary: "Delete a task for good by its id",
    description: "Deletes a task for good. Use it when the user wants a task gone that was not \
                  done, and `mark_task_complete` for what was; the user is asked before.",
    ..WRITER
};

/// A list that was named by id or name.
async fn list_id(here: &Here, said: Option<&str>) -> Result<Option<String>, ToolError> {
    let Some(said) = said else { return Ok(None) };
    let known = here.keeper.lists(&here.owner).await?;
    let found = named("list", said, &known, |one| (&one.id, &one.name))?;
    Ok(Some(found.id.clone()))
}
