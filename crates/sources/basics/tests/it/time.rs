//! Times against dates and zones that are known.

use jiff::Timestamp;
use serde_json::json;

use crate::{outcome, refused, table, told};

#[tokio::test]
async fn now_is_the_clock_in_the_zone_that_was_asked_for() {
    let before = Timestamp::now().as_second();
    let mut now = outcome("time_now", json!({"zone": "Asia/Kolkata"})).await;
    let after = Timestamp::now().as_second();
    let unix = now["unix"].as_i64().unwrap();
    assert!((before..=after).contains(&unix), "{before} {unix} {after}");
    // The same moment by way of the other tool must read the same.
    let time = Timestamp::from_second(unix).unwrap().to_string();
    let same = outcome("time_convert", json!({"time": time, "to": "Asia/Kolkata"})).await;
    assert_eq!(now, same);
    assert!(now["time"].as_str().unwrap().ends_with("+05:30"), "{now}");
    now = outcome("time_now", json!({})).await;
    assert_eq!(now["zone"], "UTC");
}

#[tokio::test]
async fn a_time_is_converted_with_summer_time_in_mind() {
    table(
        "time_convert",
        [
            (
                json!({"time": "2026-03-01T09:30", "from": "Europe/Zurich", "to": "Asia/Tokyo"}),
                json!({"time": "2026-03-01T17:30:00+09:00", "zone": "Asia/Tokyo",
                       "weekday": "Sunday", "unix": 1_772_353_800}),
            ),
            (
                json!({"time": "2026-07-01T09:30", "from": "Europe/Zurich", "to": "Asia/Tokyo"}),
                json!({"time": "2026-07-01T16:30:00+09:00", "zone": "Asia/Tokyo",
                       "weekday": "Wednesday", "unix": 1_782_891_000}),
            ),
            (
                // An offset counts, whatever `from` says; names of zones in any case.
                json!({"time": "1970-01-01T00:00:00.5Z", "from": "Asia/Tokyo",
                       "to": "america/new_york"}),
                json!({"time": "1969-12-31T19:00:00.5-05:00", "zone": "America/New_York",
                       "weekday": "Wednesday", "unix": 0}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn times_and_zones_that_are_none_are_told() {
    let unreadable = "`time` is no time that can be read: write `2026-03-01`, `2026-03-01T09:30` \
                      or `2026-03-01T09:30:00+01:00`";
    table(
        "time_convert",
        [
            (json!({"time": "tomorrow", "to": "UTC"}), told(unreadable)),
            (json!({"time": "2026-02-30T09:30", "to": "UTC"}), told(unreadable)),
            (json!({"time": "9999-12-31T23:59", "to": "UTC"}), told(unreadable)),
            (json!({"time": "-009999-01-01", "to": "Asia/Tokyo"}), told(unreadable)),
            (
                json!({"time": "2026-03-01T09:30", "to": "Europe/Zurch"}),
                told(
                    "`Europe/Zurch` is no known time zone: write an IANA name such as \
                     `Europe/Zurich`, or `UTC`",
                ),
            ),
            (
                json!({"time": "2026-03-01T09:30[Asia/Tokyo]", "to": "UTC"}),
                told("`time` must not hold a zone in brackets: name it in its field"),
            ),
            (
                json!({"time": "2026-03-29T02:30", "from": "Europe/Zurich", "to": "UTC"}),
                told(
                    "`time`: 2026-03-29T02:30:00 does not exist in Europe/Zurich, where the \
                     clocks skip it: give a later time",
                ),
            ),
            (
                json!({"time": "2026-10-25T02:30", "from": "Europe/Zurich", "to": "UTC"}),
                told(
                    "`time`: 2026-10-25T02:30:00 happens twice in Europe/Zurich: add the offset, \
                     +02 or +01",
                ),
            ),
        ],
    )
    .await;
    refused("time_convert", [json!({"time": "2026-03-01", "to": "x".repeat(65)})]).await;
    refused("time_now", [json!({"zone": ""}), json!({"place": "UTC"})]).await;
}

#[tokio::test]
async fn the_distance_of_two_times_is_exact_and_in_words() {
    table(
        "time_between",
        [
            (
                json!({"start": "2026-01-31", "end": "2027-03-02T12:00"}),
                json!({"seconds": 34_171_200, "duration": "P1Y1M2DT12H", "words": "1y 1mo 2d 12h"}),
            ),
            (
                json!({"start": "2026-03-02T00:00:00Z", "end": "2026-03-01T23:59:30Z"}),
                json!({"seconds": -30, "duration": "-PT30S", "words": "30s ago"}),
            ),
            (
                // A day of the calendar has 23 hours when summer time starts.
                json!({"start": "2026-03-29", "end": "2026-03-30", "zone": "Europe/Zurich"}),
                json!({"seconds": 82_800, "duration": "P1D", "words": "1d"}),
            ),
            (
                json!({"start": "2026-03-29", "end": "2026-03-29"}),
                json!({"seconds": 0, "duration": "PT0S", "words": "0s"}),
            ),
            (
                json!({"start": "-009999-01-03T00:00Z", "end": "9999-12-30T22:00Z"}),
                json!({"seconds": 631_107_151_200_i64, "duration": "P19998Y11M27DT22H",
                       "words": "19998y 11mo 27d 22h"}),
            ),
            (
                json!({"start": "2026-03-29", "end": "soon"}),
                told(
                    "`end` is no time that can be read: write `2026-03-01`, `2026-03-01T09:30` or \
                     `2026-03-01T09:30:00+01:00`",
                ),
            ),
        ],
    )
    .await;
}
