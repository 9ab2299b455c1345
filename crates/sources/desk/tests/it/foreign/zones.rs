//! Zones that a file brings along.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;
use toolcrib_desk::backend::{CalendarBackend, EventChange};

use super::{Taken, calendar, event, in_2027, why_not};
use crate::agenda::{OWNER, timed};

/// A VTIMEZONE `Own` of such observances: `STANDARD 20261025T030000 +0200 +0100 RRULE:...`.
fn zone(observances: &[&str]) -> String {
    let mut lines = "BEGIN:VTIMEZONE\nTZID:Own\n".to_owned();
    for observance in observances {
        let [kind, start, from, to, more] =
            observance.splitn(5, ' ').collect::<Vec<_>>().try_into().unwrap();
        let more = if more.is_empty() { String::new() } else { format!("{more}\n") };
        let _ = write!(
            lines,
            "BEGIN:{kind}\nDTSTART:{start}\nTZOFFSETFROM:{from}\nTZOFFSETTO:{to}\n{more}END:{kind}\n"
        );
    }
    lines + "END:VTIMEZONE\n"
}

fn own(start: &str) -> String {
    event(&format!("DTSTART;TZID=Own:{start}\nDURATION:PT1H"))
}

/// When an event of such a time is in Zurich.
async fn at(observances: &[&str], start: &str) -> String {
    let taken = Taken::of(calendar(&(zone(observances) + &own(start)))).await;
    assert_eq!(taken.imported.skipped, [""; 0]);
    let year = start[..4].parse().unwrap();
    taken.year(year).await.concat()
}

#[tokio::test]
async fn rules_that_have_ended_hold_no_more() {
    let zone = [
        "STANDARD 20080217T000000 -0200 -0300 RRULE:FREQ=YEARLY;BYMONTH=2;BYDAY=3SU;UNTIL=20190217T020000Z",
        "DAYLIGHT 20181104T000000 -0300 -0200 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU;UNTIL=20181104T030000Z",
    ];
    assert_eq!(at(&zone, "20270115T090000").await, "2027-01-15 13:00 60 a");
    assert_eq!(at(&zone, "20190115T090000").await, "2019-01-15 12:00 60 a");
    let counted = [
        "STANDARD 20201025T030000 +0200 +0100 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
        "DAYLIGHT 20210328T020000 +0100 +0200 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;COUNT=2",
    ];
    assert_eq!(at(&counted, "20220701T090000").await, "2022-07-01 09:00 60 a");
    assert_eq!(at(&counted, "20230701T090000").await, "2023-07-01 10:00 60 a");
}

#[tokio::test]
async fn what_held_before_holds_for_what_was_before() {
    let zone = ["STANDARD 19960101T000000 +0200 +0300 ", "STANDARD 20200101T000000 +0300 +0500 "];
    assert_eq!(at(&zone, "19950301T090000").await, "1995-03-01 08:00 60 a");
    assert_eq!(at(&zone, "20190301T090000").await, "2019-03-01 07:00 60 a");
    assert_eq!(at(&zone, "20210301T090000").await, "2021-03-01 05:00 60 a");
}

#[tokio::test]
async fn onsets_may_be_told_one_by_one() {
    let zone = [
        "STANDARD 20261025T030000 +0200 +0100 RDATE:20271031T030000",
        "DAYLIGHT 20260329T020000 +0100 +0200 RDATE:20270328T020000",
    ];
    assert_eq!(at(&zone, "20270701T090000").await, "2027-07-01 09:00 60 a");
    assert_eq!(at(&zone, "20270201T090000").await, "2027-02-01 09:00 60 a");
    assert_eq!(at(&zone, "20280701T090000").await, "2028-07-01 10:00 60 a");
}

#[tokio::test]
async fn one_observance_alone_is_a_zone() {
    let daylight = ["DAYLIGHT 20270328T030000 +0100 +0200 "];
    assert_eq!(at(&daylight, "20270403T090000").await, "2027-04-03 09:00 60 a");
    assert_eq!(at(&daylight, "20270120T090000").await, "2027-01-20 09:00 60 a");
    let standard = ["STANDARD 16010101T000000 +0530 +0530 "];
    assert_eq!(at(&standard, "20270120T090000").await, "2027-01-20 04:30 60 a");
}

