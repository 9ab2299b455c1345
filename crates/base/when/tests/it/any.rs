//! What is true of any moment, phrase and rule.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use proptest::prelude::*;
use toolcrib_when::{PhraseTime, Recurrence, ReferenceTime, duration, read, say};

use crate::phrases::frame;

/// Zones with every kind of change: an hour, half an hour, at midnight, none, and south.
const ZONES: [&str; 8] = [
    "Europe/Zurich",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Cairo",
    "Asia/Kolkata",
    "Pacific/Apia",
    "UTC",
];

/// Words that mean something, to be put in any order.
const WORDS: &[&str] = &[
    "tomorrow",
    "today",
    "yesterday",
    "next",
    "last",
    "this",
    "coming",
    "Friday",
    "Mon",
    "weekend",
    "week",
    "month",
    "year",
    "quarter",
    "in",
    "at",
    "on",
    "of",
    "the",
    "from",
    "to",
    "until",
    "for",
    "every",
    "other",
    "each",
    "first",
    "second",
    "last",
    "15th",
    "31st",
    "2",
    "3",
    "9",
    "14",
    "24",
    "2pm",
    "12am",
    "14:00",
    "02:30",
    "9.30",
    "14h30",
    "half",
    "past",
    "quarter",
    "to",
    "noon",
    "midnight",
    "morning",
    "tonight",
    "end",
    "day",
    "days",
    "hours",
    "minutes",
    "an",
    "a",
    "and",
    "ago",
    "from",
    "now",
    "after",
    "before",
    "March",
    "Dec",
    "2026",
    "9999",
    "24.12.2026",
    "3/4",
    "2026-03-29",
    "2026-10-25T02:30",
    "2026-W53",
    "2026-12-24/P1W",
    "Q1",
    "W5",
    "daily",
    "monthly",
    "weekdays",
    "times",
    "starting",
    "between",
    "-",
    ",",
    "UTC",
    "Europe/Zurich",
    "+02:00",
    "all",
    "around",
    "mid",
    "99999",
    "mondays",
    "working",
    "00:00",
    "24:00",
    "in",
    "fortnight",
    "one",
];

fn zone() -> impl Strategy<Value = TimeZone> {
    prop::sample::select(&ZONES[..]).prop_map(|name| TimeZone::get(name).unwrap())
}

/// Whole minutes from 1970 to 2100, often within a day of a change of the clocks.
fn moment() -> impl Strategy<Value = Zoned> {
    let any = (0_i64..4_100_000_000, zone());
    let near = (0_i64..4_100_000_000, -1_440_i64..1_440, zone());
    prop_oneof![
        any.prop_map(|(second, zone)| at(second / 60 * 60, &zone)),
        near.prop_map(|(second, minutes, zone)| {
            let from = Timestamp::from_second(second).unwrap();
            let change = zone.following(from).next().map_or(from, |change| change.timestamp());
            at(change.as_second() + minutes * 60, &zone)
        }),
    ]
}

fn at(second: i64, zone: &TimeZone) -> Zoned {
    Timestamp::from_second(second).unwrap().to_zoned(zone.clone())
}

fn rule() -> impl Strategy<Value = Recurrence> {
    let parts = (
        prop::sample::select(&["DAILY", "WEEKLY", "MONTHLY", "YEARLY"][..]),
        1_u32..6,
        prop::option::of(1_u32..20),
        prop::sample::subsequence(&["MO", "TU", "WE", "TH", "FR", "SA", "SU"][..], 0..4),
        prop::collection::btree_set(-31_i8..=31, 0..3),
    );
    parts.prop_map(|(frequency, interval, count, days, month_days)| {
        let mut text = vec![format!("FREQ={frequency};INTERVAL={interval}")];
        text.extend(count.map(|count| format!("COUNT={count}")));
        if !days.is_empty() {
            text.push(format!("BYDAY={}", days.join(",")));
        }
        let numbers: Vec<String> =
            month_days.iter().filter(|day| **day != 0).map(ToString::to_string).collect();
        if frequency != "WEEKLY" && !numbers.is_empty() {
            text.push(format!("BYMONTHDAY={}", numbers.join(",")));
        }
        text.join(";").parse().unwrap()
    })
}

/// What a reading may never be.
fn sound(when: &PhraseTime) {
    match when {
        PhraseTime::Moment(_) | PhraseTime::Day(_) => {}
        PhraseTime::Days { first, last } => assert!(first < last, "{when:?}"),
        PhraseTime::Stretch { start, end } => assert!(start < end, "{when:?}"),
        PhraseTime::Recurring { first, rule } => {
            sound(first);
            if let PhraseTime::Moment(start) | PhraseTime::Stretch { start, .. } = &**first {
                assert_eq!(rule.moments(start).next().as_ref(), Some(start), "{when:?}");
            }
            assert_eq!(rule.to_string().parse().as_ref(), Ok(rule));
        }
    }
}

/// Reads a text in every way there is; whatever is read is sound and can be said.
fn bears(text: &str, frame: &ReferenceTime) {
    if let Ok(reading) = read(text, frame) {
        sound(&reading.when);
        let _ = (reading.is_past(frame), reading.when.bounds(frame));
        let notes: Vec<String> = reading.notes.iter().map(ToString::to_string).collect();
        assert!(notes.iter().all(|note| !note.is_empty()) && !say(&reading.when, frame).is_empty());
    }
    if let Ok(span) = duration(text) {
        assert!(span.is_positive(), "{span}");
    }
}

