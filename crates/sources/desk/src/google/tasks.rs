//! Tasks v1: <https://developers.google.com/workspace/tasks/reference/rest>.
//!
//! An id of ours is that of the list, a `/`, and that of the task. Google keeps the day alone that
//! a task is due.

mod order;

use http::Method;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolcrib_core::BoxFuture;

use super::client::{GoogleApi, GoogleRequest};
use super::error::{broken, missing};
use super::{GoogleBackend, GoogleOperationEffect, few};
use crate::backend::{
    BackendError, BackendErrorKind, BackendPage, FieldChange, NewTask, Task, TaskChange, TaskDue,
    TaskList, TaskQuery, TasksBackend,
};

/// Google's name for the list that is there from the beginning.
const DEFAULT: &str = "@default";
/// Pages of 100 tasks in one list, and of 100 lists.
const MOST_PAGES: usize = 20;

#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>", rename_all = "camelCase")]
struct GoogleTasksPage<T> {
    #[serde(default = "Vec::new")]
    items: Vec<T>,
    #[serde(default)]
    next_page_token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GoogleTaskList {
    id: String,
    title: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct GoogleTask {
    id: String,
    title: Option<String>,
    notes: Option<String>,
    due: Option<String>,
    status: Option<String>,
    completed: Option<String>,
    updated: Option<String>,
    deleted: bool,
}

impl GoogleTask {
    pub(super) fn task(self, list: &str) -> Result<Task, BackendError> {
        if self.id.is_empty() || self.id.contains('/') {
            return Err(broken("a task without an id"));
        }
        let moment = |text: &Option<String>| text.as_deref().and_then(|it| it.parse().ok());
        let due = self.due.as_deref().and_then(|due| due.get(..10)).map(str::parse::<Date>);
        let due = due.transpose().map_err(|cause| broken("a day that is none").because(cause))?;
        let is_done = self.status.as_deref() == Some("completed");
        let done: Option<Timestamp> = moment(&self.completed).or_else(|| moment(&self.updated));
        Ok(Task {
            id: format!("{list}/{}", self.id),
            list: list.to_owned(),
            title: self.title.unwrap_or_default(),
            notes: self.notes.filter(|notes| !notes.is_empty()),
            due: due.map(TaskDue::Day),
            done: is_done.then(|| done.unwrap_or(Timestamp::UNIX_EPOCH)),
        })
    }
}

/// List and task of an id of ours.
fn place(id: &str) -> (&str, &str) {
    id.split_once('/').unwrap_or((DEFAULT, id))
}

fn path<'a>(list: &'a str, task: Option<&'a str>) -> Vec<&'a str> {
    ["tasks", "v1", "lists", list, "tasks"].into_iter().chain(task).collect()
}

const LISTS: &[&str] = &["tasks", "v1", "users", "@me", "lists"];

/// The day at its midnight, as Google wants it.
fn midnight(due: &TaskDue) -> String {
    let day = match due {
        TaskDue::Day(day) => *day,
        TaskDue::At(at) => at.date(),
    };
    format!("{day}T00:00:00.000Z")
}

impl GoogleBackend {
    async fn all_lists(&self) -> Result<Vec<TaskList>, BackendError> {
        let mut all = Vec::new();
        let mut page: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let ask = GoogleRequest::get(GoogleApi::Tasks, LISTS)
                .with("maxResults", "100")
                .maybe("pageToken", page.take());
            let listing: GoogleTasksPage<GoogleTaskList> = self.wire().ask(ask).await?;
            let lists = listing.items.into_iter().filter(|it| !it.id.is_empty());
            all.extend(lists.map(|it| TaskList { id: it.id, name: it.title.unwrap_or_default() }));
            page = listing.next_page_token.filter(|token| !token.is_empty());
            if page.is_none() {
                return Ok(all);
            }
        }
        Err(too_many("lists of tasks"))
    }

    async fn tasks_of(&self, list: &str, query: &TaskQuery) -> Result<Vec<Task>, BackendError> {
        let mut all = Vec::new();
        let mut page: Option<String> = None;
        let shows_done = query.done != Some(false);
        // Two days later, since nothing says whether the bound is part of it; we look again.
        let due = query.due_by.and_then(|day| day.tomorrow().ok()?.tomorrow().ok());
        for _ in 0..MOST_PAGES {
            let ask = GoogleRequest::get(GoogleApi::Tasks, &path(list, None))
                .with("maxResults", "100")
                .with("showCompleted", shows_done.to_string())
                .with("showHidden", shows_done.to_string())
                .maybe("dueMax", due.map(|day| midnight(&TaskDue::Day(day))))
                .maybe("pageToken", page.take());
            let listing: Result<GoogleTasksPage<GoogleTask>, BackendError> =
                self.wire().ask(ask).await;
            let listing = listing.map_err(|fault| missing(fault, "list", list))?;
            for wired in listing.items.into_iter().filter(|it| !it.deleted) {
                let task = wired.task(list)?;
                if order::is_asked_for(&task, query) {
                    all.push(task);
                }
            }
            page = listing.next_page_token.filter(|token| !token.is_empty());
            if page.is_none() {
                return Ok(all);
            }
        }
        Err(too_many("tasks in one list"))
    }

    async fn tasks_found(&self, query: TaskQuery) -> Result<BackendPage<Task>, BackendError> {
        let after = query.cursor.as_deref().map(order::TaskPosition::read).transpose()?;
        let lists = match &query.list {
            Some(list) => vec![list.clone()],
            None => self.all_lists().await?.into_iter().map(|list| list.id).collect(),
        };
        let asked = lists.iter().map(|list| self.tasks_of(list, &query)).collect();
        let all = few(asked).await?.into_iter().flatten();
        Ok(order::page(all, after.as_ref(), query.limit))
    }

    async fn one_task(&self, id: &str) -> Result<Task, BackendError> {
        let (list, task) = place(id);
        let wired: Result<GoogleTask, BackendError> =
            self.wire().ask(GoogleRequest::get(GoogleApi::Tasks, &path(list, Some(task)))).await;
        let wired = wired.map_err(|fault| missing(fault, "task", id))?;
        if wired.deleted { Err(BackendError::no("task", id)) } else { wired.task(list) }
    }

    async fn task_added(&self, task: NewTask) -> Result<Task, BackendError> {
        let list = if let Some(list) = task.list {
            list
        } else {
            let first = self.all_lists().await?.into_iter().next();
            first.ok_or_else(|| broken("no list of tasks"))?.id
        };
        let mut body = Map::new();
        body.insert("title".to_owned(), json!(task.title));
        if let Some(notes) = task.notes {
            body.insert("notes".to_owned(), json!(notes));
        }
        if let Some(due) = &task.due {
            body.insert("due".to_owned(), json!(midnight(due)));
        }
        let ask = GoogleRequest::post(GoogleApi::Tasks, &path(&list, None), Value::Object(body));
        let wired: Result<GoogleTask, BackendError> = self.wire().ask(ask).await;
        wired.map_err(|fault| missing(fault, "list", &list))?.task(&list).map_err(unreadable)
    }

    async fn task_changed(&self, id: &str, change: TaskChange) -> Result<Task, BackendError> {
        let TaskChange { title, notes, due, done } = change;
        let (list, task) = place(id);
        let mut body = Map::new();
        if let Some(title) = title {
            body.insert("title".to_owned(), json!(title));
        }
        let mut put = |name: &str, change: FieldChange<String>| match change {
            FieldChange::Keep => {}
            FieldChange::Clear => drop(body.insert(name.to_owned(), Value::Null)),
            FieldChange::Set(text) => drop(body.insert(name.to_owned(), json!(text))),
        };
        put("notes", notes);
        put("due", due.map(|due| midnight(&due)));
        let status = match done {
            FieldChange::Keep => None,
            FieldChange::Clear => Some("needsAction"),
            FieldChange::Set(_) => Some("completed"),
        };
        put("completed", done.map(|at| at.to_string()));
        if let Some(status) = status {
            body.insert("status".to_owned(), json!(status));
        }
        let ask =
            GoogleRequest::patch(GoogleApi::Tasks, &path(list, Some(task)), Value::Object(body));
        let wired: Result<GoogleTask, BackendError> = self.wire().ask(ask).await;
        wired.map_err(|fault| missing(fault, "task", id))?.task(list).map_err(unreadable)
    }

    async fn list_added(&self, name: &str) -> Result<TaskList, BackendError> {
        let name = name.trim();
        if name.is_empty() {
            return Err(BackendError::new(BackendErrorKind::Invalid, "a list needs a name"));
        }
        let is_same = |list: &TaskList| list.name.to_lowercase() == name.to_lowercase();
        if self.all_lists().await?.iter().any(is_same) {
            let message = format!("there is a list `{name}` already: use it, or take another name");
            return Err(BackendError::new(BackendErrorKind::Conflict, message));
        }
        let ask = GoogleRequest::post(GoogleApi::Tasks, LISTS, json!({ "title": name }));
        let list: GoogleTaskList = self.wire().ask(ask).await?;
        if list.id.is_empty() {
            return Err(unreadable(broken("a list without an id")));
        }
        Ok(TaskList { id: list.id, name: list.title.unwrap_or_default() })
    }
}

fn too_many(what: &str) -> BackendError {
    let message = format!("Google gives more than {MOST_PAGES} pages of {what}: name one list");
    BackendError::new(BackendErrorKind::Broken, message)
}

/// It was written, and what is said of it cannot be read.
fn unreadable(fault: BackendError) -> BackendError {
    BackendError { kind: BackendErrorKind::Unknown, ..fault }
}

impl<T> FieldChange<T> {
    fn map<U>(self, to: impl FnOnce(T) -> U) -> FieldChange<U> {
        match self {
            Self::Keep => FieldChange::Keep,
            Self::Clear => FieldChange::Clear,
            Self::Set(value) => FieldChange::Set(to(value)),
        }
    }
}

impl TasksBackend for GoogleBackend {
    fn lists<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<TaskList>, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, self.all_lists()))
    }

    fn add_list<'a>(
        &'a self,
        _: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<TaskList, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.list_added(name)))
    }

    fn tasks<'a>(
        &'a self,
        _: &'a str,
        query: TaskQuery,
    ) -> BoxFuture<'a, Result<BackendPage<Task>, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, self.tasks_found(query)))
    }

    fn task<'a>(&'a self, _: &'a str, id: &'a str) -> BoxFuture<'a, Result<Task, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, self.one_task(id)))
    }

    fn add<'a>(&'a self, _: &'a str, task: NewTask) -> BoxFuture<'a, Result<Task, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.task_added(task)))
    }

    fn change<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
        change: TaskChange,
    ) -> BoxFuture<'a, Result<Task, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.task_changed(id, change)))
    }

    fn remove<'a>(&'a self, _: &'a str, id: &'a str) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, async move {
            let (list, task) = place(id);
            let ask = GoogleRequest::new(Method::DELETE, GoogleApi::Tasks, &path(list, Some(task)));
            self.wire().tell(ask).await.map_err(|fault| missing(fault, "task", id))
        }))
    }
}
