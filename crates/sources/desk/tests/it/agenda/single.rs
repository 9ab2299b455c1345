//! Events that do not repeat.

use toolcrib_desk::backend::{
    BackendErrorKind, EventChange, EventGuest, EventSlot, EventStatus, FieldChange,
    InvitationReply, NewEvent, Person,
};

use super::{OWN_ADDRESS, OWNER, Subject, days, kind, new, timed};

pub(crate) async fn an_event_is_added_found_moved_and_removed(it: &Subject) {
    let slot = timed("2026-11-24 14:00", "2026-11-24 14:30");
    let added = it.add(new("Budget review", slot.clone())).await;
    assert_eq!((added.title.as_str(), &added.series), ("Budget review", &None));
    assert_eq!(
        it.listed("2026-11-24 00:00", "2026-11-25 00:00").await,
        [(added.title.clone(), slot)]
    );
    assert_eq!(it.event(&added.id).await, added);

    let later = timed("2026-11-25 16:00", "2026-11-25 16:30");
    let change = EventChange { slot: Some(later.clone()), ..EventChange::default() };
    let moved = it.calendar.change(OWNER, &added.id, change).await.unwrap();
    assert_eq!(moved.slot, later);
    assert_eq!(it.listed("2026-11-24 00:00", "2026-11-25 00:00").await, []);
    assert_eq!(
        it.listed("2026-11-25 00:00", "2026-11-26 00:00").await,
        [("Budget review".to_owned(), later)]
    );

    it.calendar.remove(OWNER, &added.id).await.unwrap();
    assert_eq!(it.listed("2026-11-01 00:00", "2026-12-01 00:00").await, []);
    assert_eq!(kind(it.calendar.event(OWNER, &added.id).await), BackendErrorKind::NotFound);
}

pub(crate) async fn an_event_keeps_all_that_was_said_of_it(it: &Subject) {
    let guest =
        Person { address: "ben@example.org".to_owned(), name: Some("Ben \"B\", Jr".into()) };
    let event = NewEvent {
        description: Some("First line;\nsecond, with \\ and é 🎉\n\n".repeat(20)),
        location: Some("Room 1, first floor".to_owned()),
        guests: vec![guest.clone()],
        busy: false,
        ..new("Lunch; with, signs \\n", timed("2026-11-24 12:00", "2026-11-24 13:00"))
    };
    let added = it.add(event.clone()).await;
    let kept = it.event(&added.id).await;
    assert_eq!(kept, added);
    let first = it.calendar.calendars(OWNER).await.unwrap();
    let expected = toolcrib_desk::backend::CalendarEvent {
        id: added.id.clone(),
        series: None,
        calendar: first[0].id.clone(),
        title: event.title,
        slot: event.slot,
        description: event.description,
        location: event.location,
        guests: vec![EventGuest { person: guest, reply: InvitationReply::Waiting }],
        organizer: Some(Person { address: OWN_ADDRESS.to_owned(), name: None }),
        rule: None,
        status: EventStatus::Confirmed,
        busy: false,
        reply: None,
    };
    assert_eq!(kept, expected);
    let EventSlot::Timed { start, .. } = &kept.slot else { panic!("{:?}", kept.slot) };
    assert_eq!(start.time_zone().iana_name(), Some("Europe/Zurich"));
}

pub(crate) async fn a_change_touches_what_it_names_alone(it: &Subject) {
    let event = NewEvent {
        description: Some("Bring cake".to_owned()),
        location: Some("Kitchen".to_owned()),
        ..new("Party", timed("2026-11-24 18:00", "2026-11-24 22:00"))
    };
    let added = it.add(event).await;
    let change = EventChange {
        title: Some("Great party".to_owned()),
        description: FieldChange::Clear,
        ..EventChange::default()
    };
    let changed = it.calendar.change(OWNER, &added.id, change).await.unwrap();
    let mut expected = added;
    "Great party".clone_into(&mut expected.title);
    expected.description = None;
    assert_eq!(changed, expected);
    assert_eq!(it.event(&expected.id).await, expected);
}

pub(crate) async fn an_event_of_whole_days_is_no_time_at_midnight(it: &Subject) {
    let slot = days("2026-12-24", "2026-12-26");
    let added = it.add(new("Holidays", slot.clone())).await;
    assert_eq!(added.slot, slot);
    let expected = [("Holidays".to_owned(), slot)];
    assert_eq!(it.listed("2026-12-26 23:00", "2026-12-27 00:00").await, expected);
    assert_eq!(it.listed("2026-12-23 00:00", "2026-12-24 01:00").await, expected);
    assert_eq!(it.listed("2026-12-23 00:00", "2026-12-24 00:00").await, []);
    assert_eq!(it.listed("2026-12-27 00:00", "2026-12-28 00:00").await, []);
}

