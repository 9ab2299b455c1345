//! Tasks: their whole life, their order, lists.

use jiff::Timestamp;
use toolcrib_desk::backend::{
    BackendErrorKind, FieldChange, NewTask, Task, TaskChange, TaskDue, TaskQuery, TasksBackend,
};

use super::{Account, at, kind};

fn task(title: &str, due: Option<TaskDue>) -> NewTask {
    NewTask { list: None, title: title.to_owned(), notes: None, due }
}

fn day(day: &str) -> TaskDue {
    TaskDue::Day(day.parse().unwrap())
}

fn all() -> TaskQuery {
    TaskQuery { limit: 100, ..TaskQuery::default() }
}

async fn add(account: &Account, task: NewTask) -> Task {
    TasksBackend::add(&account.google, "", task).await.unwrap()
}

async fn titles(account: &Account, query: TaskQuery) -> Vec<String> {
    let page = account.google.tasks("", query).await.unwrap();
    page.items.into_iter().map(|task| task.title).collect()
}

#[tokio::test]
async fn a_task_is_added_completed_reopened_and_removed() {
    let account = Account::open();
    let lists = account.google.lists("").await.unwrap();
    assert_eq!(lists[0].name, "My Tasks");
    let evening = TaskDue::At(at("2026-11-24 20:00"));
    let wanted = NewTask { notes: Some("Two\nlines".to_owned()), ..task("Milk", Some(evening)) };
    let added = add(&account, wanted).await;
    let expected = Task {
        id: added.id.clone(),
        list: lists[0].id.clone(),
        title: "Milk".to_owned(),
        notes: Some("Two\nlines".to_owned()),
        // Google keeps the day alone.
        due: Some(day("2026-11-24")),
        done: None,
    };
    assert_eq!(added, expected);
    assert_eq!(account.google.task("", &added.id).await.unwrap(), expected);

    let time: Timestamp = "2026-11-23T10:00:00Z".parse().unwrap();
    let done = TaskChange { done: FieldChange::Set(time), ..TaskChange::default() };
    let completed = TasksBackend::change(&account.google, "", &added.id, done).await.unwrap();
    assert_eq!(completed, Task { done: Some(time), ..expected.clone() });
    assert_eq!(titles(&account, TaskQuery { done: Some(false), ..all() }).await, [""; 0]);
    assert_eq!(titles(&account, TaskQuery { done: Some(true), ..all() }).await, ["Milk"]);

    let reopen = TaskChange {
        title: Some("Oat milk".to_owned()),
        notes: FieldChange::Clear,
        due: FieldChange::Clear,
        done: FieldChange::Clear,
    };
    let reopened = TasksBackend::change(&account.google, "", &added.id, reopen).await.unwrap();
    let title = "Oat milk".to_owned();
    assert_eq!(reopened, Task { title, notes: None, due: None, ..expected });

    TasksBackend::remove(&account.google, "", &added.id).await.unwrap();
    assert_eq!(titles(&account, all()).await, [""; 0]);
    for id in [added.id.as_str(), "nothing", "", "a/b", "../x"] {
        let change = TaskChange { title: Some("x".to_owned()), ..TaskChange::default() };
        assert_eq!(kind(account.google.task("", id).await), BackendErrorKind::NotFound, "{id}");
        let changed = TasksBackend::change(&account.google, "", id, change).await;
        assert_eq!(kind(changed), BackendErrorKind::NotFound, "{id}");
        let removed = TasksBackend::remove(&account.google, "", id).await;
        assert_eq!(kind(removed), BackendErrorKind::NotFound, "{id}");
    }
    account.close();
}

#[tokio::test]
async fn tasks_of_all_lists_stand_in_one_order_over_all_pages() {
    let account = Account::open();
    let garden = account.google.add_list("", "Garden").await.unwrap();
    add(&account, task("someday", None)).await;
    add(&account, task("on the day", Some(day("2026-11-24")))).await;
    let list = Some(garden.id.clone());
    let notes = Some("The APPLE tree".to_owned());
    let prune = add(&account, NewTask { list, notes, ..task("prune", Some(day("2026-11-23"))) });
    assert_eq!(prune.await.list, garden.id);
    let done = add(&account, task("long done", Some(day("2026-01-01")))).await;
    let change = TaskChange { done: FieldChange::Set(Timestamp::now()), ..TaskChange::default() };
    TasksBackend::change(&account.google, "", &done.id, change).await.unwrap();
    let expected = ["prune", "on the day", "someday", "long done"];
    assert_eq!(titles(&account, all()).await, expected);

    account.server.small_pages(1);
    let mut paged = Vec::new();
    let mut cursor = None;
    loop {
        let query = TaskQuery { limit: 3, cursor, ..all() };
        let page = account.google.tasks("", query).await.unwrap();
        paged.extend(page.items.into_iter().map(|task| task.title));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, expected);
    let of_list = TaskQuery { list: Some(garden.id), ..all() };
    assert_eq!(titles(&account, of_list).await, ["prune"]);
    let by = TaskQuery { due_by: Some("2026-11-23".parse().unwrap()), ..all() };
    assert_eq!(titles(&account, by).await, ["prune", "long done"]);
    let words = TaskQuery { text: Some("apple PRUNE".to_owned()), ..all() };
    assert_eq!(titles(&account, words).await, ["prune"]);
    let nowhere = TaskQuery { list: Some("no-such".to_owned()), ..all() };
    assert_eq!(kind(account.google.tasks("", nowhere).await), BackendErrorKind::NotFound);
    assert_eq!(kind(account.google.add_list("", "gardeN").await), BackendErrorKind::Conflict);
    assert_eq!(kind(account.google.add_list("", " ").await), BackendErrorKind::Invalid);
    account.close();
}
