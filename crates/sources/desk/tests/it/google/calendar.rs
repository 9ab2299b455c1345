//! Events: their whole life, series, guests, pages.

use serde_json::json;
use toolcrib_desk::backend::{
    BackendErrorKind, CalendarBackend, CalendarEvent, CalendarInfo, EventChange, EventGuest,
    EventQuery, EventSlot, EventStatus, FieldChange, InvitationReply, NewEvent, Person,
};

use super::{Account, OWNER, at, days, kind, person, timed};

pub(super) fn new(title: &str, slot: EventSlot) -> NewEvent {
    NewEvent {
        calendar: None,
        title: title.to_owned(),
        slot,
        description: None,
        location: None,
        guests: Vec::new(),
        rule: None,
        busy: true,
    }
}

pub(super) fn query(from: &str, until: &str) -> EventQuery {
    let (from, until) = (at(from).timestamp(), at(until).timestamp());
    EventQuery { calendar: None, from, until, text: None, limit: 50, cursor: None }
}

pub(super) async fn add(account: &Account, event: NewEvent) -> CalendarEvent {
    CalendarBackend::add(&account.google, "", event).await.unwrap()
}

pub(super) async fn listed(account: &Account, query: EventQuery) -> Vec<CalendarEvent> {
    account.google.events("", query).await.unwrap().items
}

async fn titles(account: &Account, query: EventQuery) -> Vec<String> {
    listed(account, query).await.into_iter().map(|event| event.title).collect()
}

pub(super) async fn change(account: &Account, id: &str, change: EventChange) -> CalendarEvent {
    CalendarBackend::change(&account.google, "", id, change).await.unwrap()
}

fn november() -> EventQuery {
    query("2026-11-01 00:00", "2026-12-01 00:00")
}

#[tokio::test]
async fn the_first_calendar_is_the_one_of_the_account() {
    let account = Account::open();
    account.server.put_calendar("team@example.org", "Team", "writer");
    account.server.small_pages(1);
    let info = |id: &str, name: &str, can_write| CalendarInfo {
        id: id.to_owned(),
        name: name.to_owned(),
        can_write,
    };
    let expected = [
        info(OWNER, "Anna", true),
        info("team@example.org", "Team", true),
        info("holidays@group.v.calendar.google.com", "Holidays", false),
    ];
    assert_eq!(account.google.calendars("").await.unwrap(), expected);
    account.close();
}

#[tokio::test]
async fn an_event_is_added_found_moved_and_removed() {
    let account = Account::open();
    let slot = timed("2026-11-24 14:00", "2026-11-24 14:30");
    let event = NewEvent {
        description: Some("Numbers\nand \"more\"".to_owned()),
        location: Some("Room 1".to_owned()),
        busy: false,
        ..new("Budget review", slot.clone())
    };
    let added = add(&account, event).await;
    let expected = CalendarEvent {
        id: added.id.clone(),
        series: None,
        calendar: OWNER.to_owned(),
        title: "Budget review".to_owned(),
        slot,
        description: Some("Numbers\nand \"more\"".to_owned()),
        location: Some("Room 1".to_owned()),
        guests: Vec::new(),
        organizer: Some(person(OWNER)),
        rule: None,
        status: EventStatus::Confirmed,
        busy: false,
        reply: None,
    };
    assert_eq!(added, expected);
    assert_eq!(listed(&account, november()).await, std::slice::from_ref(&expected));
    assert_eq!(account.google.event("", &added.id).await.unwrap(), expected);

    let moved = change(
        &account,
        &added.id,
        EventChange {
            slot: Some(timed("2026-11-25 16:00", "2026-11-25 17:00")),
            description: FieldChange::Clear,
            location: FieldChange::Set("Room 2".to_owned()),
            ..EventChange::default()
        },
    )
    .await;
    let expected = CalendarEvent {
        slot: timed("2026-11-25 16:00", "2026-11-25 17:00"),
        description: None,
        location: Some("Room 2".to_owned()),
        ..expected
    };
    assert_eq!(moved, expected);
    let before = query("2026-11-24 00:00", "2026-11-25 00:00");
    assert_eq!(listed(&account, before).await, []);

    CalendarBackend::remove(&account.google, "", &added.id).await.unwrap();
    assert_eq!(listed(&account, november()).await, []);
    assert_eq!(kind(account.google.event("", &added.id).await), BackendErrorKind::NotFound);
    let again = CalendarBackend::remove(&account.google, "", &added.id).await;
    assert_eq!(kind(again), BackendErrorKind::NotFound);
    account.close();
}