pub(crate) async fn an_event_of_whole_days_may_become_one_of_hours(it: &Subject) {
    let added = it.add(new("Visit", days("2026-12-01", "2026-12-01"))).await;
    let hours = timed("2026-12-01 10:00", "2026-12-01 12:00");
    for slot in [hours, days("2026-12-02", "2026-12-03")] {
        let change = EventChange { slot: Some(slot.clone()), ..EventChange::default() };
        let changed = it.calendar.change(OWNER, &added.id, change).await.unwrap();
        assert_eq!(changed.slot, slot);
        assert_eq!(it.event(&added.id).await.slot, slot);
    }
}

pub(crate) async fn the_only_occurrence_of_an_event_is_the_event(it: &Subject) {
    let added = it.add(new("Once", timed("2026-11-24 14:00", "2026-11-24 14:30"))).await;
    let occurrence = format!("{}@20261124T130000Z", added.id);
    assert_eq!(it.event(&occurrence).await, added);
    let later = timed("2026-11-25 14:00", "2026-11-25 14:30");
    let change = EventChange { slot: Some(later.clone()), ..EventChange::default() };
    let moved = it.calendar.change(OWNER, &occurrence, change).await;
    // It has gone from where it was named.
    assert_eq!(moved.map(|moved| moved.slot).map_err(|fault| fault.kind), Ok(later));
    assert_eq!(it.event(&added.id).await.series, None);
    assert_eq!(kind(it.calendar.remove(OWNER, &occurrence).await), BackendErrorKind::NotFound);
    let occurrence = format!("{}@20261125T130000Z", added.id);
    it.calendar.remove(OWNER, &occurrence).await.unwrap();
    assert_eq!(kind(it.calendar.event(OWNER, &added.id).await), BackendErrorKind::NotFound);
}

pub(crate) async fn what_is_not_there_is_told_as_such(it: &Subject) {
    let change = EventChange { title: Some("x".to_owned()), ..EventChange::default() };
    for id in ["nothing", "nothing@20261124T130000Z", "", "../x", "a/b/c", "%2e%2e"] {
        assert_eq!(kind(it.calendar.event(OWNER, id).await), BackendErrorKind::NotFound, "{id}");
        let changed = it.calendar.change(OWNER, id, change.clone()).await;
        assert_eq!(kind(changed), BackendErrorKind::NotFound, "{id}");
        assert_eq!(kind(it.calendar.remove(OWNER, id).await), BackendErrorKind::NotFound, "{id}");
    }
    let added = it.add(new("Here", timed("2026-11-24 14:00", "2026-11-24 14:30"))).await;
    let other = format!("{}@20261125T130000Z", added.id);
    assert_eq!(kind(it.calendar.event(OWNER, &other).await), BackendErrorKind::NotFound);
    assert_eq!(kind(it.calendar.remove(OWNER, &other).await), BackendErrorKind::NotFound);
    let slot = timed("2026-11-24 14:00", "2026-11-24 14:30");
    let elsewhere = NewEvent { calendar: Some("no-such".to_owned()), ..new("x", slot) };
    assert_eq!(kind(it.calendar.add(OWNER, elsewhere).await), BackendErrorKind::NotFound);
}

pub(crate) async fn what_ends_before_it_starts_is_refused(it: &Subject) {
    let backwards =
        [timed("2026-11-24 14:00", "2026-11-24 13:00"), days("2026-11-24", "2026-11-23")];
    for slot in backwards {
        assert_eq!(kind(it.calendar.add(OWNER, new("x", slot)).await), BackendErrorKind::Invalid);
    }
    assert_eq!(it.listed("2026-11-01 00:00", "2026-12-01 00:00").await, []);
}

pub(crate) async fn of_two_changes_at_once_none_is_lost(it: &Subject) {
    let added = it.add(new("Shared", timed("2026-11-24 14:00", "2026-11-24 15:00"))).await;
    let mut lost = 0;
    for round in 0..8 {
        let (title, place) = (format!("Title {round}"), format!("Place {round}"));
        let one = EventChange { title: Some(title.clone()), ..EventChange::default() };
        let other =
            EventChange { location: FieldChange::Set(place.clone()), ..EventChange::default() };
        let (one, other) = tokio::join!(
            it.calendar.change(OWNER, &added.id, one),
            it.calendar.change(OWNER, &added.id, other),
        );
        let kept = it.event(&added.id).await;
        for (result, is_kept) in
            [(&one, kept.title == title), (&other, kept.location.as_ref() == Some(&place))]
        {
            match result {
                Ok(_) => assert!(is_kept, "{kept:?}"),
                Err(fault) => {
                    assert_eq!(fault.kind, BackendErrorKind::Conflict);
                    assert!(!is_kept, "{kept:?}");
                    lost += 1;
                }
            }
        }
    }
    assert!(lost < 16, "nothing was ever changed");
}
