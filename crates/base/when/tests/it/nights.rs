//! Nights and weekends over a grid of phrases, against rules that are plain enough to be seen.

use jiff::civil::{Date, Time, Weekday};
use jiff::{ToSpan, Zoned};
use toolcrib_when::{PhraseNote, PhraseTime, TimeParseProblem, read};

use crate::phrases::frame;

/// Times of day as they are said, and what a clock shows then.
const CLOCKS: &[(&str, &str)] = &[
    ("1am", "01:00"),
    ("1:30am", "01:30"),
    ("2 am", "02:00"),
    ("12:30am", "00:30"),
    ("5am", "05:00"),
    ("00:15", "00:15"),
    ("01:00", "01:00"),
    ("04:45", "04:45"),
    ("1", "01:00"),
    ("2:30", "02:30"),
    ("4", "04:00"),
    ("12:30", "00:30"),
    ("half past midnight", "00:30"),
    ("quarter past one", "01:15"),
    ("3h30", "03:30"),
    ("6", "18:00"),
    ("8", "20:00"),
    ("9:15", "21:15"),
    ("8pm", "20:00"),
    ("5pm", "17:00"),
    ("11:30pm", "23:30"),
    ("22:00", "22:00"),
    ("quarter to midnight", "23:45"),
];
const NOWS: [&str; 5] = [
    "2026-11-20T10:30[Europe/Zurich]",
    "2026-11-21T00:20[Europe/Zurich]",
    "2026-11-22T23:50[Asia/Tokyo]",
    "2027-02-28T12:00[UTC]",
    "2026-12-31T05:59[UTC]",
];
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("Monday", Weekday::Monday),
    ("Tue", Weekday::Tuesday),
    ("Wednesday", Weekday::Wednesday),
    ("Thu", Weekday::Thursday),
    ("Friday", Weekday::Friday),
    ("Sat", Weekday::Saturday),
    ("Sunday", Weekday::Sunday),
];

fn is_small(time: Time) -> bool {
    time.hour() < 6
}

/// The moment of a time of day in the night that begins on a day.
fn in_night(day: Date, time: Time, now: &Zoned) -> Zoned {
    let day = if is_small(time) { day.tomorrow().unwrap() } else { day };
    day.to_datetime(time).to_zoned(now.time_zone().clone()).unwrap()
}

/// The nights that are said, with the days on which they begin.
fn nights(now: &Zoned) -> Vec<(String, Date)> {
    let today = now.date();
    let mut nights = vec![
        ("tonight".to_owned(), today),
        ("tomorrow night".to_owned(), today.tomorrow().unwrap()),
        ("last night".to_owned(), today.yesterday().unwrap()),
        ("the night of 5 June 2027".to_owned(), "2027-06-05".parse().unwrap()),
    ];
    nights.extend(WEEKDAYS.iter().map(|(name, weekday)| {
        let ahead = i64::from(weekday.since(today.weekday()));
        (format!("{name} night"), today.saturating_add(ahead.days()))
    }));
    nights
}

