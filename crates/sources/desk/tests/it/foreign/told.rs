//! What is not followed is told, with the UID of its event.

use super::{Taken, calendar, event, why_not};

const START: &str = "DTSTART:20270502T090000Z\nRRULE:FREQ=DAILY;COUNT=3";

#[tokio::test]
async fn what_says_when_and_cannot_be_read_is_told() {
    let cases = [
        ("EXRULE:FREQ=WEEKLY", "it has an EXRULE"),
        ("EXDATE:2027", "its EXDATE `2027`"),
        ("EXDATE:20270503T090000Z,x", "its EXDATE `x`"),
        ("EXDATE;TZID=Moon/Base:20270503T090000", "its zone `Moon/Base`"),
        ("RDATE:soon", "its RDATE `soon`"),
        ("RDATE;VALUE=PERIOD:20270504T090000Z/x", "its RDATE has a PERIOD that ends at `x`"),
        ("DTEND:later", "its DTEND `later`"),
        ("DTEND;VALUE=DATE:20270503", "it starts at a time, and ends with a whole day"),
        ("DTEND:20270501T090000Z", "it ends at "),
        ("DURATION:1 hour", "its DURATION `1 hour`"),
        ("DURATION:-PT1H", "its DURATION `-PT1H`"),
        ("DTSTART:20270503T090000Z", "it has several DTSTART"),
        ("RRULE:FREQ=FORTNIGHTLY", "its rule cannot be used"),
    ];
    for (line, expected) in cases {
        let why = why_not(&event(&format!("{START}\n{line}"))).await;
        assert!(why.contains(expected), "{why}: {expected}");
    }
}

#[tokio::test]
async fn a_changed_occurrence_that_cannot_be_read_costs_its_series() {
    for (own, expected) in [
        ("RECURRENCE-ID:tomorrow\nDTSTART:20270503T100000Z", "its RECURRENCE-ID `tomorrow`"),
        ("RECURRENCE-ID:20270503T090000Z\nDTSTART;TZID=Moon/Base:20270503T100000", "`Moon/Base`"),
        ("RECURRENCE-ID:20270503T090000Z", "it has no DTSTART"),
    ] {
        let why = why_not(&format!("{}\n{}", event(START), event(own))).await;
        assert!(why.contains(expected), "{why}: {expected}");
    }
}

#[tokio::test]
async fn of_two_events_of_one_uid_the_newer_is_taken_and_the_other_told() {
    let old = event("DTSTART:20270502T090000Z\nSEQUENCE:1");
    let new = event("DTSTART:20270503T090000Z\nSEQUENCE:2");
    for file in [format!("{old}\n{new}"), format!("{new}\n{old}")] {
        let taken = Taken::of(calendar(&file)).await;
        let why = "`a` of 2027-05-02 (UID `a`): another one of the same UID was taken in its place";
        assert_eq!(taken.imported.skipped, [why]);
        assert_eq!(taken.year(2027).await, ["2027-05-03 11:00 0 a"]);
    }
    let taken = Taken::of(calendar(&format!("{old}\n{old}"))).await;
    assert_eq!(taken.imported.skipped, [""; 0]);
}

#[tokio::test]
async fn what_was_changed_of_an_older_version_is_gone_with_its_occurrence() {
    let master = |more: &str| event(&format!("{START}\nSEQUENCE:2{more}"));
    let changed = |version: u8| {
        let own = "RECURRENCE-ID:20270503T090000Z\nDTSTART:20270503T120000Z";
        event(&format!("{own}\nSEQUENCE:{version}"))
    };
    let first = "2027-05-02 11:00 0 a";
    let (own, last) = ("2027-05-03 14:00 0 a", "2027-05-04 11:00 0 a");
    let out = "\nEXDATE:20270503T090000Z";
    for (file, expected) in [
        (format!("{}\n{}", master(""), changed(1)), vec![first, own, last]),
        (format!("{}\n{}", master(out), changed(1)), vec![first, last]),
        (format!("{}\n{}", master(out), changed(3)), vec![first, own, last]),
    ] {
        assert_eq!(super::in_2027(&file).await, expected);
    }
}