#[tokio::test]
async fn whole_days_keep_their_last_day_and_may_become_hours() {
    let account = Account::open();
    let added = add(&account, new("Holidays", days("2026-12-24", "2026-12-26"))).await;
    assert_eq!(added.slot, days("2026-12-24", "2026-12-26"));
    let last = query("2026-12-26 23:00", "2026-12-27 00:00");
    assert_eq!(titles(&account, last).await, ["Holidays"]);
    let after = query("2026-12-27 00:00", "2026-12-28 00:00");
    assert_eq!(titles(&account, after).await, [""; 0]);
    for slot in [timed("2026-12-24 10:00", "2026-12-24 12:00"), days("2026-12-24", "2026-12-24")] {
        let wanted = EventChange { slot: Some(slot.clone()), ..EventChange::default() };
        assert_eq!(change(&account, &added.id, wanted).await.slot, slot);
    }
    let backwards = new("x", days("2026-12-24", "2026-12-23"));
    let refused = CalendarBackend::add(&account.google, "", backwards).await;
    assert_eq!(kind(refused), BackendErrorKind::Invalid);
    account.close();
}

#[tokio::test]
async fn a_series_is_seen_as_its_occurrences() {
    let account = Account::open();
    let rule = "FREQ=WEEKLY;COUNT=3;BYDAY=MO";
    let slot = timed("2026-10-19 09:00", "2026-10-19 09:30");
    let event = NewEvent { rule: Some(rule.to_owned()), ..new("Standup", slot) };
    let series = add(&account, event).await;
    assert_eq!((series.series.as_ref(), series.rule.as_deref()), (Some(&series.id), Some(rule)));
    let all = query("2026-10-01 00:00", "2026-12-01 00:00");
    let found = listed(&account, all.clone()).await;
    let slots: Vec<EventSlot> = found.iter().map(|event| event.slot.clone()).collect();
    // The clocks change between the first and the second.
    let nine = |day: &str| timed(&format!("{day} 09:00"), &format!("{day} 09:30"));
    assert_eq!(slots, ["2026-10-19", "2026-10-26", "2026-11-02"].map(nine));
    assert!(found.iter().all(|it| it.rule.as_deref() == Some(rule)));
    assert!(found.iter().all(|it| it.series.as_ref() == Some(&series.id) && it.id != series.id));

    let retitled = EventChange { title: Some("Retro".to_owned()), ..EventChange::default() };
    let second = change(&account, &found[1].id, retitled.clone()).await;
    assert_eq!(second, CalendarEvent { title: "Retro".to_owned(), ..found[1].clone() });
    CalendarBackend::remove(&account.google, "", &found[0].id).await.unwrap();
    assert_eq!(titles(&account, all.clone()).await, ["Retro", "Standup"]);
    let ruled = EventChange { rule: FieldChange::Clear, ..EventChange::default() };
    let refused = CalendarBackend::change(&account.google, "", &found[2].id, ruled.clone()).await;
    assert_eq!(kind(refused), BackendErrorKind::Invalid);

    let rule = "FREQ=DAILY;COUNT=2".to_owned();
    let daily = EventChange { rule: FieldChange::Set(rule.clone()), ..EventChange::default() };
    assert_eq!(change(&account, &series.id, daily).await.rule, Some(rule));
    let single = change(&account, &series.id, ruled).await;
    assert_eq!((single.rule, single.series), (None, None));
    CalendarBackend::remove(&account.google, "", &series.id).await.unwrap();
    assert_eq!(titles(&account, all).await, [""; 0]);
    account.close();
}

