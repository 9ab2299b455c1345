//! What a person is asked: all that would be done, and nothing that somebody else put there.

use serde_json::json;
use toolcrib_core::TicketError;

use crate::room::Room;

const DESTROYS: &str = " \u{2014} it may destroy data";
const TELLS: &str = " \u{2014} the people invited will be told";
const SENDS: &str = " \u{2014} what is sent cannot be taken back";

#[tokio::test]
async fn a_meeting_is_asked_about_with_its_guests_and_its_time() {
    let room = Room::new();
    let rows = [
        (
            json!({"title": "Review", "start": "2026-11-24T14:00", "duration": "1 hour", "guests": ["ann@example.org"]}),
            "Invite ann@example.org to *Review*, Tue 24 Nov 2026 14:00 to 15:00",
        ),
        (
            json!({"title": "Fair", "start": "2026-11-24", "guests": ["Bob <b@x.org>", "c@x.org", "B@X.org"]}),
            "Invite b@x.org, c@x.org to *Fair*, Tue 24 Nov 2026 (all day)",
        ),
        (
            json!({"title": "Choir", "start": "every Monday at 7pm", "duration": "2h", "guests": ["a@x.org", "b@x.org", "c@x.org", "d@x.org", "e@x.org", "f@x.org", "g@x.org"]}),
            "Invite a@x.org, b@x.org, c@x.org, d@x.org, e@x.org, 2 more to *Choir*, Mon 23 Nov 2026 19:00 to 21:00, every Monday",
        ),
    ];
    let elsewhere = json!({
        "title": "Call", "start": "2026-11-24T14:00", "end": "3pm",
        "timezone": "America/New_York", "guests": ["a@x.org"],
    });
    let words = "Invite a@x.org to *Call*, Tue 24 Nov 2026 14:00 to 15:00 America/New_York";
    let rows = rows.into_iter().chain([(elsewhere, words)]);
    for (arguments, words) in rows {
        let (_, asked) = room.asked("schedule_meeting", arguments.clone()).await;
        assert_eq!(asked, format!("{words}{TELLS}"), "{arguments}");
    }
}

#[tokio::test]
async fn what_is_asked_does_not_change_while_a_person_thinks() {
    let room = Room::new();
    let arguments = json!({"title": "It", "start": "in 2 hours", "guests": ["a@x.org"]});
    let refused = room.outcome("schedule_meeting", arguments).await;
    let message = "`start` would mean another time when the user has answered: write it as `2026-11-22T17:07:00+01:00`";
    assert_eq!(refused, json!({ "tool": message }));
    let arguments = json!({"title": "It", "start": "tomorrow 2pm", "guests": ["a@x.org"]});
    let (ticket, _) = room.asked("schedule_meeting", arguments.clone()).await;
    room.set("2026-11-22T15:59:00+01:00");
    assert!(room.approve(&ticket).await.is_ok());
    let (ticket, _) = room.asked("schedule_meeting", arguments).await;
    room.set("2026-11-23T00:01:00+01:00");
    let error = room.approve(&ticket).await.unwrap_err();
    let TicketError::Otherwise { now, .. } = error else { panic!("{error:?}") };
    assert_eq!(now, "Invite a@x.org to *It*, Tue 24 Nov 2026 14:00 to 15:00");
}

#[tokio::test]
async fn a_series_is_deleted_as_such_and_a_repetition_alone() {
    let room = Room::new();
    let arguments = json!({"title": "Standup", "start": "every Monday at 9", "duration": "15 min"});
    room.done("add_calendar_event", arguments).await;
    let listed = room.done("list_calendar_events", json!({"limit": 2})).await;
    let (one, all) = (&listed["data"][1]["id"], &listed["data"][1]["series"]);
    let (_, asked) = room.asked("delete_calendar_event", json!({"event_id": one})).await;
    let words =
        "Delete *Standup*, Mon 30 Nov 2026 09:00 to 09:15 (of its repetitions this one alone)";
    assert_eq!(asked, format!("{words}{DESTROYS}"));
    let (_, asked) = room.asked("delete_calendar_event", json!({"event_id": all})).await;
    let words =
        "Delete *Standup*, Mon 23 Nov 2026 09:00 to 09:15, and all its repetitions (every Monday)";
    assert_eq!(asked, format!("{words}{DESTROYS}"));
}

