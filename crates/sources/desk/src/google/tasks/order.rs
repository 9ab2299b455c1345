//! Which tasks, in which order, in pages: Google orders them by hand.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::civil::Date;

use crate::backend::{BackendError, BackendErrorKind, BackendPage, Task, TaskDue, TaskQuery};

/// Where a task stands among others: open ones first, then by day (without one last), then by id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TaskPosition {
    is_done: bool,
    due: Date,
    id: String,
}

fn day(task: &Task) -> Option<Date> {
    match task.due.as_ref()? {
        TaskDue::Day(day) => Some(*day),
        TaskDue::At(at) => Some(at.date()),
    }
}

impl TaskPosition {
    fn of(task: &Task) -> Self {
        let due = day(task).unwrap_or(Date::MAX);
        Self { is_done: task.done.is_some(), due, id: task.id.clone() }
    }

    pub(super) fn read(cursor: &str) -> Result<Self, BackendError> {
        let text = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let read = |text: &str| {
            let mut parts = text.splitn(3, ' ');
            let is_done = parts.next()? == "done";
            Some(Self { is_done, due: parts.next()?.parse().ok()?, id: parts.next()?.to_owned() })
        };
        let unknown = || {
            BackendError::new(BackendErrorKind::Invalid, "this cursor is none of ours: start anew")
        };
        text.as_deref().and_then(read).ok_or_else(unknown)
    }
}

impl fmt::Display for TaskPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_done { "done" } else { "open" };
        let text = format!("{state} {} {}", self.due, self.id);
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(text))
    }
}

pub(super) fn is_asked_for(task: &Task, query: &TaskQuery) -> bool {
    let has_state = query.done.is_none_or(|done| done == task.done.is_some());
    let in_time = query.due_by.is_none_or(|bound| day(task).is_some_and(|day| day <= bound));
    let notes = task.notes.as_deref().unwrap_or_default();
    let text = format!("{} {notes}", task.title).to_lowercase();
    let asked = query.text.as_deref().unwrap_or_default().to_lowercase();
    has_state && in_time && asked.split_whitespace().all(|word| text.contains(word))
}

pub(super) fn page(
    tasks: impl Iterator<Item = Task>,
    after: Option<&TaskPosition>,
    limit: usize,
) -> BackendPage<Task> {
    let keyed = tasks.map(|task| (TaskPosition::of(&task), task));
    let mut rest: Vec<_> = keyed.filter(|(key, _)| after.is_none_or(|it| key > it)).collect();
    rest.sort_by(|(one, _), (other, _)| one.cmp(other));
    let is_more = rest.len() > limit;
    rest.truncate(limit);
    let next = rest.last().filter(|_| is_more).map(|(key, _)| key.to_string());
    BackendPage {
        items: rest.into_iter().map(|(_, task)| task).collect(),
        next,
        unread: Vec::new(),
    }
}
