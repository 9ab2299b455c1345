//! What keeps tasks.

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use toolcrib_core::BoxFuture;

use super::error::BackendError;
use super::field_change::FieldChange;
use super::page::BackendPage;

/// A keeper of tasks in lists.
pub trait TasksBackend: Send + Sync {
    /// The lists there are, the one that new tasks go to first.
    fn lists<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<TaskList>, BackendError>>;

    /// A new list; a name that is there already is `Conflict`.
    fn add_list<'a>(
        &'a self,
        owner: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<TaskList, BackendError>>;

    /// Open ones first, by due time (without one last), then by id.
    fn tasks<'a>(
        &'a self,
        owner: &'a str,
        query: TaskQuery,
    ) -> BoxFuture<'a, Result<BackendPage<Task>, BackendError>>;

    fn task<'a>(&'a self, owner: &'a str, id: &'a str)
    -> BoxFuture<'a, Result<Task, BackendError>>;

    fn add<'a>(
        &'a self,
        owner: &'a str,
        task: NewTask,
    ) -> BoxFuture<'a, Result<Task, BackendError>>;

    /// The task as it is afterwards.
    fn change<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: TaskChange,
    ) -> BoxFuture<'a, Result<Task, BackendError>>;

    fn remove<'a>(&'a self, owner: &'a str, id: &'a str)
    -> BoxFuture<'a, Result<(), BackendError>>;
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskList {
    pub id: String,
    pub name: String,
}

/// Until when a task is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskDue {
    Day(Date),
    /// A backend that keeps days alone keeps the day.
    At(Zoned),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    /// The id of its list.
    pub list: String,
    pub title: String,
    pub notes: Option<String>,
    pub due: Option<TaskDue>,
    /// When it was completed; `None` while it is open.
    pub done: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// The first of [`TasksBackend::lists`] if not set.
    pub list: Option<String>,
    pub title: String,
    pub notes: Option<String>,
    pub due: Option<TaskDue>,
}

/// What is not named stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskChange {
    pub title: Option<String>,
    pub notes: FieldChange<String>,
    pub due: FieldChange<TaskDue>,
    /// Completed at this time, or open again by `Clear`. A task that repeats goes on to its next
    /// time when it is completed, and is open.
    pub done: FieldChange<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskQuery {
    /// All lists if not set.
    pub list: Option<String>,
    /// Both if not set.
    pub done: Option<bool>,
    /// Due on this day or before.
    pub due_by: Option<Date>,
    /// Words that all must stand in title or notes, case aside.
    pub text: Option<String>,
    pub limit: usize,
    pub cursor: Option<String>,
}
