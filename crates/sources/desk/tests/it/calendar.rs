//! Events through the tools of the calendar.

use serde_json::{Value, json};

use crate::room::{Room, column, nameless};

#[tokio::test]
async fn an_event_is_added_found_moved_and_deleted_after_a_person_was_asked() {
    let room = Room::new();
    let arguments = json!({"title": "Call Bob", "start": "tomorrow 2pm", "duration": "30 min"});
    let added = room.done("add_calendar_event", arguments).await;
    let id = added["data"]["id"].as_str().unwrap().to_owned();
    let event = |start: &str, end: &str, when: &str| {
        json!({
            "id": "*", "title": "Call Bob", "when": when,
            "start": start, "end": end, "zone": "Europe/Zurich", "all_day": false,
            "calendar": "*", "busy": true,
        })
    };
    let before = event(
        "2026-11-23T14:00:00+01:00",
        "2026-11-23T14:30:00+01:00",
        "Mon 23 Nov 2026 14:00 to 14:30",
    );
    assert_eq!(nameless(added), json!({ "data": before }));
    let found = room.done("search_calendar_events", json!({"query": "call bob"})).await;
    assert_eq!(nameless(found), json!({ "data": [before] }));
    let arguments = json!({"event_id": id, "start": "4pm"});
    let moved = room.done("update_calendar_event", arguments).await;
    let after = event(
        "2026-11-23T16:00:00+01:00",
        "2026-11-23T16:30:00+01:00",
        "Mon 23 Nov 2026 16:00 to 16:30",
    );
    assert_eq!(nameless(moved), json!({ "data": after }));
    let arguments = json!({"event_id": id});
    let (ticket, words) = room.asked("delete_calendar_event", arguments.clone()).await;
    let asked = "Delete *Call Bob*, Mon 23 Nov 2026 16:00 to 16:30 \u{2014} it may destroy data";
    assert_eq!(words, asked);
    let still = room.done("get_calendar_event", arguments.clone()).await;
    assert_eq!(nameless(still), json!({ "data": after }));
    let deleted = room.approve(&ticket).await.unwrap();
    assert_eq!(
        deleted.text(),
        json!({"data": {"id": id, "title": "Call Bob", "deleted": true}}).to_string()
    );
    let none = json!({ "data": [] });
    assert_eq!(room.done("search_calendar_events", json!({"query": "call bob"})).await, none);
    let gone = room.outcome("get_calendar_event", arguments).await;
    assert!(gone["tool"].as_str().unwrap().starts_with("there is no event"), "{gone}");
}

/// Adds events, each with how its time is told.
async fn added(room: &Room, rows: impl IntoIterator<Item = (Value, &str)>) {
    for (mut arguments, when) in rows {
        arguments["title"] = json!("It");
        let added = room.done("add_calendar_event", arguments.clone()).await;
        assert_eq!(added["data"]["when"], json!(when), "{arguments}");
    }
}

#[tokio::test]
async fn times_are_read_as_they_were_said() {
    let rows = [
        (json!({"start": "tomorrow 2pm"}), "Mon 23 Nov 2026 14:00 to 15:00"),
        (json!({"start": "in 2 hours", "duration": "2h30m"}), "Sun 22 Nov 2026 17:07 to 19:37"),
        (json!({"start": "in 30 minutes"}), "Sun 22 Nov 2026 15:37 to 16:37"),
        (json!({"start": "Friday at 14h"}), "Fri 27 Nov 2026 14:00 to 15:00"),
        (json!({"start": "last Monday at 10"}), "Mon 16 Nov 2026 10:00 to 11:00"),
        (
            json!({"start": "tomorrow end of day", "duration": "half an hour"}),
            "Mon 23 Nov 2026 17:00 to 17:30",
        ),
        (json!({"start": "tomorrow 2pm to 3:30pm"}), "Mon 23 Nov 2026 14:00 to 15:30"),
        (
            json!({"start": "next Tuesday at noon", "end": "1:30pm"}),
            "Tue 24 Nov 2026 12:00 to 13:30",
        ),
        (
            json!({"start": "2026-11-25T10:00", "end": "2026-11-25T11:00"}),
            "Wed 25 Nov 2026 10:00 to 11:00",
        ),
        (
            json!({"start": "Friday 10pm", "end": "Saturday 2am"}),
            "Fri 27 Nov 2026 22:00 to Sat 28 Nov 2026 02:00",
        ),
        (
            json!({"start": "2026-11-25T10:00", "timezone": "America/New_York"}),
            "Wed 25 Nov 2026 10:00 to 11:00 America/New_York",
        ),
    ];
    added(&Room::new(), rows).await;
}

