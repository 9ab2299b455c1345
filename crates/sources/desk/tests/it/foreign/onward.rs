//! What was changed of an occurrence and of all after it.

use toolcrib_desk::backend::{BackendErrorKind, CalendarBackend, EventChange};

use super::{Taken, calendar, event, in_2027, why_not};
use crate::agenda::{OWNER, kind, timed};

const DAILY: &str = "DTSTART:20270202T090000Z\nDTEND:20270202T100000Z\nRRULE:FREQ=DAILY;COUNT=5";

/// A component that changes all from an occurrence on.
fn from_on(original: &str, own: &str) -> String {
    let id = format!("RECURRENCE-ID;RANGE=THISANDFUTURE:{original}\n{own}");
    event(&id).replace("SUMMARY:a", "SUMMARY:Later")
}

fn later() -> String {
    let own = "DTSTART:20270204T120000Z\nDTEND:20270204T123000Z";
    format!("{}\n{}", event(DAILY), from_on("20270204T090000Z", own))
}

#[tokio::test]
async fn all_after_an_occurrence_are_moved_with_it() {
    let expected = [
        "2027-02-02 10:00 60 a",
        "2027-02-03 10:00 60 a",
        "2027-02-04 13:00 30 Later",
        "2027-02-05 13:00 30 Later",
        "2027-02-06 13:00 30 Later",
    ];
    assert_eq!(in_2027(&later()).await, expected);
}

#[tokio::test]
async fn what_was_changed_by_itself_stays_and_the_next_change_holds_on() {
    let alone = event("RECURRENCE-ID:20270205T090000Z\nDTSTART:20270205T150000Z\nDURATION:PT5M");
    let next = from_on("20270206T090000Z", "DTSTART:20270203T090000Z\nDURATION:PT1H");
    let file = format!("{}\n{alone}\n{}", later(), next.replace("Later", "Early"));
    let expected = [
        "2027-02-02 10:00 60 a",
        "2027-02-03 10:00 60 Early",
        "2027-02-03 10:00 60 a",
        "2027-02-04 13:00 30 Later",
        "2027-02-05 16:00 5 a",
    ];
    let mut found = in_2027(&file).await;
    found.sort();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn all_after_keep_their_hour_over_a_change_of_the_clocks() {
    let weekly = event(
        "DTSTART;TZID=Europe/Zurich:20270312T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=4",
    );
    let own = "DTSTART;TZID=Europe/Zurich:20270320T110000\nDURATION:PT1H";
    let next = from_on("20270319T090000", own);
    let expected = [
        "2027-03-12 09:00 60 a",
        "2027-03-20 11:00 60 Later",
        "2027-03-27 11:00 60 Later",
        "2027-04-03 11:00 60 Later",
    ];
    assert_eq!(in_2027(&format!("{weekly}\n{next}")).await, expected);
}

#[tokio::test]
async fn what_is_moved_out_of_a_stretch_of_time_is_found_where_it_is() {
    let weekly = event("DTSTART:20270105T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY");
    let own = "DTSTART:20270222T090000Z\nDURATION:PT1H";
    let taken =
        Taken::of(calendar(&format!("{weekly}\n{}", from_on("20270112T090000Z", own)))).await;
    let found = taken.events("2027-03-01 00:00", "2027-03-02 00:00").await;
    assert_eq!(found.iter().map(super::shown).collect::<Vec<_>>(), ["2027-03-01 10:00 60 Later"]);
}

#[tokio::test]
async fn one_of_those_after_is_changed_by_itself_and_the_rest_is_refused() {
    let taken = Taken::of(calendar(&later())).await;
    let events = taken.events("2027-01-01 00:00", "2028-01-01 00:00").await;
    let id = &events[3].id;
    let titled = EventChange { title: Some("Own".to_owned()), ..EventChange::default() };
    CalendarBackend::change(&taken.agenda, OWNER, id, titled.clone()).await.unwrap();
    CalendarBackend::remove(&taken.agenda, OWNER, &events[4].id).await.unwrap();
    let expected = [
        "2027-02-02 10:00 60 a",
        "2027-02-03 10:00 60 a",
        "2027-02-04 13:00 30 Later",
        "2027-02-05 13:00 30 Own",
    ];
    assert_eq!(taken.year(2027).await, expected);
    let first = &events[2].id;
    let slot = Some(timed("2027-02-02 11:00", "2027-02-02 12:00"));
    let moved = EventChange { slot, ..EventChange::default() };
    let series = events[0].series.as_deref().unwrap();
    let agenda = &taken.agenda;
    assert_eq!(
        kind(CalendarBackend::change(agenda, OWNER, first, titled.clone()).await),
        BackendErrorKind::Invalid
    );
    assert_eq!(
        kind(CalendarBackend::remove(agenda, OWNER, first).await),
        BackendErrorKind::Invalid
    );
    assert_eq!(
        kind(CalendarBackend::change(agenda, OWNER, series, moved).await),
        BackendErrorKind::Invalid
    );
    assert_eq!(kind(agenda.change_following(OWNER, id, titled).await), BackendErrorKind::Invalid);
    assert_eq!(kind(agenda.remove_following(OWNER, id).await), BackendErrorKind::Invalid);
    assert_eq!(taken.year(2027).await, expected);
}

#[tokio::test]
async fn other_ranges_are_told() {
    let prior = later().replace("THISANDFUTURE", "THISANDPRIOR");
    let why = why_not(&prior).await;
    assert!(why.ends_with("its RECURRENCE-ID has the RANGE `THISANDPRIOR`"), "{why}");
    let ruled = later().replace("SUMMARY:Later", "SUMMARY:Later\nRRULE:FREQ=WEEKLY");
    let why = why_not(&ruled).await;
    assert!(why.ends_with("from one day on has its own RRULE"), "{why}");
}