proptest! {
    #[test]
    fn a_moment_in_a_standards_words_reads_back(moment in moment(), home in zone()) {
        let frame = ReferenceTime::new(at(1_790_000_000, &home));
        let forms = [
            moment.to_string(),
            moment.timestamp().to_string(),
            moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        ];
        for form in forms {
            let reading = read(&form, &frame).unwrap();
            prop_assert_eq!(&reading.when, &PhraseTime::Moment(moment.clone()), "{}", form);
        }
    }

    #[test]
    fn what_is_said_of_a_moment_reads_back(moment in moment(), home in zone(), day in any::<bool>()) {
        let frame = ReferenceTime::new(at(1_790_000_000, &home));
        let when = if day { PhraseTime::Day(moment.date()) } else { PhraseTime::Moment(moment) };
        let said = say(&when, &frame);
        let reading = read(&said, &frame);
        prop_assert_eq!(reading.map(|reading| reading.when), Ok(when), "{}", said);
    }

    #[test]
    fn a_stretch_that_is_said_reads_back(start in moment(), minutes in 1_i64..5_000) {
        let frame = ReferenceTime::new(at(1_790_000_000, start.time_zone()));
        let end = at(start.timestamp().as_second() + minutes * 60, start.time_zone());
        let when = PhraseTime::Stretch { start, end };
        let said = say(&when, &frame);
        let reading = read(&said, &frame);
        prop_assert_eq!(reading.map(|reading| reading.when), Ok(when), "{}", said);
    }

    #[test]
    fn words_in_any_order_are_read_or_refused(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..8),
        now in moment(),
    ) {
        bears(&words.join(" "), &ReferenceTime::new(now));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,220}") {
        bears(&text, &frame("2026-11-20T10:30[Europe/Zurich]"));
        let _ = text.parse::<Recurrence>();
    }

    #[test]
    fn digits_and_signs_are_read_or_refused(text in "[0-9apmhTWZPQ:./+ -]{0,24}") {
        bears(&text, &frame("9999-12-30T23:30[Asia/Tokyo]"));
        bears(&text, &frame("0001-01-01T00:30[America/New_York]"));
    }

    #[test]
    fn a_recurrence_keeps_the_time_on_the_clock(rule in rule(), start in moment()) {
        let mut last: Option<Zoned> = None;
        for moment in rule.moments(&start).take(40) {
            prop_assert!(last.as_ref().is_none_or(|last| *last < moment), "{} after {:?}", moment, last);
            let wanted: DateTime = moment.date().to_datetime(start.time());
            let is_changed = moment.datetime() != wanted;
            let exists = !moment.time_zone().to_ambiguous_zoned(wanted).is_ambiguous();
            // A start in the second of two equal hours is kept as it is.
            prop_assert!(!is_changed || !exists || moment.date() != wanted.date());
            last = Some(moment);
        }
    }

    #[test]
    fn days_of_a_rule_only_go_on(rule in rule(), day in 0_i16..20_000) {
        let start: Date = "2000-01-01".parse::<Date>().unwrap().saturating_add(jiff::Span::new().days(day));
        let days: Vec<Date> = rule.dates(start).take(40).collect();
        prop_assert!(days.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(days.first().is_none_or(|first| *first >= start));
        let (from, to) = (start.saturating_add(jiff::Span::new().days(300)), Date::MAX);
        let jumped: Vec<Date> = rule.dates_between(start, from, to).take(5).collect();
        let walked: Vec<Date> = rule.dates(start).skip_while(|day| *day < from).take(5).collect();
        prop_assert_eq!(jumped, walked);
    }

    #[test]
    fn a_rule_is_read_from_what_is_written(rule in rule()) {
        prop_assert_eq!(rule.to_string().parse::<Recurrence>(), Ok(rule));
    }
}

#[test]
fn a_time_of_day_on_a_day_of_change_is_there_or_told() {
    for name in ZONES {
        let zone = TimeZone::get(name).unwrap();
        let from: Timestamp = "2026-01-01T00:00Z".parse().unwrap();
        for change in zone.following(from).take(4) {
            let day = change.timestamp().to_zoned(zone.clone()).date();
            let frame =
                ReferenceTime::new(day.yesterday().unwrap().to_zoned(zone.clone()).unwrap());
            for minute in 0_i16..1_440 {
                let part = |number: i16| i8::try_from(number).unwrap();
                let time = Time::new(part(minute / 60), part(minute % 60), 0, 0).unwrap();
                let reading = read(&format!("{day} {}", time.strftime("%H:%M")), &frame).unwrap();
                let PhraseTime::Moment(moment) = &reading.when else { panic!("{reading:?}") };
                let is_plain = !zone.to_ambiguous_zoned(day.to_datetime(time)).is_ambiguous();
                assert_eq!(reading.notes.is_empty(), is_plain, "{day} {time} in {name}");
                assert_eq!(
                    moment.time() == time,
                    is_plain || reading.notes[0].to_string().contains("twice")
                );
            }
        }
    }
}
