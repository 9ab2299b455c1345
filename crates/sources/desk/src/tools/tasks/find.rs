//! Looking at tasks.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::view::{TaskListView, TaskView, task};
use super::{TasksCall, list_id};
use crate::backend::TaskQuery;
use crate::tools::quoting::plain;
use crate::tools::times::CallClock;
use crate::tools::tool::{DataAnswer, ListAnswer};

/// Characters of notes in a list.
const EXCERPT: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTasksArguments {
    /// Id or name of a list; all if not set.
    #[schemars(length(min = 1, max = 1024))]
    list: Option<String>,
    #[serde(default)]
    status: TaskStatusFilter,
    /// Only what is due on this day or before: `today`, `Friday`, `2026-01-21`.
    #[schemars(length(min = 1, max = 200))]
    due_by: Option<String>,
    /// Words that must all be there, case aside.
    #[schemars(length(min = 1, max = 500))]
    query: Option<String>,
    /// How many.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// `next` of the call before, with all other arguments as they were.
    #[schemars(length(min = 1, max = 4096))]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TaskStatusFilter {
    #[default]
    Open,
    Done,
    All,
}

fn twenty() -> usize {
    20
}

pub(super) async fn list(
    here: TasksCall,
    wish: ListTasksArguments,
) -> Result<ListAnswer<TaskView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let (due_by, mut notes) = match &wish.due_by {
        Some(text) => {
            let (day, notes) = times.day("due_by", text)?;
            (Some(day), notes)
        }
        None => (None, Vec::new()),
    };
    let query = TaskQuery {
        list: list_id(&here, wish.list.as_deref()).await?,
        done: match wish.status {
            TaskStatusFilter::Open => Some(false),
            TaskStatusFilter::Done => Some(true),
            TaskStatusFilter::All => None,
        },
        due_by,
        text: wish.query,
        limit: wish.limit,
        cursor: wish.cursor,
    };
    let mut page = here.keeper.tasks(&here.owner, query).await?;
    notes.append(&mut page.unread);
    let short = page.items.into_iter().map(|mut one| {
        one.notes = one.notes.map(|notes| plain(&notes, EXCERPT));
        task(one, &times)
    });
    Ok(ListAnswer { data: short.collect(), notes, next: page.next })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTaskListsArguments {}

pub(super) async fn lists(
    here: TasksCall,
    _: ListTaskListsArguments,
) -> Result<DataAnswer<Vec<TaskListView>>, ToolError> {
    let known = here.keeper.lists(&here.owner).await?;
    Ok(known.into_iter().map(TaskListView::from).collect::<Vec<_>>().into())
}