#[tokio::test]
async fn whole_days_are_days_and_stand_before_the_hours_of_a_day() {
    let room = Room::new();
    let rows = [
        (json!({"start": "the last Friday of March"}), "Fri 26 Mar 2027 (all day)"),
        (json!({"start": "this weekend"}), "Sat 21 Nov 2026 to Sun 22 Nov 2026 (all day)"),
        (
            json!({"start": "tomorrow", "duration": "1 week"}),
            "Mon 23 Nov 2026 to Sun 29 Nov 2026 (all day)",
        ),
        (json!({"start": "2026-11-25"}), "Wed 25 Nov 2026 (all day)"),
        (
            json!({"start": "2026-11-25", "end": "2026-11-26"}),
            "Wed 25 Nov 2026 to Thu 26 Nov 2026 (all day)",
        ),
        (json!({"start": "2026-11-25T10:00"}), "Wed 25 Nov 2026 10:00 to 11:00"),
    ];
    added(&room, rows).await;
    let day = json!({"from": "2026-11-25", "until": "2026-11-25"});
    let listed = room.done("list_calendar_events", day).await;
    let starts = ["2026-11-23", "2026-11-25", "2026-11-25", "2026-11-25T10:00:00+01:00"];
    assert_eq!(column(&listed, "start"), starts);
}

#[tokio::test]
async fn nights_and_weekends_are_those_that_people_mean() {
    let room = Room::new();
    let rows = [
        (json!({"start": "tonight at 2am"}), "Mon 23 Nov 2026 02:00 to 03:00", json!(null)),
        (
            json!({"start": "every Friday night at 1am"}),
            "Sat 28 Nov 2026 01:00 to 02:00",
            json!("every Saturday"),
        ),
        (
            json!({"start": "weekends at 6pm"}),
            "Sun 22 Nov 2026 18:00 to 19:00",
            json!("every Sat and Sun"),
        ),
        (
            json!({"start": "next Saturday at 10", "repeat": "weekends"}),
            "Sat 28 Nov 2026 10:00 to 11:00",
            json!("every Sat and Sun"),
        ),
        (
            json!({"start": "next Saturday at 10", "repeat": "every other weekend"}),
            "Sat 28 Nov 2026 10:00 to 11:00",
            json!("every other week on Sat and Sun"),
        ),
        (
            json!({"start": "2026-11-29", "repeat": "weekends"}),
            "Sun 29 Nov 2026 (all day)",
            json!("every Sat and Sun"),
        ),
        (
            json!({"start": "next weekend", "repeat": "weekends"}),
            "Sat 28 Nov 2026 to Sun 29 Nov 2026 (all day)",
            json!("every Saturday"),
        ),
    ];
    for (mut arguments, when, repeats) in rows {
        arguments["title"] = json!("It");
        let added = room.done("add_calendar_event", arguments.clone()).await;
        assert_eq!(added["data"]["when"], json!(when), "{arguments}");
        assert_eq!(added["data"]["repeats"], repeats, "{arguments}");
    }
}

#[tokio::test]
async fn what_was_decided_about_a_time_is_told() {
    let room = Room::new();
    let rows = [
        (json!({"start": "tomorrow 2pm"}), json!(["it lasts one hour, since no end was said"])),
        (json!({"start": "tomorrow 2pm", "duration": "1 hour"}), json!(null)),
        (
            json!({"start": "yesterday", "duration": "1 day"}),
            json!(["Sat 21 Nov 2026 (all day) is in the past"]),
        ),
        (
            json!({"start": "last Friday", "duration": "1 day"}),
            json!([
                "`last Friday` was taken as Fri 20 Nov 2026 and not as Fri 13 Nov 2026",
                "Fri 20 Nov 2026 (all day) is in the past",
            ]),
        ),
        (
            json!({"start": "2027-03-28T02:30", "duration": "30 min"}),
            json!([
                "the clock never shows 02:30 on Sun 28 Mar 2027 in Europe/Zurich: 03:30 was taken"
            ]),
        ),
        (
            json!({"start": "2027-10-31T02:30", "duration": "30 min"}),
            json!(["02:30 comes twice on Sun 31 Oct 2027 in Europe/Zurich: the first (+02) was \
                    taken, say `2027-10-31T02:30:00+01:00` for the second"]),
        ),
        (
            json!({"start": "2026-11-25T09:00", "repeat": "every Friday", "duration": "1h"}),
            json!(["the first one is on Fri 27 Nov 2026"]),
        ),
    ];
    for (mut arguments, notes) in rows {
        arguments["title"] = json!("It");
        let added = room.done("add_calendar_event", arguments.clone()).await;
        assert_eq!(added["notes"], notes, "{arguments}");
    }
}