#[tokio::test]
async fn a_rule_fits_its_start_and_moves_with_it() {
    let account = Account::open();
    let monday = || timed("2026-11-23 09:00", "2026-11-23 09:15");
    let ruled = |rule: &str| NewEvent { rule: Some(rule.to_owned()), ..new("x", monday()) };
    for rule in ["FREQ=WEEKLY;BYDAY=TU", "FREQ=NEVER", "every Monday", "FREQ=DAILY\r\nX:y"] {
        let added = CalendarBackend::add(&account.google, "", ruled(rule)).await;
        assert_eq!(kind(added), BackendErrorKind::Invalid, "{rule}");
    }
    let until = add(&account, ruled("FREQ=DAILY;UNTIL=20261125")).await;
    // The end of that day in Zurich, as the standard wants it beside a time.
    assert_eq!(until.rule.as_deref(), Some("FREQ=DAILY;UNTIL=20261125T225959Z"));
    assert_eq!(titles(&account, november()).await.len(), 3);
    CalendarBackend::remove(&account.google, "", &until.id).await.unwrap();

    let moved_to = |day: &str| EventChange {
        slot: Some(timed(&format!("{day} 09:00"), &format!("{day} 09:15"))),
        ..EventChange::default()
    };
    let weekly = add(&account, ruled("FREQ=WEEKLY;COUNT=2;BYDAY=MO,WE")).await;
    let moved = change(&account, &weekly.id, moved_to("2026-11-24")).await;
    assert_eq!(moved.rule.as_deref(), Some("FREQ=WEEKLY;COUNT=2;BYDAY=TU,TH"));
    let slots: Vec<EventSlot> =
        listed(&account, november()).await.into_iter().map(|event| event.slot).collect();
    let quarter = |day: &str| timed(&format!("{day} 09:00"), &format!("{day} 09:15"));
    assert_eq!(slots, ["2026-11-24", "2026-11-26"].map(quarter));
    let last = add(&account, ruled("FREQ=MONTHLY;BYDAY=4MO")).await;
    let refused =
        CalendarBackend::change(&account.google, "", &last.id, moved_to("2026-11-24")).await;
    assert_eq!(kind(refused), BackendErrorKind::Invalid);
    let both = EventChange {
        rule: FieldChange::Set("FREQ=MONTHLY;BYDAY=4TU".to_owned()),
        ..moved_to("2026-11-24")
    };
    assert_eq!(change(&account, &last.id, both).await.slot, quarter("2026-11-24"));
    account.close();
}

#[tokio::test]
async fn only_what_overlaps_is_in_a_stretch_of_time() {
    let account = Account::open();
    add(&account, new("Night", timed("2026-11-24 22:00", "2026-11-25 02:00"))).await;
    add(&account, new("Moment", timed("2026-11-25 02:00", "2026-11-25 02:00"))).await;
    add(&account, new("Day", days("2026-11-25", "2026-11-25"))).await;
    for (from, until, found) in [
        ("2026-11-24 00:00", "2026-11-25 00:00", &["Night"][..]),
        ("2026-11-25 00:00", "2026-11-25 01:00", &["Night", "Day"]),
        ("2026-11-25 02:00", "2026-11-25 03:00", &["Day", "Moment"]),
        ("2026-11-25 03:00", "2026-11-25 04:00", &["Day"]),
        ("2026-11-26 00:00", "2026-11-27 00:00", &[]),
        ("2026-11-27 00:00", "2026-11-26 00:00", &[]),
    ] {
        assert_eq!(titles(&account, query(from, until)).await, found, "{from}");
    }
    account.close();
}

