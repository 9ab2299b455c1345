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

use super::client::{Api, Ask};
use super::error::{broken, missing};
use super::{Doing, Google, few};
use crate::backend::{
    Change, Due, Fault, FaultKind, NewTask, Page, Task, TaskChange, TaskList, TaskQuery, Tasks,
};

/// Google's name for the list that is there from the beginning.
const DEFAULT: &str = "@default";
/// Pages of 100 tasks in one list, and of 100 lists.
const MOST_PAGES: usize = 20;

#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>", rename_all = "camelCase")]
struct Listing<T> {
    #[serde(default = "Vec::new")]
    items: Vec<T>,
    #[serde(default)]
    next_page_token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WiredList {
    id: String,
    title: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WiredTask {
    id: String,
    title: Option<String>,
    notes: Option<String>,
    due: Option<String>,
    status: Option<String>,
    completed: Option<String>,
    updated: Option<String>,
    deleted: bool,
}

impl WiredTask {
    pub(super) fn task(self, list: &str) -> Result<Task, Fault> {
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
            due: due.map(Due::Day),
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
fn midnight(due: &Due) -> String {
    let day = match due {
        Due::Day(day) => *day,
        Due::At(at) => at.date(),
    };
    format!("{day}T00:00:00.000Z")
}

impl Google {
    async fn all_lists(&self) -> Result<Vec<TaskList>, Fault> {
        let mut all = Vec::new();
        let mut page: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let ask = Ask::get(Api::Tasks, LISTS)
                .with("maxResults", "100")
                .maybe("pageToken", page.take());
            let listing: Listing<WiredList> = self.wire().ask(ask).await?;
            let lists = listing.items.into_iter().filter(|it| !it.id.is_empty());
            all.extend(lists.map(|it| TaskList { id: it.id, name: it.title.unwrap_or_default() }));
            page = listing.next_page_token.filter(|token| !token.is_empty());
            if page.is_none() {
                return Ok(all);
            }
        }
        Err(too_many("lists of tasks"))
    }

    async fn tasks_of(&self, list: &str, query: &TaskQuery) -> Result<Vec<Task>, Fault> {
        let mut all = Vec::new();
        let mut page: Option<String> = None;
        let shows_done = query.done != Some(false);
        // Two days later, since nothing says whether the bound is part of it; we look again.
        let due = query.due_by.and_then(|day| day.tomorrow().ok()?.tomorrow().ok());
        for _ in 0..MOST_PAGES {
            let ask = Ask::get(Api::Tasks, &path(list, None))
                .with("maxResults", "100")
                .with("showCompleted", shows_done.to_string())
                .with("showHidden", shows_done.to_string())
                .maybe("dueMax", due.map(|day| midnight(&Due::Day(day))))
                .maybe("pageToken", page.take());
            let listing: Result<Listing<WiredTask>, Fault> = self.wire().ask(ask).await;
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

    async fn tasks_found(&self, query: TaskQuery) -> Result<Page<Task>, Fault> {
        let after = query.cursor.as_deref().map(order::Key::read).transpose()?;
        let lists = match &query.list {
            Some(list) => vec![list.clone()],
            None => self.all_lists().await?.into_iter().map(|list| list.id).collect(),
        };
        let asked = lists.iter().map(|list| self.tasks_of(list, &query)).collect();
        let all = few(asked).await?.into_iter().flatten();
        Ok(order::page(all, after.as_ref(), query.limit))
    }

    async fn one_task(&self, id: &str) -> Result<Task, Fault> {
        let (list, task) = place(id);
        let wired: Result<WiredTask, Fault> =
            self.wire().ask(Ask::get(Api::Tasks, &path(list, Some(task)))).await;
        let wired = wired.map_err(|fault| missing(fault, "task", id))?;
        if wired.deleted { Err(Fault::no("task", id)) } else { wired.task(list) }
    }

    async fn task_added(&self, task: NewTask) -> Result<Task, Fault> {
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
        let ask = Ask::post(Api::Tasks, &path(&list, None), Value::Object(body));
        let wired: Result<WiredTask, Fault> = self.wire().ask(ask).await;
        wired.map_err(|fault| missing(fault, "list", &list))?.task(&list).map_err(unreadable)
    }

    async fn task_changed(&self, id: &str, change: TaskChange) -> Result<Task, Fault> {
        let TaskChange { title, notes, due, done } = change;
        let (list, task) = place(id);
        let mut body = Map::new();
        if let Some(title) = title {
            body.insert("title".to_owned(), json!(title));
        }
        let mut put = |name: &str, change: Change<String>| match change {
            Change::Keep => {}
            Change::Clear => drop(body.insert(name.to_owned(), Value::Null)),
            Change::Set(text) => drop(body.insert(name.to_owned(), json!(text))),
        };
        put("notes", notes);
        put("due", due.map(|due| midnight(&due)));
        let status = match done {
            Change::Keep => None,
            Change::Clear => Some("needsAction"),
            Change::Set(_) => Some("completed"),
        };
        put("completed", done.map(|at| at.to_string()));
        if let Some(status) = status {
            body.insert("status".to_owned(), json!(status));
        }
        let ask = Ask::patch(Api::Tasks, &path(list, Some(task)), Value::Object(body));
        let wired: Result<WiredTask, Fault> = self.wire().ask(ask).await;
        wired.map_err(|fault| missing(fault, "task", id))?.task(list).map_err(unreadable)
    }

    async fn list_added(&self, name: &str) -> Result<TaskList, Fault> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Fault::new(FaultKind::Invalid, "a list needs a name"));
        }
        let is_same = |list: &TaskList| list.name.to_lowercase() == name.to_lowercase();
        if self.all_lists().await?.iter().any(is_same) {
            let message = format!("there is a list `{name}` already: use it, or take another name");
            return Err(Fault::new(FaultKind::Conflict, message));
        }
        let ask = Ask::post(Api::Tasks, LISTS, json!({ "title": name }));
        let list: WiredList = self.wire().ask(ask).await?;
        if list.id.is_empty() {
            return Err(unreadable(broken("a list without an id")));
        }
        Ok(TaskList { id: list.id, name: list.title.unwrap_or_default() })
    }
}

fn too_many(what: &str) -> Fault {
    let message = format!("Google gives more than {MOST_PAGES} pages of {what}: name one list");
    Fault::new(FaultKind::Broken, message)
}

/// It was written, and what is said of it cannot be read.
fn unreadable(fault: Fault) -> Fault {
    Fault { kind: FaultKind::Unknown, ..fault }
}

impl<T> Change<T> {
    fn map<U>(self, to: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Keep => Change::Keep,
            Self::Clear => Change::Clear,
            Self::Set(value) => Change::Set(to(value)),
        }
    }
}

impl Tasks for Google {
    fn lists<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<TaskList>, Fault>> {
        Box::pin(self.within(Doing::Reading, self.all_lists()))
    }