#[tokio::test]
async fn a_time_that_makes_no_sense_is_refused_with_the_cure() {
    let room = Room::new();
    let rows = [
        (
            json!({"start": "tomorrow 2pm", "end": "1pm"}),
            "the end (Mon 23 Nov 2026 13:00) is not after the start (Mon 23 Nov 2026 14:00): say its day too, or a `duration`",
        ),
        (
            json!({"start": "2026-11-25", "end": "2026-11-24"}),
            "the last day (Tue 24 Nov 2026) is before the first (Wed 25 Nov 2026): give a later one",
        ),
        (
            json!({"start": "tomorrow 2pm", "end": "3pm", "duration": "1 hour"}),
            "`end` and `duration` say the same: give one of them",
        ),
        (
            json!({"start": "2026-11-25", "duration": "30 min"}),
            "`start` is a whole day, so `duration` must be whole days: say at what time it starts, or `2 days`",
        ),
        (
            json!({"start": "tomorrow 2pm", "end": "Wednesday"}),
            "`start` has a time of day, so `end` must have one: say it like `Friday 3pm`, or give a `duration`",
        ),
        (
            json!({"start": "every Monday at 9", "repeat": "every Tuesday"}),
            "`start` repeats (every Monday) and so does `repeat`: say it once",
        ),
        (
            json!({"start": "tomorrow 2pm", "timezone": "Mars/Olympus"}),
            "`Mars/Olympus` is no known time zone: write an IANA name such as `Europe/Zurich`",
        ),
    ];
    for (mut arguments, message) in rows {
        arguments["title"] = json!("It");
        let refused = room.outcome("add_calendar_event", arguments.clone()).await;
        assert_eq!(refused, json!({ "tool": message }), "{arguments}");
    }
    let arguments = json!({"title": "It", "start": "flurble", "duration": "abc"});
    let refused = room.outcome("add_calendar_event", arguments).await;
    assert!(refused["tool"].as_str().unwrap().starts_with("`start`: `flurble`"), "{refused}");
}

#[tokio::test]
async fn arguments_that_a_tool_does_not_have_are_refused() {
    let room = Room::new();
    let rows = [
        ("add_calendar_event", json!({"title": "It", "start": "today", "guests": ["a@b.org"]})),
        ("add_calendar_event", json!({"title": "It", "start": "today", "colour": "red"})),
        ("schedule_meeting", json!({"title": "It", "start": "today"})),
        ("schedule_meeting", json!({"title": "It", "start": "today", "guests": []})),
        ("add_calendar_event", json!({"start": "today"})),
        ("search_calendar_events", json!({"query": "It", "limit": 51})),
        ("list_calendar_events", json!({"limit": 0})),
        ("list_calendar_events", json!({"limit": 101})),
        ("find_free_slots", json!({"hours": "nine to five"})),
    ];
    for (tool, arguments) in rows {
        let refused = room.outcome(tool, arguments.clone()).await;
        assert!(refused.get("invalid_arguments").is_some(), "{tool} {arguments}: {refused}");
    }
}

#[tokio::test]
async fn a_recurrence_makes_a_series_whose_events_have_ids_of_their_own() {
    let room = Room::new();
    let arguments = json!({"title": "Standup", "start": "every Monday at 9", "duration": "15 min"});
    let added = room.done("add_calendar_event", arguments).await;
    assert_eq!(added["data"]["repeats"], json!("every Monday"));
    let listed = room.done("list_calendar_events", json!({"limit": 3})).await;
    assert_eq!(
        column(&listed, "when"),
        [
            "Mon 23 Nov 2026 09:00 to 09:15",
            "Mon 30 Nov 2026 09:00 to 09:15",
            "Mon 7 Dec 2026 09:00 to 09:15",
        ]
    );
    let ids = column(&listed, "id");
    let series = column(&listed, "series");
    assert!(series.iter().all(|one| *one == series[0]), "{series:?}");
    room.done("delete_calendar_event", json!({"event_id": ids[1]})).await;
    let left = room.done("list_calendar_events", json!({"limit": 2})).await;
    assert_eq!(
        column(&left, "when"),
        ["Mon 23 Nov 2026 09:00 to 09:15", "Mon 7 Dec 2026 09:00 to 09:15"]
    );
    room.done("delete_calendar_event", json!({"event_id": series[0]})).await;
    assert_eq!(room.done("list_calendar_events", json!({})).await, json!({ "data": [] }));
}