#[tokio::test]
async fn guests_are_told_and_who_stays_keeps_their_answer() {
    let account = Account::open();
    let slot = timed("2026-11-24 14:00", "2026-11-24 15:00");
    let ben = Person { address: "ben@example.org".to_owned(), name: Some("Ben".to_owned()) };
    let event = NewEvent { guests: vec![ben.clone(), person(OWNER)], ..new("Talk", slot) };
    let added = add(&account, event).await;
    assert_eq!(added.reply, Some(InvitationReply::Waiting));
    let reply = InvitationReply::Accepted;
    let comment = Some("A bit late".to_owned());
    let accepted = account.google.respond("", &added.id, reply, comment).await.unwrap();
    let guest = |person: Person, reply| EventGuest { person, reply };
    let own = guest(person(OWNER), InvitationReply::Accepted);
    let expected = CalendarEvent {
        guests: vec![guest(ben, InvitationReply::Waiting), own.clone()],
        reply: Some(InvitationReply::Accepted),
        ..added.clone()
    };
    assert_eq!(accepted, expected);
    let guests = Some(vec![person("Anna@example.org"), person("carol@example.org")]);
    let invited = EventChange { guests, ..EventChange::default() };
    let changed = change(&account, &added.id, invited).await;
    let carol = guest(person("carol@example.org"), InvitationReply::Waiting);
    assert_eq!(changed.guests, [own, carol]);
    CalendarBackend::remove(&account.google, "", &added.id).await.unwrap();
    let expected =
        ["insert", "patch", "patch", "delete"].map(|it| format!("{it} all {}", added.id));
    assert_eq!(account.server.told_guests(), expected);

    let alone = add(&account, new("Alone", timed("2026-11-24 16:00", "2026-11-24 17:00"))).await;
    let refused = account.google.respond("", &alone.id, InvitationReply::Declined, None).await;
    assert_eq!(kind(refused), BackendErrorKind::Invalid);
    assert_eq!(account.server.told_guests().len(), 4, "nobody is told of what has no guests");
    account.close();
}

