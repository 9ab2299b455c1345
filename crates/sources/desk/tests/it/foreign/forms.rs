//! What names an occurrence in another form than the start has.

use toolcrib_desk::backend::{CalendarBackend, EventChange};

use super::{Taken, calendar, event, in_2027, why_not};
use crate::agenda::OWNER;

const DAILY: &str =
    "DTSTART;TZID=US/Eastern:20270531T200000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3";

fn moved(id: &str) -> String {
    let own = "DTSTART;TZID=US/Eastern:20270601T220000\nDURATION:PT1H";
    format!("{}\n{}", event(DAILY), event(&format!("RECURRENCE-ID{id}\n{own}")))
}

#[tokio::test]
async fn an_occurrence_is_named_by_its_day_or_by_a_time_without_a_zone() {
    let expected = ["2027-06-01 02:00 60 a", "2027-06-02 04:00 60 a", "2027-06-03 02:00 60 a"];
    for id in [
        ";VALUE=DATE:20270601",
        ":20270601",
        ":20270601T200000",
        ":20270602T000000Z",
        ";TZID=US/Eastern:20270601T200000",
        ";TZID=Europe/Zurich:20270602T020000",
    ] {
        assert_eq!(in_2027(&moved(id)).await, expected, "{id}");
    }
    let utc =
        moved(":20270601T200000").replace(";TZID=US/Eastern:20270531T200000", ":20270531T200000Z");
    let expected = ["2027-05-31 22:00 60 a", "2027-06-02 04:00 60 a", "2027-06-02 22:00 60 a"];
    assert_eq!(in_2027(&utc).await, expected);
}

#[tokio::test]
async fn an_occurrence_is_taken_out_by_its_day_or_by_a_time_without_a_zone() {
    let expected = ["2027-06-01 02:00 60 a", "2027-06-03 02:00 60 a"];
    for out in [";VALUE=DATE:20270601", ":20270601T200000", ":20270602T000000Z"] {
        let file = event(&format!("{DAILY}\nEXDATE{out}"));
        assert_eq!(in_2027(&file).await, expected, "{out}");
    }
}

#[tokio::test]
async fn a_whole_day_is_named_by_a_time_of_it() {
    let days = "DTSTART;VALUE=DATE:20270601\nRRULE:FREQ=DAILY;COUNT=3";
    let expected = ["2027-06-01 to 2027-06-01 a", "2027-06-03 to 2027-06-03 a"];
    for out in [":20270602T000000", ";TZID=Asia/Tokyo:20270602T090000", ":20270602T000000Z"] {
        assert_eq!(in_2027(&event(&format!("{days}\nEXDATE{out}"))).await, expected, "{out}");
    }
    let why = why_not(&event(&format!("{days}\nEXDATE:20270601T220000Z"))).await;
    assert!(why.ends_with("its EXDATE is a time, and its start a whole day"), "{why}");
}

#[tokio::test]
async fn an_end_and_added_dates_without_a_zone_are_of_that_of_the_start() {
    let file = event(
        "DTSTART;TZID=US/Eastern:20270531T200000\nDTEND:20270531T210000\nRDATE:20270605T200000",
    );
    assert_eq!(in_2027(&file).await, ["2027-06-01 02:00 60 a", "2027-06-06 02:00 60 a"]);
}

#[tokio::test]
async fn an_occurrence_that_is_named_by_its_day_is_changed_as_any_other() {
    let taken = Taken::of(calendar(&moved(";VALUE=DATE:20270601"))).await;
    let events = taken.events("2027-01-01 00:00", "2028-01-01 00:00").await;
    let change = EventChange { title: Some("b".to_owned()), ..EventChange::default() };
    CalendarBackend::change(&taken.agenda, OWNER, &events[1].id, change).await.unwrap();
    taken.agenda.remove_following(OWNER, &events[2].id).await.unwrap();
    assert_eq!(taken.year(2027).await, ["2027-06-01 02:00 60 a", "2027-06-02 04:00 60 b"]);
    CalendarBackend::remove(&taken.agenda, OWNER, &events[1].id).await.unwrap();
    assert_eq!(taken.year(2027).await, ["2027-06-01 02:00 60 a"]);
}