#[tokio::test]
async fn a_change_of_all_after_a_repetition_is_asked_about_as_such() {
    let room = Room::new();
    let arguments = json!({
        "title": "Review", "start": "every Monday at 9", "duration": "1 hour",
        "guests": ["bob@example.org"],
    });
    room.done("schedule_meeting", arguments).await;
    let listed = room.done("list_calendar_events", json!({"limit": 3})).await;
    let (second, series) = (&listed["data"][1]["id"], &listed["data"][1]["series"]);
    let change = json!({"event_id": second, "scope": "following", "start": "4pm"});
    let (ticket, asked) = room.asked("update_meeting", change).await;
    let words = "Change *Review*, Mon 30 Nov 2026 09:00 to 10:00, and all its repetitions after it \
                 (every Monday), 1 guest: move to Mon 30 Nov 2026 16:00 to 17:00";
    assert_eq!(asked, format!("{words}{TELLS}"));
    room.approve(&ticket).await.unwrap();
    let listed = room.done("list_calendar_events", json!({"limit": 3})).await;
    let whens: Vec<_> = listed["data"].as_array().unwrap().iter().map(|it| &it["when"]).collect();
    assert_eq!(
        whens,
        [
            "Mon 23 Nov 2026 09:00 to 10:00",
            "Mon 30 Nov 2026 16:00 to 17:00",
            "Mon 7 Dec 2026 16:00 to 17:00",
        ]
    );
    let (third, rest) = (&listed["data"][2]["id"], &listed["data"][2]["series"]);
    let delete = json!({"event_id": third, "scope": "following"});
    let (ticket, asked) = room.asked("delete_calendar_event", delete).await;
    let words = "Delete *Review*, Mon 7 Dec 2026 16:00 to 17:00, and all its repetitions after it \
                 (every Monday), 1 guest";
    assert_eq!(asked, format!("{words}{DESTROYS}"));
    room.approve(&ticket).await.unwrap();
    let left = room.done("list_calendar_events", json!({})).await;
    assert_eq!(left["data"].as_array().unwrap().len(), 2);
    let all = json!({"event_id": left["data"][1]["id"], "scope": "all"});
    let (_, asked) = room.asked("delete_calendar_event", all).await;
    assert!(asked.contains("and all its repetitions (every Monday until"), "{asked}");
    for (id, scope, message) in [
        (
            series,
            "this",
            "this is the id of a whole series: give that of one repetition, or `all` as the `scope`",
        ),
        (
            rest,
            "following",
            "this is the id of a whole series: give that of the repetition with which it begins",
        ),
    ] {
        let refused =
            room.outcome("delete_calendar_event", json!({"event_id": id, "scope": scope}));
        assert_eq!(refused.await, json!({ "tool": message }));
    }
}

#[tokio::test]
async fn a_title_cannot_fake_the_rest_of_a_question() {
    let room = Room::new();
    let long = "x".repeat(200);
    let rows = [
        (
            "a*, Tue 1 Jan 2030, 0 guests \u{2014} *b",
            r"*a\*, Tue 1 Jan 2030, 0 guests — \*b*".to_owned(),
        ),
        (r"back\*slash", r"*back\\\*slash*".to_owned()),
        ("hid\u{202e}den\u{200b}", "*hid\\u{202e}den\\u{200b}*".to_owned()),
        (long.as_str(), format!("*{}\u{2026}*", "x".repeat(80))),
    ];
    for (title, shown) in rows {
        let arguments = json!({"title": title, "start": "2026-11-24T14:00", "duration": "30 min"});
        let added = room.response("add_calendar_event", &arguments).await;
        let Some(content) = added.content() else { continue };
        let id = &content.structured.as_ref().unwrap()["data"]["id"];
        let (_, asked) = room.asked("delete_calendar_event", json!({"event_id": id})).await;
        assert_eq!(asked, format!("Delete {shown}, Tue 24 Nov 2026 14:00 to 14:30{DESTROYS}"));
    }
    let arguments = json!({"title": "two\nlines", "start": "2026-11-24T14:00"});
    let refused = room.outcome("add_calendar_event", arguments).await;
    assert_eq!(refused, json!({"tool": "`title` must be one line, without line breaks"}));
}

