//! Free time between events.

use serde_json::{Value, json};

use crate::room::{Room, column};

async fn with(events: &[(&str, &str)]) -> Room {
    let room = Room::new();
    for (start, duration) in events {
        let arguments = json!({"title": "Taken", "start": start, "duration": duration});
        room.done("add_calendar_event", arguments).await;
    }
    room
}

async fn free(room: &Room, arguments: Value) -> Vec<String> {
    let found = room.done("find_free_slots", arguments).await;
    column(&found, "when").into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn events_cut_the_working_hours_into_what_is_free() {
    let room = with(&[
        ("2026-11-23T10:00", "1 hour"),
        ("2026-11-23T10:30", "1 hour"),
        ("2026-11-23T16:45", "1 hour"),
        ("2026-11-24T08:00", "10 hours"),
    ])
    .await;
    let arguments = json!({"from": "tomorrow", "until": "2026-11-25", "duration": "30 min"});
    let found = room.done("find_free_slots", arguments).await;
    let slot = |start: &str, end: &str, when: &str, minutes: u32| {
        json!({
            "when": when, "minutes": minutes,
            "start": format!("2026-11-{start}:00+01:00"), "end": format!("2026-11-{end}:00+01:00"),
        })
    };
    let expected = [
        slot("23T09:00", "23T10:00", "Mon 23 Nov 2026 09:00 to 10:00", 60),
        slot("23T11:30", "23T16:45", "Mon 23 Nov 2026 11:30 to 16:45", 315),
        slot("25T09:00", "25T17:00", "Wed 25 Nov 2026 09:00 to 17:00", 480),
    ];
    assert_eq!(found, json!({ "data": expected }));
}

#[tokio::test]
async fn a_week_from_now_is_looked_at_if_nothing_is_said() {
    let room = Room::new();
    room.set("2026-11-23T15:07:30+01:00");
    assert_eq!(
        free(&room, json!({})).await,
        [
            "Mon 23 Nov 2026 15:10 to 17:00",
            "Tue 24 Nov 2026 09:00 to 17:00",
            "Wed 25 Nov 2026 09:00 to 17:00",
            "Thu 26 Nov 2026 09:00 to 17:00",
            "Fri 27 Nov 2026 09:00 to 17:00",
            "Mon 30 Nov 2026 09:00 to 15:05",
        ]
    );
}

#[tokio::test]
async fn hours_days_and_length_are_those_that_are_asked_for() {
    let room = with(&[("2026-11-28T12:00", "1 hour"), ("2026-11-29", "1 day")]).await;
    let rows = [
        (
            json!({"from": "2026-11-28", "until": "2026-11-29", "days": ["sat", "sun"], "hours": "10:00-20:00"}),
            vec!["Sat 28 Nov 2026 10:00 to 12:00", "Sat 28 Nov 2026 13:00 to 20:00"],
        ),
        (
            json!({"from": "2026-11-28", "until": "2026-11-29", "days": ["sat", "sun"], "hours": "10:00-20:00", "duration": "3 hours"}),
            vec!["Sat 28 Nov 2026 13:00 to 20:00"],
        ),
        (json!({"from": "2026-11-28", "until": "2026-11-29"}), vec![]),
        (
            json!({"from": "2026-11-24", "until": "2026-11-25", "hours": "00:00-24:00"}),
            vec!["Tue 24 Nov 2026 00:00 to Thu 26 Nov 2026 00:00"],
        ),
    ];
    for (arguments, expected) in rows {
        assert_eq!(free(&room, arguments.clone()).await, expected, "{arguments}");
    }
    let wrong = room.outcome("find_free_slots", json!({"hours": "17:00-09:00"})).await;
    let message =
        "`hours` must be like `09:00-17:00`, the end after the start and `24:00` at the latest";
    assert_eq!(wrong, json!({ "tool": message }));
    let wrong = room.outcome("find_free_slots", json!({"until": "2027-11-01"})).await;
    assert_eq!(wrong, json!({"tool": "at most 92 days are looked at: ask for a shorter stretch"}));
}

#[tokio::test]
async fn whole_days_take_their_time_and_are_named() {
    let room = with(&[("2026-11-24", "1 day")]).await;
    let arguments = json!({"from": "2026-11-24", "until": "2026-11-25"});
    let found = room.done("find_free_slots", arguments).await;
    assert_eq!(column(&found, "when"), ["Wed 25 Nov 2026 09:00 to 17:00"]);
    assert_eq!(found["notes"], json!(["taken by whole days: *Taken*"]));
}

#[tokio::test]
async fn what_takes_no_time_is_free() {
    let room = Room::new();
    let arguments = json!({
        "title": "Reminder", "start": "2026-11-24T10:00", "duration": "1 hour", "busy": false,
    });
    room.done("add_calendar_event", arguments).await;
    let arguments = json!({"from": "2026-11-24"});
    assert_eq!(free(&room, arguments).await, ["Tue 24 Nov 2026 09:00 to 17:00"]);
}

#[tokio::test]
async fn a_night_in_which_the_clocks_change_is_as_long_as_it_is() {
    let room = Room::new();
    let rows = [("2027-03-28", 23 * 60), ("2026-10-25", 25 * 60), ("2026-11-28", 24 * 60)];
    for (day, minutes) in rows {
        let arguments = json!({
            "from": day, "hours": "00:00-24:00", "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
        });
        let found = room.done("find_free_slots", arguments).await;
        assert_eq!(found["data"][0]["minutes"], json!(minutes), "{day}: {found}");
    }
}

#[tokio::test]
async fn more_than_was_asked_for_is_told_as_left_out() {
    let room = Room::new();
    let arguments = json!({"from": "2026-11-23", "until": "2026-11-27", "limit": 2});
    let found = room.done("find_free_slots", arguments).await;
    assert_eq!(
        column(&found, "when"),
        ["Mon 23 Nov 2026 09:00 to 17:00", "Tue 24 Nov 2026 09:00 to 17:00"]
    );
    let notes = ["3 more left out: ask from a later time, or with a higher limit"];
    assert_eq!(found["notes"], json!(notes));
}
