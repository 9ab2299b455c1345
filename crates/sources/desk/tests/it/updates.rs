//! Changes: what is absent stays, what is null is cleared.

use serde_json::{Value, json};

use crate::room::{Room, column, nameless};

const REVIEW: &str = "Tue 24 Nov 2026 14:00 to 15:30";

/// The id of an event with all its fields.
async fn review(room: &Room) -> String {
    let arguments = json!({
        "title": "Review", "start": "2026-11-24T14:00", "duration": "90 min",
        "description": "Numbers", "location": "Room 1",
    });
    room.made("add_calendar_event", arguments).await
}

fn whole(changed: &Value) -> Value {
    let mut event = json!({
        "id": "*", "title": "Review", "when": REVIEW,
        "start": "2026-11-24T14:00:00+01:00", "end": "2026-11-24T15:30:00+01:00",
        "zone": "Europe/Zurich", "all_day": false, "calendar": "*",
        "location": "Room 1", "description": "Numbers", "busy": true,
    });
    for (field, value) in changed.as_object().unwrap() {
        if value.is_null() {
            event.as_object_mut().unwrap().remove(field);
        } else {
            event[field] = value.clone();
        }
    }
    event
}

#[tokio::test]
async fn an_absent_field_stays_and_a_null_clears() {
    let rows = [
        (json!({"title": "Budget"}), json!({"title": "Budget"})),
        (json!({"description": null}), json!({"description": null})),
        (json!({"description": ""}), json!({"description": null})),
        (
            json!({"location": "Room 2", "description": null}),
            json!({"location": "Room 2", "description": null}),
        ),
        (json!({"location": null}), json!({"location": null})),
        (json!({"busy": false}), json!({"busy": false})),
        (
            json!({"start": "3pm"}),
            json!({
                "when": "Tue 24 Nov 2026 15:00 to 16:30",
                "start": "2026-11-24T15:00:00+01:00", "end": "2026-11-24T16:30:00+01:00",
            }),
        ),
        (
            json!({"start": "tomorrow 2pm"}),
            json!({
                "when": "Mon 23 Nov 2026 14:00 to 15:30",
                "start": "2026-11-23T14:00:00+01:00", "end": "2026-11-23T15:30:00+01:00",
            }),
        ),
        (
            json!({"end": "3pm"}),
            json!({"when": "Tue 24 Nov 2026 14:00 to 15:00", "end": "2026-11-24T15:00:00+01:00"}),
        ),
        (
            json!({"duration": "30 min"}),
            json!({"when": "Tue 24 Nov 2026 14:00 to 14:30", "end": "2026-11-24T14:30:00+01:00"}),
        ),
        (
            json!({"start": "2026-11-26"}),
            json!({
                "when": "Thu 26 Nov 2026 (all day)", "start": "2026-11-26", "end": "2026-11-26",
                "zone": null, "all_day": true,
            }),
        ),
    ];
    for (mut arguments, changed) in rows {
        let room = Room::new();
        let id = review(&room).await;
        arguments["event_id"] = json!(id);
        let after = room.done("update_calendar_event", arguments.clone()).await;
        assert_eq!(nameless(after["data"].clone()), whole(&changed), "{arguments}");
        let kept = room.done("get_calendar_event", json!({"event_id": id})).await;
        assert_eq!(kept["data"], after["data"], "{arguments}");
    }
}

#[tokio::test]
async fn what_cannot_be_empty_is_not_cleared() {
    let room = Room::new();
    let id = review(&room).await;
    for field in ["title", "start", "busy"] {
        let arguments = json!({"event_id": id, field: null});
        let refused = room.outcome("update_calendar_event", arguments).await;
        // A null where none may be is taken as absent.
        let message = "nothing would change: give what is to be different";
        assert_eq!(refused, json!({ "tool": message }), "{field}");
    }
    let refused =
        room.outcome("update_calendar_event", json!({"event_id": id, "title": "  "})).await;
    assert_eq!(refused, json!({"tool": "`title` is empty: say something there"}));
    let refused = room.outcome("update_calendar_event", json!({"event_id": id})).await;
    assert_eq!(refused, json!({"tool": "nothing would change: give what is to be different"}));
    let refused =
        room.outcome("update_calendar_event", json!({"event_id": id, "start": "2pm"})).await;
    assert_eq!(refused, json!({"tool": "nothing would change: give what is to be different"}));
}