#[tokio::test]
async fn an_event_that_changed_while_a_person_thought_is_asked_about_again() {
    let room = Room::new();
    let arguments = json!({"title": "Review", "start": "2026-11-24T14:00", "duration": "30 min"});
    let id = room.made("add_calendar_event", arguments).await;
    let (ticket, _) = room.asked("delete_calendar_event", json!({"event_id": id})).await;
    room.done("update_calendar_event", json!({"event_id": id, "start": "4pm"})).await;
    let error = room.approve(&ticket).await.unwrap_err();
    let TicketError::Otherwise { now, .. } = error else { panic!("{error:?}") };
    assert_eq!(now, "Delete *Review*, Tue 24 Nov 2026 16:00 to 16:30");
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_not_there_or_makes_no_sense() {
    let room = Room::new();
    let rows = [
        ("delete_calendar_event", json!({"event_id": "none"})),
        ("update_meeting", json!({"event_id": "none", "title": "It"})),
        ("respond_to_invitation", json!({"event_id": "none", "reply": "accepted"})),
        ("delete_task", json!({"task_id": "none"})),
        ("delete_email", json!({"email_id": "none"})),
        ("reply_to_email", json!({"email_id": "none", "body": "Yes"})),
        ("send_email", json!({"draft_id": "none"})),
        ("send_email", json!({})),
        ("send_email", json!({"to": ["a@x.org"]})),
        ("send_email", json!({"draft_id": "none", "to": ["a@x.org"]})),
        ("send_email", json!({"to": ["no address"], "subject": "It"})),
        ("send_email", json!({"to": ["a@x.org"], "subject": "It\r\nBcc: b@x.org"})),
        ("schedule_meeting", json!({"title": "It", "start": "flurble", "guests": ["a@x.org"]})),
    ];
    for (tool, arguments) in rows {
        let refused = room.outcome(tool, arguments.clone()).await;
        assert!(refused.get("tool").is_some(), "{tool} {arguments}: {refused}");
    }
}

#[tokio::test]
async fn an_invitation_is_answered_after_a_person_saw_to_what() {
    let room = Room::new();
    let arguments = json!({
        "title": "Review", "start": "2026-11-24T14:00", "duration": "1 hour",
        "guests": ["ann@example.org", "bob@example.org"],
    });
    let id = room.made("schedule_meeting", arguments).await;
    let arguments = json!({"event_id": id, "reply": "declined", "comment": "I am\naway"});
    let (ticket, asked) = room.asked("respond_to_invitation", arguments).await;
    let words = "Decline *Review*, Tue 24 Nov 2026 14:00 to 15:00, 2 guests, and tell ";
    let comment = " \u{201c}I am away\u{201d} \u{2014} the organizer will be told";
    assert!(asked.starts_with(words) && asked.ends_with(comment), "{asked}");
    room.approve(&ticket).await.unwrap();
    let event = room.done("get_calendar_event", json!({"event_id": id})).await;
    assert_eq!(event["data"]["reply"], json!("declined"));
    let id = room.made("add_calendar_event", json!({"title": "Own", "start": "today"})).await;
    let arguments = json!({"event_id": id, "reply": "accepted"});
    let refused = room.outcome("respond_to_invitation", arguments).await;
    let message = "the user was not invited to this event, so there is nothing to answer";
    assert_eq!(refused, json!({ "tool": message }));
}

#[tokio::test]
async fn mail_is_sent_only_after_a_person_saw_to_whom_and_how_it_begins() {
    let room = Room::new();
    let arguments = json!({
        "to": ["Ann <bob@example.org>"], "cc": ["c@x.org"], "bcc": ["d@x.org"],
        "subject": "Lunch*", "body": "Shall we\n\neat \u{201c}now\u{201d}?",
    });
    let words = "Send *Lunch\\** to bob@example.org, c@x.org, d@x.org: \u{201c}Shall we eat \"now\"?\u{201d}";
    let (_, asked) = room.asked("send_email", arguments).await;
    assert_eq!(asked, format!("{words}{SENDS}"));
}

#[tokio::test]
async fn a_draft_that_is_another_by_now_is_asked_about_again() {
    let room = Room::new();
    let arguments = json!({"to": ["bob@example.org"], "subject": "Lunch", "body": "Shall we?"});
    let id = room.made("draft_email", arguments).await;
    let (ticket, asked) = room.asked("send_email", json!({"draft_id": id})).await;
    let words = "Send *Lunch* to bob@example.org: \u{201c}Shall we?\u{201d} (draft ";
    assert!(asked.starts_with(words) && asked.ends_with(&format!("){SENDS}")), "{asked}");
    let sent = room.approve(&ticket).await.unwrap();
    assert!(sent.text().contains("Lunch"), "{}", sent.text());
    let again = room.outcome("send_email", json!({"draft_id": id})).await;
    assert!(again.get("tool").is_some(), "{again}");
}