#[tokio::test]
async fn a_list_goes_on_page_by_page() {
    let room = Room::new();
    for day in 23..=27 {
        let arguments = json!({
            "title": format!("Day {day}"), "start": format!("2026-11-{day}T10:00"), "duration": "1h",
        });
        room.done("add_calendar_event", arguments).await;
    }
    let first = room.done("list_calendar_events", json!({"limit": 2})).await;
    assert_eq!(column(&first, "title"), ["Day 23", "Day 24"]);
    let arguments = json!({"limit": 2, "cursor": first["next"]});
    let second = room.done("list_calendar_events", arguments).await;
    assert_eq!(column(&second, "title"), ["Day 25", "Day 26"]);
    let arguments = json!({"limit": 2, "cursor": second["next"]});
    let third = room.done("list_calendar_events", arguments).await;
    assert_eq!(column(&third, "title"), ["Day 27"]);
    assert_eq!(third.get("next"), None);
}

#[tokio::test]
async fn a_phrase_of_days_is_the_whole_stretch() {
    let room = Room::new();
    for day in ["2026-11-22T16:00", "2026-11-23T23:00", "2026-11-28T12:00", "2026-12-30T12:00"] {
        let arguments = json!({"title": day, "start": day, "duration": "30 min"});
        room.done("add_calendar_event", arguments).await;
    }
    let rows = [
        (json!({}), vec!["2026-11-22T16:00", "2026-11-23T23:00", "2026-11-28T12:00"]),
        (json!({"from": "today"}), vec!["2026-11-22T16:00"]),
        (json!({"from": "tomorrow"}), vec!["2026-11-23T23:00"]),
        (json!({"from": "next week"}), vec!["2026-11-23T23:00", "2026-11-28T12:00"]),
        (
            json!({"from": "2026-11-23", "until": "2026-11-28"}),
            vec!["2026-11-23T23:00", "2026-11-28T12:00"],
        ),
        (json!({"from": "2026-12-01", "until": "2026-12-31"}), vec!["2026-12-30T12:00"]),
    ];
    for (arguments, titles) in rows {
        let listed = room.done("list_calendar_events", arguments.clone()).await;
        assert_eq!(column(&listed, "title"), titles, "{arguments}");
    }
    let wrong = room.outcome("list_calendar_events", json!({"until": "yesterday"})).await;
    let message = "`until` (Sun 22 Nov 2026 00:00) is not after `from` (Sun 22 Nov 2026 15:07:30): give a later day, as a date";
    assert_eq!(wrong, json!({ "tool": message }));
}

#[tokio::test]
async fn a_calendar_is_named_by_id_or_name() {
    let room = Room::new();
    let known = room.done("list_calendars", json!({})).await;
    let name = column(&known, "name")[0].to_uppercase();
    let arguments = json!({"title": "It", "start": "today 6pm", "calendar": name});
    let added = room.done("add_calendar_event", arguments).await;
    assert_eq!(added["data"]["calendar"], json!(column(&known, "id")[0]));
    let wrong = room.outcome("list_calendar_events", json!({"calendar": "Moon"})).await;
    let names = column(&known, "name").iter().map(|one| format!("`{one}`")).collect::<Vec<_>>();
    let message = format!("there is no calendar `Moon`; there are: {}", names.join(", "));
    assert_eq!(wrong, json!({ "tool": message }));
}

#[tokio::test]
async fn tenants_do_not_see_each_other() {
    let room = Room::new();
    room.done("add_calendar_event", json!({"title": "Mine", "start": "tomorrow"})).await;
    let other = room.of("bob@example.org");
    assert_eq!(other.done("list_calendar_events", json!({})).await, json!({ "data": [] }));
}
