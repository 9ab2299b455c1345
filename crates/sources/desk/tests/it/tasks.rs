//! Tasks through their tools.

use serde_json::json;

use crate::room::{Room, column, nameless};

#[tokio::test]
async fn a_task_is_created_completed_opened_again_and_deleted() {
    let room = Room::new();
    let arguments = json!({"title": "Water the plants", "due": "tomorrow"});
    let created = room.done("create_task", arguments).await;
    let id = created["data"]["id"].as_str().unwrap().to_owned();
    let open = json!({
        "id": "*", "title": "Water the plants", "due": "2026-11-23", "when": "Mon 23 Nov 2026",
        "done": false, "list": "*",
    });
    assert_eq!(nameless(created), json!({ "data": open }));
    let one = json!({"task_id": id});
    let completed = room.done("mark_task_complete", one.clone()).await;
    let mut done = open.clone();
    done["done"] = json!(true);
    done["done_at"] = json!("2026-11-22T15:07:30+01:00");
    assert_eq!(nameless(completed), json!({ "data": done }));
    let again = room.done("mark_task_complete", one.clone()).await;
    assert_eq!(nameless(again), json!({"data": done, "notes": ["it was marked as done already"]}));
    assert_eq!(room.done("list_tasks", json!({})).await, json!({ "data": [] }));
    let listed = room.done("list_tasks", json!({"status": "done"})).await;
    assert_eq!(nameless(listed), json!({ "data": [done] }));
    let opened = room.done("mark_task_incomplete", one.clone()).await;
    assert_eq!(nameless(opened), json!({ "data": open }));
    let again = room.done("mark_task_incomplete", one.clone()).await;
    assert_eq!(nameless(again), json!({"data": open, "notes": ["it was open already"]}));
    let (ticket, words) = room.asked("delete_task", one.clone()).await;
    let asked =
        "Delete the task *Water the plants*, due Mon 23 Nov 2026 \u{2014} it may destroy data";
    assert_eq!(words, asked);
    room.approve(&ticket).await.unwrap();
    let gone = room.outcome("mark_task_complete", one).await;
    assert!(gone["tool"].as_str().unwrap().starts_with("there is no task"), "{gone}");
}

#[tokio::test]
async fn tasks_are_listed_by_due_time_list_words_and_status() {
    let room = Room::new();
    let work = room.made("create_task_list", json!({"name": "Work"})).await;
    let tasks = [
        json!({"title": "No hurry"}),
        json!({"title": "Pay rent", "due": "2026-12-01"}),
        json!({"title": "Call Bob", "due": "tomorrow 5pm", "notes": "about the rent"}),
        json!({"title": "Slides", "due": "Friday", "list": "work"}),
    ];
    for task in tasks {
        room.done("create_task", task).await;
    }
    let rows = [
        (json!({}), vec!["Call Bob", "Slides", "Pay rent", "No hurry"]),
        (json!({"due_by": "Friday"}), vec!["Call Bob", "Slides"]),
        (json!({"due_by": "this week"}), vec![]),
        (json!({"list": "Work"}), vec!["Slides"]),
        (json!({"list": work}), vec!["Slides"]),
        (json!({"query": "RENT"}), vec!["Call Bob", "Pay rent"]),
        (json!({"status": "all", "limit": 1}), vec!["Call Bob"]),
        (json!({"status": "done"}), vec![]),
    ];
    for (arguments, titles) in rows {
        let listed = room.done("list_tasks", arguments.clone()).await;
        assert_eq!(column(&listed, "title"), titles, "{arguments}");
    }
    let first = room.done("list_tasks", json!({"limit": 3})).await;
    let rest = room.done("list_tasks", json!({"limit": 3, "cursor": first["next"]})).await;
    assert_eq!(column(&rest, "title"), ["No hurry"]);
    let lists = room.done("list_task_lists", json!({})).await;
    assert_eq!(column(&lists, "name").last(), Some(&"Work"));
}

#[tokio::test]
async fn a_due_time_that_has_passed_or_repeats_is_told_or_refused() {
    let room = Room::new();
    let late = room.done("create_task", json!({"title": "Late", "due": "yesterday"})).await;
    assert_eq!(late["notes"], json!(["Sat 21 Nov 2026 is in the past"]));
    let arguments = json!({"title": "Often", "due": "every Monday"});
    let refused = room.outcome("create_task", arguments).await;
    let message = "`due` cannot repeat: give one day or time, such as `next Monday`";
    assert_eq!(refused, json!({ "tool": message }));
    let exact = room.done("create_task", json!({"title": "Soon", "due": "in 30 minutes"})).await;
    assert_eq!(exact["data"]["due"], json!("2026-11-22T15:37:00+01:00"));
}

#[tokio::test]
async fn a_list_of_a_name_that_is_taken_is_not_made_twice() {
    let room = Room::new();
    room.done("create_task_list", json!({"name": "Work"})).await;
    let again = room.outcome("create_task_list", json!({"name": "Work"})).await;
    assert!(again.get("tool").is_some(), "{again}");
    let empty = room.outcome("create_task_list", json!({"name": " "})).await;
    assert_eq!(empty, json!({"tool": "`name` is empty: say something there"}));
}