#[tokio::test]
async fn pages_go_over_all_calendars_in_one_order() {
    let account = Account::open();
    account.server.put_calendar("team@example.org", "Team", "writer");
    let mut expected = Vec::new();
    // Begins before the others and is there all the time.
    add(&account, new("long", timed("2026-11-01 08:00", "2026-11-28 08:00"))).await;
    expected.push("long".to_owned());
    for day in 10..17 {
        for calendar in [None, Some("team@example.org".to_owned())] {
            for title in ["a", "b"] {
                let slot = timed(&format!("2026-11-{day} 09:00"), &format!("2026-11-{day} 10:00"));
                let title = format!("{day} {title} {}", calendar.is_some());
                let event = NewEvent { calendar: calendar.clone(), ..new(&title, slot) };
                add(&account, event).await;
                expected.push(title);
            }
        }
    }
    for size in [1, 3, 4, 100] {
        account.server.small_pages(if size == 3 { 2 } else { 25 });
        let (mut seen, mut keys) = (Vec::new(), Vec::new());
        let mut cursor = None;
        loop {
            let query = EventQuery { limit: size, cursor, ..november() };
            let page = account.google.events("", query).await.unwrap();
            assert!(page.items.len() <= size);
            for event in page.items {
                let EventSlot::Timed { start, .. } = event.slot else { panic!("no time") };
                keys.push((start.timestamp(), event.id));
                seen.push(event.title);
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert!(keys.is_sorted(), "{size}: {keys:?}");
        seen.sort();
        let mut expected = expected.clone();
        expected.sort();
        assert_eq!(seen, expected, "{size}");
    }
    let of_team = EventQuery {
        calendar: Some("team@example.org".to_owned()),
        text: Some("12 A".to_owned()),
        ..november()
    };
    let found = listed(&account, of_team).await;
    assert_eq!(found.len(), 1);
    assert!(found[0].id.starts_with("team@example.org/"), "{}", found[0].id);
    assert_eq!(account.google.event("", &found[0].id).await.unwrap(), found[0]);
    let wrong = EventQuery { cursor: Some("nonsense".to_owned()), ..november() };
    assert_eq!(kind(account.google.events("", wrong).await), BackendErrorKind::Invalid);
    account.close();
}

#[tokio::test]
async fn what_is_not_there_is_told_as_such() {
    let account = Account::open();
    let wanted = EventChange { title: Some("x".to_owned()), ..EventChange::default() };
    for id in ["nothing", "", "../x", "a/b/c", "%2e%2e", "x/..", "a\nb", "evt_20261124T130000Z"] {
        assert_eq!(kind(account.google.event("", id).await), BackendErrorKind::NotFound, "{id}");
        let changed = CalendarBackend::change(&account.google, "", id, wanted.clone()).await;
        assert_eq!(kind(changed), BackendErrorKind::NotFound, "{id}");
        let removed = CalendarBackend::remove(&account.google, "", id).await;
        assert_eq!(kind(removed), BackendErrorKind::NotFound, "{id}");
    }
    let slot = timed("2026-11-24 14:00", "2026-11-24 15:00");
    let elsewhere = NewEvent { calendar: Some("no-such".to_owned()), ..new("x", slot.clone()) };
    let added = CalendarBackend::add(&account.google, "", elsewhere).await;
    assert_eq!(kind(added), BackendErrorKind::NotFound);
    let read_only = Some("holidays@group.v.calendar.google.com".to_owned());
    let added = NewEvent { calendar: read_only, ..new("x", slot) };
    let refused = CalendarBackend::add(&account.google, "", added).await.unwrap_err();
    assert_eq!(refused.kind, BackendErrorKind::Refused);
    assert!(refused.message.contains("writer access"), "{}", refused.message);
    account.close();
}

#[tokio::test]
async fn of_two_changes_at_once_none_is_lost() {
    let account = Account::open();
    let added = add(&account, new("Shared", timed("2026-11-24 14:00", "2026-11-24 15:00"))).await;
    for round in 0..5 {
        let (title, place) = (format!("Title {round}"), format!("Place {round}"));
        let one = EventChange { title: Some(title.clone()), ..EventChange::default() };
        let other =
            EventChange { location: FieldChange::Set(place.clone()), ..EventChange::default() };
        let (one, other) = tokio::join!(
            CalendarBackend::change(&account.google, "", &added.id, one),
            CalendarBackend::change(&account.google, "", &added.id, other),
        );
        let kept = account.google.event("", &added.id).await.unwrap();
        let is_kept = [kept.title == title, kept.location == Some(place)];
        for (result, is_kept) in [one, other].into_iter().zip(is_kept) {
            match result {
                Ok(_) => assert!(is_kept, "{kept:?}"),
                Err(fault) => {
                    assert_eq!((fault.kind, is_kept), (BackendErrorKind::Conflict, false));
                }
            }
        }
    }
    account.close();
}

#[tokio::test]
async fn an_invitation_of_somebody_else_is_answered() {
    let account = Account::open();
    let id = account.server.put_event(
        OWNER,
        json!({
            "summary": "Board", "organizer": { "email": "boss@example.org", "displayName": "Boss" },
            "start": { "dateTime": "2026-11-24T10:00:00-05:00" },
            "end": { "dateTime": "2026-11-24T11:00:00-05:00" },
            "status": "tentative",
            "attendees": [
                { "email": "boss@example.org", "responseStatus": "accepted", "organizer": true },
                { "email": OWNER },
            ],
        }),
    );
    let found = listed(&account, november()).await;
    let EventSlot::Timed { start, .. } = &found[0].slot else { panic!("no time") };
    assert_eq!(*start, at("2026-11-24 16:00"));
    let boss = Person { address: "boss@example.org".to_owned(), name: Some("Boss".to_owned()) };
    assert_eq!((&found[0].organizer, found[0].status), (&Some(boss), EventStatus::Tentative));
    let declined = account.google.respond("", &id, InvitationReply::Declined, None).await.unwrap();
    assert_eq!(declined.reply, Some(InvitationReply::Declined));
    assert_eq!(declined.guests[0].reply, InvitationReply::Accepted);
    account.close();
}