#[tokio::test]
async fn any_rule_of_years_says_when_clocks_change() {
    let isle = [
        "DAYLIGHT 20101024T020000 +1200 +1300 RRULE:FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=21,22,23,24,25,26,27;BYDAY=SU",
        "STANDARD 20140119T020000 +1300 +1200 RRULE:FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=18,19,20,21,22,23,24;BYDAY=SU",
    ];
    assert_eq!(at(&isle, "20270701T090000").await, "2027-06-30 23:00 60 a");
    assert_eq!(at(&isle, "20271224T090000").await, "2027-12-23 21:00 60 a");
    let hours = [
        "STANDARD 19951029T030000 +0200 +0100 RRULE:FREQ=YEARLY;BYMINUTE=0;BYHOUR=3;BYDAY=-1SU;BYMONTH=10",
        "DAYLIGHT 19950326T020000 +0100 +0200 RRULE:FREQ=YEARLY;BYMINUTE=0;BYHOUR=2;BYDAY=-1SU;BYMONTH=3",
    ];
    assert_eq!(at(&hours, "20270701T090000").await, "2027-07-01 09:00 60 a");
    // The start is one that the rule does not have, as some programs write.
    let unlike = [
        "STANDARD 20070101T030000 +0200 +0100 RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10",
        "DAYLIGHT 20070101T020000 +0100 +0200 RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3",
    ];
    assert_eq!(at(&unlike, "20270701T090000").await, "2027-07-01 09:00 60 a");
    assert_eq!(at(&unlike, "20270101T090000").await, "2027-01-01 09:00 60 a");
    assert_eq!(at(&unlike, "21270701T090000").await, "2127-07-01 09:00 60 a");
}

#[tokio::test]
async fn a_word_that_names_a_zone_is_what_its_rules_say() {
    let zone = zone(&[
        "STANDARD 20071104T020000 -0400 -0500 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
        "DAYLIGHT 20070311T020000 -0500 -0400 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
    ]);
    let file = (zone + &own("20270701T090000")).replace("Own", "EST");
    assert_eq!(in_2027(&file).await, ["2027-07-01 15:00 60 a"]);
    assert_eq!(
        in_2027(&own("20270701T090000").replace("Own", "EST")).await,
        ["2027-07-01 16:00 60 a"]
    );
}

#[tokio::test]
async fn a_zone_that_means_nothing_is_told() {
    let standard = "STANDARD 20261025T030000 +0200 +0100 ";
    let why = |zone: String| async move { why_not(&(zone + &own("20270701T090000"))).await };
    let secondly = "DAYLIGHT 20260329T020000 +0100 +0200 RRULE:FREQ=SECONDLY";
    let cases = [
        (zone(&[standard, secondly]), "repeats within a day"),
        (zone(&[standard, "DAYLIGHT 20260329T020000 +0100 +2500 "]), "`+2500` is no offset"),
        (zone(&[standard, "DAYLIGHT x +0100 +0200 "]), "`x`, which is no local time"),
        (zone(&[standard, "DAYLIGHT 20260329T020000 +0100 +0200 RDATE:2027"]), "`2027` is no time"),
        (zone(&[standard, "DAYLIGHT 20261025T030000 +0200 +0300 "]), "two offsets at once"),
        (zone(&[standard, "DAYLIGHT 20261025T033000 +0200 +0300 "]), "changes twice"),
        (zone(&[standard, "DAYLIGHT 20000101T020000 +0100 +0200 RRULE:FREQ=DAILY"]), "onsets"),
        (zone(&[standard; 501]), "it has not 1 to 500"),
        (zone(&[]), "it has not 1 to 500"),
        (zone(&[standard]).replace("TZOFFSETTO:+0100\n", ""), "it has no TZOFFSETTO"),
        (String::new(), "one that nobody knows"),
    ];
    for (zone, expected) in cases {
        let told = why(zone).await;
        assert!(told.contains(expected) && told.contains("`Own`"), "{told}: {expected}");
    }
}

#[tokio::test]
async fn a_zone_of_two_meanings_in_one_file_is_told() {
    let one =
        calendar(&(zone(&["STANDARD 20200101T000000 +0100 +0100 "]) + &own("20270701T090000")));
    let changed =
        own("20270701T100000").replace("UID:a", "UID:a\nRECURRENCE-ID;TZID=Own:20270701T090000");
    let other = calendar(&(zone(&["STANDARD 20200101T000000 +0500 +0500 "]) + &changed));
    let taken = Taken::of(one.clone() + &other).await;
    let why = "`a` of 2027-07-01 (UID `a`): its zone `Own` has other rules elsewhere in the file";
    assert_eq!(taken.imported.skipped, [why]);
    let again = Taken::of(one.clone() + &one).await;
    assert_eq!(again.imported.skipped, [""; 0]);
    assert_eq!(again.year(2027).await, ["2027-07-01 10:00 60 a"]);
}

