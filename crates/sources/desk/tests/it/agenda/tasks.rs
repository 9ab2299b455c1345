//! Tasks and their lists.

use jiff::Timestamp;
use toolcrib_desk::backend::{
    BackendErrorKind, FieldChange, NewTask, Task, TaskChange, TaskDue, TaskQuery,
};

use super::{OWNER, Subject, at, kind};

fn task(title: &str, due: Option<TaskDue>) -> NewTask {
    NewTask { list: None, title: title.to_owned(), notes: None, due }
}

fn day(day: &str) -> TaskDue {
    TaskDue::Day(day.parse().unwrap())
}

fn all() -> TaskQuery {
    TaskQuery { limit: 100, ..TaskQuery::default() }
}

async fn add(it: &Subject, task: NewTask) -> Task {
    it.tasks.add(OWNER, task).await.unwrap()
}

async fn titles(it: &Subject, query: TaskQuery) -> Vec<String> {
    let page = it.tasks.tasks(OWNER, query).await.unwrap();
    page.items.into_iter().map(|task| task.title).collect()
}

pub(crate) async fn a_task_is_added_completed_reopened_and_removed(it: &Subject) {
    let lists = it.tasks.lists(OWNER).await.unwrap();
    let new =
        NewTask { notes: Some("Two\nlines".into()), ..task("Buy milk", Some(day("2026-11-24"))) };
    let added = add(it, new).await;
    let expected = Task {
        id: added.id.clone(),
        list: lists[0].id.clone(),
        title: "Buy milk".to_owned(),
        notes: Some("Two\nlines".to_owned()),
        due: Some(day("2026-11-24")),
        done: None,
    };
    assert_eq!(added, expected);
    assert_eq!(it.tasks.task(OWNER, &added.id).await.unwrap(), expected);

    let time: Timestamp = "2026-11-23T10:00:00Z".parse().unwrap();
    let done = TaskChange { done: FieldChange::Set(time), ..TaskChange::default() };
    let completed = it.tasks.change(OWNER, &added.id, done).await.unwrap();
    assert_eq!(completed, Task { done: Some(time), ..expected.clone() });
    assert_eq!(titles(it, TaskQuery { done: Some(false), ..all() }).await, [""; 0]);
    assert_eq!(titles(it, TaskQuery { done: Some(true), ..all() }).await, ["Buy milk"]);

    let reopen = TaskChange {
        done: FieldChange::Clear,
        due: FieldChange::Set(TaskDue::At(at("2026-11-25 17:00"))),
        notes: FieldChange::Clear,
        title: Some("Buy oat milk".to_owned()),
    };
    let reopened = it.tasks.change(OWNER, &added.id, reopen).await.unwrap();
    assert_eq!((&reopened.done, &reopened.notes), (&None, &None));
    assert_eq!(reopened.due, Some(TaskDue::At(at("2026-11-25 17:00"))));
    assert_eq!(it.tasks.task(OWNER, &added.id).await.unwrap(), reopened);

    it.tasks.remove(OWNER, &added.id).await.unwrap();
    assert_eq!(titles(it, all()).await, [""; 0]);
}

pub(crate) async fn tasks_stand_in_the_order_of_their_due_time(it: &Subject) {
    add(it, task("someday", None)).await;
    add(it, task("on the day", Some(day("2026-11-24")))).await;
    add(it, task("in the evening", Some(TaskDue::At(at("2026-11-24 20:00"))))).await;
    add(it, task("the day before", Some(day("2026-11-23")))).await;
    let done = add(it, task("long done", Some(day("2026-01-01")))).await;
    let change = TaskChange { done: FieldChange::Set(Timestamp::now()), ..TaskChange::default() };
    it.tasks.change(OWNER, &done.id, change).await.unwrap();
    let expected = ["the day before", "in the evening", "on the day", "someday", "long done"];
    assert_eq!(titles(it, all()).await, expected);

    let mut paged = Vec::new();
    let mut cursor = None;
    loop {
        let query = TaskQuery { limit: 2, cursor, ..all() };
        let page = it.tasks.tasks(OWNER, query).await.unwrap();
        paged.extend(page.items.into_iter().map(|task| task.title));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, expected);
}

pub(crate) async fn tasks_are_found_by_list_day_and_words(it: &Subject) {
    let garden = it.tasks.add_list(OWNER, "Garden").await.unwrap();
    let in_garden = NewTask {
        list: Some(garden.id.clone()),
        notes: Some("The APPLE tree".to_owned()),
        ..task("Prune", Some(day("2026-11-30")))
    };
    let pruned = add(it, in_garden).await;
    assert_eq!(pruned.list, garden.id);
    add(it, task("Pay the rent", Some(day("2026-11-25")))).await;
    add(it, task("Read", None)).await;
    let of_list = TaskQuery { list: Some(garden.id.clone()), ..all() };
    assert_eq!(titles(it, of_list).await, ["Prune"]);
    let by = TaskQuery { due_by: Some("2026-11-25".parse().unwrap()), ..all() };
    assert_eq!(titles(it, by).await, ["Pay the rent"]);
    let words = TaskQuery { text: Some("apple prune".to_owned()), ..all() };
    assert_eq!(titles(it, words).await, ["Prune"]);
    let nowhere = TaskQuery { list: Some("no-such".to_owned()), ..all() };
    assert_eq!(kind(it.tasks.tasks(OWNER, nowhere).await), BackendErrorKind::NotFound);
}

pub(crate) async fn a_list_is_made_once(it: &Subject) {
    let first = it.tasks.lists(OWNER).await.unwrap();
    let made = it.tasks.add_list(OWNER, "Für später").await.unwrap();
    assert_eq!(made.name, "Für später");
    let again = it.tasks.add_list(OWNER, "für SPÄTER").await;
    assert_eq!(kind(again), BackendErrorKind::Conflict);
    let lists = it.tasks.lists(OWNER).await.unwrap();
    assert_eq!((lists.len(), lists.contains(&made)), (first.len() + 1, true));
    assert_eq!(lists[0], first[0]);
    assert_eq!(kind(it.tasks.add_list(OWNER, "  ").await), BackendErrorKind::Invalid);
}

pub(crate) async fn a_task_that_is_not_there_is_told_as_such(it: &Subject) {
    let change = TaskChange { title: Some("x".to_owned()), ..TaskChange::default() };
    for id in ["nothing", "", "a/b"] {
        assert_eq!(kind(it.tasks.task(OWNER, id).await), BackendErrorKind::NotFound);
        assert_eq!(
            kind(it.tasks.change(OWNER, id, change.clone()).await),
            BackendErrorKind::NotFound
        );
        assert_eq!(kind(it.tasks.remove(OWNER, id).await), BackendErrorKind::NotFound);
    }
}