#[test]
fn the_small_hours_of_a_night_are_after_the_day_that_names_it() {
    let mut count = 0;
    for now in NOWS {
        let frame = frame(now);
        for (night, day) in nights(&frame.now) {
            for (clock, shown) in CLOCKS {
                let time: Time = shown.parse().unwrap();
                let mut expected = in_night(day, time, &frame.now);
                let is_weekday = WEEKDAYS.iter().any(|(name, _)| night.starts_with(name));
                if is_weekday && expected < frame.now {
                    expected = in_night(day.saturating_add(7.days()), time, &frame.now);
                }
                // Who says `tonight` after midnight means the night that is.
                let early = &expected - 1.day();
                let is_running = frame.now.hour() < 6 && is_small(time) && early >= frame.now;
                if night == "tonight" && is_running {
                    expected = early;
                }
                for phrase in [format!("{night} at {clock}"), format!("at {clock} {night}")] {
                    let reading = read(&phrase, &frame).unwrap_or_else(|error| {
                        panic!("{phrase} at {now}: {error}");
                    });
                    assert_eq!(
                        reading.when,
                        PhraseTime::Moment(expected.clone()),
                        "{phrase} at {now}"
                    );
                    let is_told = reading.notes.iter().any(|note| {
                        matches!(note, PhraseNote::NightAfter { taken, .. } | PhraseNote::Taken { taken, .. }
                            if *taken == expected.date())
                    });
                    assert!(is_told || !is_small(time), "{phrase} at {now}: {:?}", reading.notes);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 2_000, "{count}");
}

#[test]
fn the_small_hours_of_nights_that_recur_are_on_the_days_after() {
    for now in NOWS {
        let frame = frame(now);
        for (name, weekday) in WEEKDAYS {
            for (clock, shown) in CLOCKS {
                let time: Time = shown.parse().unwrap();
                let day = if is_small(time) { weekday.next() } else { weekday };
                for every in ["every", "every other"] {
                    let phrase = format!("{every} {name} night at {clock}");
                    let reading = read(&phrase, &frame).unwrap();
                    let PhraseTime::Recurring { first, rule } = &reading.when else {
                        panic!("{phrase}: {reading:?}");
                    };
                    let PhraseTime::Moment(first) = &**first else { panic!("{phrase}: {first:?}") };
                    assert!(*first >= frame.now && *first < &frame.now + 8.days(), "{phrase}");
                    let found: Vec<(Weekday, Time)> =
                        rule.moments(first).take(4).map(|at| (at.weekday(), at.time())).collect();
                    assert_eq!(found, [(day, time); 4], "{phrase} at {now}");
                    let is_told = reading
                        .notes
                        .iter()
                        .any(|note| matches!(note, PhraseNote::NightAfter { .. }));
                    assert_eq!(is_told, is_small(time), "{phrase} at {now}: {:?}", reading.notes);
                }
            }
        }
    }
}

#[test]
fn a_stretch_in_the_small_hours_is_of_one_night() {
    let frame = frame(NOWS[0]);
    for phrase in [
        "tonight from 1am to 3am",
        "from 1am to 3am tonight",
        "1-3am tonight",
        "from 1 to 3 tonight",
        "tonight 1am for 2 hours",
        "tonight at 1am until 3",
    ] {
        let start = in_night(frame.now.date(), "01:00".parse().unwrap(), &frame.now);
        let end = in_night(frame.now.date(), "03:00".parse().unwrap(), &frame.now);
        let when = read(phrase, &frame).map(|reading| reading.when);
        assert_eq!(when, Ok(PhraseTime::Stretch { start, end }), "{phrase}");
    }
}

#[test]
fn five_at_night_is_asked_for() {
    let frame = frame(NOWS[0]);
    for phrase in [
        "tonight at 5",
        "at 5 tomorrow night",
        "tomorrow night 5:30",
        "Friday night at five",
        "every night at 5",
        "every Friday night at 5",
        "tonight from 5 to 7",
    ] {
        let problem = read(phrase, &frame).map_err(|error| error.problem());
        assert_eq!(
            problem.map(|reading| reading.when),
            Err(TimeParseProblem::Ambiguous),
            "{phrase}"
        );
    }
}

#[test]
fn a_time_on_weekends_is_on_both_of_their_days() {
    let mut frame = frame(NOWS[0]);
    for week_starts in [Weekday::Monday, Weekday::Sunday] {
        frame.week_starts = week_starts;
        for now in NOWS {
            frame.now = now.parse().unwrap();
            for (phrase, weeks) in [
                ("weekends at 10am", 1),
                ("on weekends at 10am", 1),
                ("10am on weekends", 1),
                ("every weekend at 10am", 1),
                ("each weekend from 10am to noon", 1),
                ("at 10am every weekend for 2 hours", 1),
                ("every other weekend at 10am", 2),
                ("every 3rd weekend at 10am", 3),
            ] {
                let reading = read(phrase, &frame).unwrap();
                let PhraseTime::Recurring { first, rule } = &reading.when else {
                    panic!("{phrase}: {reading:?}");
                };
                let (PhraseTime::Moment(first) | PhraseTime::Stretch { start: first, .. }) =
                    &**first
                else {
                    panic!("{phrase}: {first:?}");
                };
                let found: Vec<Date> = rule.moments(first).take(7).map(|at| at.date()).collect();
                // Of the first weekend only Sunday may be left.
                let whole: Vec<Date> = found
                    .into_iter()
                    .skip_while(|day| *day == first.date() && day.weekday() == Weekday::Sunday)
                    .take(6)
                    .collect();
                let saturday = whole[0];
                assert_eq!(saturday.weekday(), Weekday::Saturday, "{phrase} at {now}");
                let expected: Vec<Date> = (0..3_i64)
                    .flat_map(|number| {
                        let first = saturday.saturating_add((7 * weeks * number).days());
                        [first, first.tomorrow().unwrap()]
                    })
                    .collect();
                assert_eq!(whole, expected, "{phrase} at {now}, weeks start on {week_starts:?}");
            }
        }
    }
}