#[tokio::test]
async fn a_series_of_a_zone_of_its_own_stays_there_when_it_is_changed_and_parted() {
    let zone = zone(&[
        "STANDARD 20071104T020000 -0400 -0500 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
        "DAYLIGHT 20070311T020000 -0500 -0400 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
    ]);
    let weekly =
        event("DTSTART;TZID=Own:20270312T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=4");
    let taken = Taken::of(calendar(&(zone + &weekly))).await;
    let expected = ["2027-03-12 15:00", "2027-03-19 14:00", "2027-03-26 14:00", "2027-04-02 15:00"];
    let starts = async || -> Vec<String> {
        taken.year(2027).await.iter().map(|it| it[..16].to_owned()).collect()
    };
    assert_eq!(starts().await, expected);
    let events = taken.events("2027-01-01 00:00", "2028-01-01 00:00").await;
    let change = EventChange { title: Some("b".to_owned()), ..EventChange::default() };
    CalendarBackend::change(&taken.agenda, OWNER, &events[3].id, change.clone()).await.unwrap();
    taken.agenda.change_following(OWNER, &events[1].id, change).await.unwrap();
    assert_eq!(starts().await, expected);
    let slot = Some(timed("2027-03-12 16:00", "2027-03-12 17:00"));
    let moved = EventChange { slot, ..EventChange::default() };
    CalendarBackend::change(&taken.agenda, OWNER, &events[0].id, moved).await.unwrap();
    assert_eq!(starts().await[0], "2027-03-12 16:00");
}

/// The offset of a zone at a time, as an event of it shows.
async fn told_offset(file: &str, time: Timestamp, zone: &TimeZone) -> i64 {
    let local = zone.to_datetime(time).strftime("%Y%m%dT%H%M%S").to_string();
    let taken = Taken::of(calendar(&format!("{file}\n{}", own(&local)))).await;
    assert_eq!(taken.imported.skipped, [""; 0], "{file}");
    let all = taken.events("1970-01-01 00:00", "2100-01-01 00:00").await;
    let [event] = &all[..] else { panic!("{all:?}") };
    let toolcrib_desk::backend::EventSlot::Timed { start, .. } = &event.slot else {
        panic!("a day")
    };
    start.timestamp().as_second() - time.as_second()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_zone_that_is_written_is_read_as_the_same(
        zone in prop::sample::select(jiff::tz::db().available().map(|it| it.to_string()).collect::<Vec<_>>()),
        hours in 0_i64..(24 * 365 * 5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let zone = TimeZone::get(&zone).unwrap();
        runtime.block_on(async {
            let now = Timestamp::now();
            let time = Timestamp::from_second(now.as_second() / 3600 * 3600).unwrap() + hours.hours();
            // Of two equal times one alone can be written.
            let is_one = !zone.to_ambiguous_timestamp(zone.to_datetime(time)).is_ambiguous();
            let home = toolcrib_desk::CalendarOwner::new(zone.clone());
            let agenda = toolcrib_desk::embedded::Agenda::new(
                toolcrib_desk::embedded::DeskDatabase::in_memory().unwrap(), home,
            );
            let slot = toolcrib_desk::backend::EventSlot::Timed {
                start: now.to_zoned(zone.clone()), end: now.to_zoned(zone.clone()),
            };
            agenda.add(OWNER, crate::agenda::new("x", slot)).await.unwrap();
            let text = agenda.export(OWNER).await.unwrap();
            let is_own = |line: &&str| *line != "END:VTIMEZONE" && !line.starts_with("X-LIC-");
            let lines: Vec<String> = text
                .lines()
                .skip_while(|line| *line != "BEGIN:VTIMEZONE")
                .take_while(|line| *line != "END:VTIMEZONE")
                .filter(is_own)
                .map(|line| if line.starts_with("TZID") { "TZID:Own".to_owned() } else { line.to_owned() })
                .collect();
            if is_one && !lines.is_empty() {
                let file = format!("{}\nEND:VTIMEZONE", lines.join("\n"));
                assert_eq!(told_offset(&file, time, &zone).await, 0, "{file}");
            }
        });
    }
}
