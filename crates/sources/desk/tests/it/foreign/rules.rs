//! Rules and what stands beside them.

use super::{event, in_2027, why_not};

#[tokio::test]
async fn hours_beside_a_whole_day_say_nothing() {
    let days = event("DTSTART;VALUE=DATE:20270110\nRRULE:FREQ=DAILY;BYHOUR=9,17;COUNT=2");
    assert_eq!(in_2027(&days).await, ["2027-01-10 to 2027-01-10 a", "2027-01-11 to 2027-01-11 a"]);
}

#[tokio::test]
async fn hours_that_the_start_has_repeat_nothing() {
    let same = event(
        "DTSTART:20270115T090000Z\nDTEND:20270115T091000Z\n\
         RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0;COUNT=2",
    );
    assert_eq!(in_2027(&same).await, ["2027-01-15 10:00 10 a", "2027-01-16 10:00 10 a"]);
    let zoned = event(
        "DTSTART;TZID=Asia/Tokyo:20270115T093000\nRRULE:FREQ=WEEKLY;BYHOUR=9;BYMINUTE=30;COUNT=2",
    );
    assert_eq!(in_2027(&zoned).await, ["2027-01-15 01:30 0 a", "2027-01-22 01:30 0 a"]);
}

#[tokio::test]
async fn a_rule_without_a_word_says_nothing() {
    let empty = event("DTSTART:20270115T090000Z\nRRULE:\nEXDATE:\nRDATE:");
    assert_eq!(in_2027(&empty).await, ["2027-01-15 10:00 0 a"]);
}

#[tokio::test]
async fn other_hours_are_told() {
    let start = "DTSTART:20270115T090000Z\nRRULE:";
    let other = why_not(&event(&format!("{start}FREQ=DAILY;BYHOUR=8"))).await;
    assert!(other.contains("`BYHOUR=8` is another time of day"), "{other}");
    let two = why_not(&event(&format!("{start}FREQ=DAILY;BYHOUR=9,17"))).await;
    assert!(two.contains("`BYHOUR=9,17` repeats within a day"), "{two}");
    let unread = why_not(&event(&format!("{start}FREQ=DAILY;INTERVAL=0"))).await;
    assert!(unread.contains("its rule cannot be used: `INTERVAL=0`"), "{unread}");
}

#[tokio::test]
async fn a_start_that_the_clocks_leave_out_does_not_move_the_others() {
    let gap = event(
        "DTSTART;TZID=Europe/Zurich:20270328T023000\nDURATION:PT30M\nRRULE:FREQ=DAILY;COUNT=3",
    );
    let expected = ["2027-03-28 03:30 30 a", "2027-03-29 02:30 30 a", "2027-03-30 02:30 30 a"];
    assert_eq!(in_2027(&gap).await, expected);
}

#[tokio::test]
async fn a_day_of_duration_is_as_long_as_the_clocks_make_it() {
    let nominal =
        event("DTSTART;TZID=Europe/Zurich:20270327T120000\nDURATION:P1D\nRRULE:FREQ=DAILY;COUNT=2");
    let expected = ["2027-03-27 12:00 1380 a", "2027-03-28 12:00 1440 a"];
    assert_eq!(in_2027(&nominal).await, expected);
    let exact = event(
        "DTSTART;TZID=Europe/Zurich:20270326T120000\nDTEND;TZID=Europe/Zurich:20270327T120000\n\
         RRULE:FREQ=DAILY;COUNT=2",
    );
    let expected = ["2027-03-26 12:00 1440 a", "2027-03-27 12:00 1440 a"];
    assert_eq!(in_2027(&exact).await, expected);
}

#[tokio::test]
async fn an_added_date_may_have_a_length_of_its_own() {
    let periods = event(
        "DTSTART:20270115T090000Z\nDTEND:20270115T091000Z\n\
         RDATE;VALUE=PERIOD:20270116T090000Z/PT2H,20270117T090000Z/20270117T093000Z",
    );
    let expected = ["2027-01-15 10:00 10 a", "2027-01-16 10:00 120 a", "2027-01-17 10:00 30 a"];
    assert_eq!(in_2027(&periods).await, expected);
}