    fn add_list<'a>(&'a self, _: &'a str, name: &'a str) -> BoxFuture<'a, Result<TaskList, Fault>> {
        Box::pin(self.within(Doing::Writing, self.list_added(name)))
    }

    fn tasks<'a>(
        &'a self,
        _: &'a str,
        query: TaskQuery,
    ) -> BoxFuture<'a, Result<Page<Task>, Fault>> {
        Box::pin(self.within(Doing::Reading, self.tasks_found(query)))
    }

    fn task<'a>(&'a self, _: &'a str, id: &'a str) -> BoxFuture<'a, Result<Task, Fault>> {
        Box::pin(self.within(Doing::Reading, self.one_task(id)))
    }

    fn add<'a>(&'a self, _: &'a str, task: NewTask) -> BoxFuture<'a, Result<Task, Fault>> {
        Box::pin(self.within(Doing::Writing, self.task_added(task)))
    }

    fn change<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
        change: TaskChange,
    ) -> BoxFuture<'a, Result<Task, Fault>> {
        Box::pin(self.within(Doing::Writing, self.task_changed(id, change)))
    }

    fn remove<'a>(&'a self, _: &'a str, id: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(self.within(Doing::Writing, async move {
            let (list, task) = place(id);
            let ask = Ask::new(Method::DELETE, Api::Tasks, &path(list, Some(task)));
            self.wire().tell(ask).await.map_err(|fault| missing(fault, "task", id))
        }))
    }
}