#[tokio::test]
async fn one_repetition_is_moved_by_its_id_and_all_by_the_id_of_the_series() {
    let room = Room::new();
    let arguments = json!({"title": "Standup", "start": "every Monday at 9", "duration": "15 min"});
    room.done("add_calendar_event", arguments).await;
    let listed = room.done("list_calendar_events", json!({"limit": 3})).await;
    let (second, series) = (column(&listed, "id")[1], column(&listed, "series")[0]);
    room.done("update_calendar_event", json!({"event_id": second, "start": "10am"})).await;
    let list = async || {
        let listed = room.done("list_calendar_events", json!({"limit": 3})).await;
        column(&listed, "when").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        list().await,
        [
            "Mon 23 Nov 2026 09:00 to 09:15",
            "Mon 30 Nov 2026 10:00 to 10:15",
            "Mon 7 Dec 2026 09:00 to 09:15",
        ]
    );
    let arguments = json!({"event_id": second, "repeat": "every Friday"});
    let refused = room.outcome("update_calendar_event", arguments).await;
    let message = "`repeat` is of several repetitions: give `following` or `all` as the `scope`";
    assert_eq!(refused, json!({ "tool": message }));
    let arguments = json!({"event_id": series, "repeat": null});
    let single = room.done("update_calendar_event", arguments).await;
    assert_eq!(single["data"].get("repeats"), None);
    assert_eq!(list().await, ["Mon 23 Nov 2026 09:00 to 09:15"]);
}

#[tokio::test]
async fn an_event_with_guests_is_changed_only_after_a_person_was_asked() {
    let room = Room::new();
    let arguments = json!({
        "title": "Review", "start": "2026-11-24T14:00", "duration": "90 min",
        "guests": ["Bob Low <bob@example.org>", "eve@example.org"],
    });
    let id = room.made("schedule_meeting", arguments).await;
    let refused =
        room.outcome("update_calendar_event", json!({"event_id": id, "title": "It"})).await;
    let message = "this event has guests, who would be told: use `update_meeting` for it";
    assert_eq!(refused, json!({ "tool": message }));
    let arguments = json!({
        "event_id": id, "start": "3pm", "add_guests": ["joe@example.org", "BOB@example.org"],
        "remove_guests": ["eve@example.org", "zoe@example.org"],
    });
    let (ticket, words) = room.asked("update_meeting", arguments).await;
    let asked = format!(
        "Change *Review*, {REVIEW}, 2 guests: move to Tue 24 Nov 2026 15:00 to 16:30; invite \
         joe@example.org; uninvite eve@example.org \u{2014} the people invited will be told"
    );
    assert_eq!(words, asked);
    let changed = room.approve(&ticket).await.unwrap();
    let changed: Value = serde_json::from_str(&changed.text()).unwrap();
    assert_eq!(changed["notes"], json!(["`zoe@example.org` was no guest"]));
    let guests = json!([
        {"address": "bob@example.org", "name": "Bob Low", "reply": "waiting"},
        {"address": "joe@example.org", "reply": "waiting"},
    ]);
    assert_eq!(changed["data"]["guests"], guests);
    assert_eq!(changed["data"]["when"], json!("Tue 24 Nov 2026 15:00 to 16:30"));
}

#[tokio::test]
async fn an_all_day_event_gets_a_time_on_its_day_and_keeps_its_days_otherwise() {
    let room = Room::new();
    let arguments = json!({"title": "Fair", "start": "2026-11-25", "duration": "3 days"});
    let id = room.made("add_calendar_event", arguments).await;
    let rows = [
        (json!({"start": "2026-12-01"}), "Tue 1 Dec 2026 to Thu 3 Dec 2026 (all day)"),
        (json!({"end": "2026-12-02"}), "Tue 1 Dec 2026 to Wed 2 Dec 2026 (all day)"),
        (json!({"duration": "1 day"}), "Tue 1 Dec 2026 (all day)"),
        (json!({"start": "10am"}), "Tue 1 Dec 2026 10:00 to 11:00"),
    ];
    for (mut arguments, when) in rows {
        arguments["event_id"] = json!(id);
        let after = room.done("update_calendar_event", arguments.clone()).await;
        assert_eq!(after["data"]["when"], json!(when), "{arguments}");
    }
}

#[tokio::test]
async fn a_task_keeps_what_is_absent_and_loses_what_is_null() {
    let rows = [
        (json!({"title": "Buy bread"}), json!({"title": "Buy bread"})),
        (json!({"notes": null}), json!({"notes": null})),
        (json!({"due": null}), json!({"due": null, "when": null})),
        (json!({"due": "Friday"}), json!({"due": "2026-11-27", "when": "Fri 27 Nov 2026"})),
    ];
    for (mut arguments, changed) in rows {
        let room = Room::new();
        let new = json!({"title": "Buy milk", "notes": "Two", "due": "tomorrow"});
        let id = room.made("create_task", new).await;
        arguments["task_id"] = json!(id);
        let after = room.done("update_task", arguments.clone()).await;
        let mut expected = json!({
            "id": "*", "title": "Buy milk", "notes": "Two", "due": "2026-11-23",
            "when": "Mon 23 Nov 2026", "done": false, "list": "*",
        });
        for (field, value) in changed.as_object().unwrap() {
            expected[field] = value.clone();
        }
        expected.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        assert_eq!(nameless(after), json!({ "data": expected }), "{arguments}");
    }
}
