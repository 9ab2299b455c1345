//! Rules of RFC 5545: read, written, expanded as others expand them, and said in words.

use std::time::{Duration, Instant};

use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use toolcrib_when::{Recurrence, TimeParseProblem};

/// Rules with a start and what python-dateutil makes of them; `occurrences.py` wrote it.
const OCCURRENCES: &str = include_str!("occurrences.txt");

fn rule(text: &str) -> Recurrence {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn zoned(text: &str) -> Zoned {
    text.parse().unwrap()
}

fn said(days: impl Iterator<Item = Date>) -> String {
    days.map(|day| day.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn occurrences_are_those_that_dateutil_finds() {
    let mut wrong = Vec::new();
    for line in OCCURRENCES.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let start: Date = fields[1].parse().unwrap();
        let expected = fields.get(2).copied().unwrap_or_default();
        let (expected, is_whole) =
            expected.strip_suffix("end").map_or((expected, false), |days| (days.trim(), true));
        let dates = rule(fields[0]).dates(start).take_while(|day| day.year() < 2200);
        let found = said(dates.take(if is_whole { 50 } else { expected.split(' ').count() }));
        if found != expected {
            wrong.push(format!("{line}\n  found {found}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(OCCURRENCES.lines().count() > 300);
}

/// What the text of RFC 5545 (section 3.8.5.3) gives as the outcome of its examples.
#[test]
fn the_examples_of_the_standard_come_out() {
    let examples = [
        ("FREQ=YEARLY;BYDAY=20MO", "1997-05-19", "1997-05-19 1998-05-18 1999-05-17"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12", "1997-05-12 1998-05-11 1999-05-17"),
        (
            "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
            "1997-09-02",
            "1998-02-13 1998-03-13 1998-11-13 1999-08-13 2000-10-13",
        ),
        (
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
            "1996-11-05",
            "1996-11-05 2000-11-07 2004-11-02",
        ),
        (
            "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
            "1997-09-04",
            "1997-09-04 1997-10-07 1997-11-06",
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
            "1997-08-05",
            "1997-08-05 1997-08-10 1997-08-19 1997-08-24",
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
            "1997-08-05",
            "1997-08-05 1997-08-17 1997-08-19 1997-08-31",
        ),
        (
            "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
            "2007-01-15",
            "2007-01-15 2007-01-30 2007-02-15 2007-03-15 2007-03-30",
        ),
    ];
    for (text, start, expected) in examples {
        let count = expected.split(' ').count();
        let found = said(rule(text).dates(start.parse().unwrap()).take(count));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_week_of_the_year_without_a_day_has_the_day_of_the_start() {
    let days = rule("FREQ=YEARLY;BYWEEKNO=20").dates("1997-05-12".parse().unwrap()).take(3);
    assert_eq!(said(days), "1997-05-12 1998-05-11 1999-05-17");
}

#[test]
fn a_rule_is_written_in_one_form() {
    let cases = [
        ("RRULE:FREQ=WEEKLY;BYDAY=FR,MO,MO", "FREQ=WEEKLY;BYDAY=MO,FR"),
        ("freq=daily;interval=1", "FREQ=DAILY"),
        ("INTERVAL=2;FREQ=WEEKLY;WKST=SU;BYDAY=TU;", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;WKST=SU"),
        ("FREQ=MONTHLY;BYDAY=-1FR,+1MO;COUNT=6", "FREQ=MONTHLY;COUNT=6;BYDAY=-1FR,1MO"),
        ("FREQ=DAILY;UNTIL=20261224", "FREQ=DAILY;UNTIL=20261224"),
        ("FREQ=DAILY;UNTIL=20261224T180000", "FREQ=DAILY;UNTIL=20261224T180000"),
        ("FREQ=DAILY;UNTIL=20261224T170000Z", "FREQ=DAILY;UNTIL=20261224T170000Z"),
        (
            "FREQ=YEARLY;BYSETPOS=-1;BYMONTHDAY=-1,1;BYYEARDAY=100;BYMONTH=12,3;BYWEEKNO=20",
            "FREQ=YEARLY;BYMONTH=3,12;BYWEEKNO=20;BYYEARDAY=100;BYMONTHDAY=-1,1;BYSETPOS=-1",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(rule(text).to_string(), expected);
        assert_eq!(rule(expected), rule(text), "{text}");
    }
}

/// Texts that are no rules, with what is said of them before the cure.
const NO_RULES: &[(&str, TimeParseProblem, &str)] = &[
    ("", TimeParseProblem::Empty, "`` is no rule"),
    ("every monday", TimeParseProblem::Unknown, "`EVERY MONDAY` does not say how often"),
    (
        "FREQ=WEEKLY;BYDAY=XX",
        TimeParseProblem::Unknown,
        "`BYDAY=XX` has what is no weekday, such as MO, 1MO or -1FR",
    ),
    (
        "FREQ=FORTNIGHTLY",
        TimeParseProblem::Unknown,
        "`FREQ=FORTNIGHTLY` is no part of a recurrence rule",
    ),
    ("FREQ=DAILY;FREQ=WEEKLY", TimeParseProblem::Conflict, "`FREQ=WEEKLY` says it twice"),
    ("FREQ=DAILY;X-A=1", TimeParseProblem::Unknown, "`X-A=1` is no part of a recurrence rule"),
    (
        "FREQ=DAILY;INTERVAL=0",
        TimeParseProblem::OutOfRange,
        "`INTERVAL=0` is no number from 1 to 100000",
    ),
    (
        "FREQ=DAILY;COUNT=-1",
        TimeParseProblem::OutOfRange,
        "`COUNT=-1` is no number from 1 to 100000",
    ),
    (
        "FREQ=MONTHLY;BYMONTHDAY=0",
        TimeParseProblem::OutOfRange,
        "`BYMONTHDAY=0` has a number that is not from -31 to 31, or is zero",
    ),
    (
        "FREQ=YEARLY;BYMONTH=13",
        TimeParseProblem::OutOfRange,
        "`BYMONTH=13` has a number that is not from 1 to 12, or is zero",
    ),
    (
        "FREQ=WEEKLY;BYDAY=1MO",
        TimeParseProblem::Conflict,
        "`FREQ=WEEKLY;BYDAY=1MO` has BYDAY with a number outside months and years",
    ),
    (
        "FREQ=WEEKLY;BYMONTHDAY=1",
        TimeParseProblem::Conflict,
        "`FREQ=WEEKLY;BYMONTHDAY=1` has BYMONTHDAY in weeks",
    ),
    (
        "FREQ=MONTHLY;BYWEEKNO=1",
        TimeParseProblem::Conflict,
        "`FREQ=MONTHLY;BYWEEKNO=1` has BYWEEKNO outside years",
    ),
    (
        "FREQ=DAILY;BYYEARDAY=1",
        TimeParseProblem::Conflict,
        "`FREQ=DAILY;BYYEARDAY=1` has BYYEARDAY outside years",
    ),
    (
        "FREQ=DAILY;BYSETPOS=1",
        TimeParseProblem::Conflict,
        "`FREQ=DAILY;BYSETPOS=1` has BYSETPOS without days to choose from",
    ),
];

#[test]
fn what_is_no_rule_is_told_by_its_part() {
    let say_so = "say it like `FREQ=WEEKLY;BYDAY=MO` or `FREQ=MONTHLY;BYDAY=-1FR;COUNT=6`";
    for (text, problem, expected) in NO_RULES {
        let error = text.parse::<Recurrence>().unwrap_err();
        assert_eq!(
            (error.problem(), error.to_string()),
            (*problem, format!("{expected}: {say_so}"))
        );
    }
    let long = format!("FREQ=DAILY;BYMONTHDAY={}", "1,".repeat(1_000));
    assert_eq!(long.parse::<Recurrence>().unwrap_err().problem(), TimeParseProblem::TooLong);
}

#[test]
fn what_is_not_followed_is_told_with_its_own_cure() {
    let others = [
        (
            "FREQ=DAILY;COUNT=2;UNTIL=20261224",
            "`FREQ=DAILY;COUNT=2;UNTIL=20261224` has both COUNT and UNTIL: leave one of them out",
        ),
        (
            "FREQ=HOURLY",
            "`FREQ=HOURLY` repeats within a day, which is not followed here: say DAILY, WEEKLY, MONTHLY or YEARLY",
        ),
        (
            "FREQ=DAILY;BYHOUR=9,10",
            "`BYHOUR=9,10` repeats within a day, which is not followed here: make an event of each hour",
        ),
        (
            "FREQ=DAILY;UNTIL=20261301",
            "`UNTIL=20261301` is no time of the calendar: say it like `UNTIL=20261224` or `UNTIL=20261224T170000Z`",
        ),
    ];
    for (text, expected) in others {
        assert_eq!(text.parse::<Recurrence>().unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_rule_that_never_falls_on_a_day_ends() {
    let never = [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
        "FREQ=WEEKLY;BYMONTH=2;BYDAY=MO;BYSETPOS=3",
        "FREQ=MONTHLY;BYDAY=6MO",
        "FREQ=YEARLY;INTERVAL=100000",
    ];
    for text in never {
        let start = Instant::now();
        let days: Vec<Date> = rule(text).dates("2026-01-05".parse().unwrap()).skip(1).collect();
        assert_eq!(days, [], "{text}");
        assert!(start.elapsed() < Duration::from_secs(5), "{text}: {:?}", start.elapsed());
    }
}

#[test]
fn a_rule_ends_with_its_calendar() {
    let days = rule("FREQ=YEARLY;INTERVAL=3").dates("9990-06-01".parse().unwrap());
    assert_eq!(said(days), "9990-06-01 9993-06-01 9996-06-01 9999-06-01");
    let days = rule("FREQ=WEEKLY;BYDAY=MO,FR").dates("9999-12-20".parse().unwrap());
    assert_eq!(said(days), "9999-12-20 9999-12-24 9999-12-27 9999-12-31");
    assert_eq!(rule("FREQ=WEEKLY").dates(Date::MAX).collect::<Vec<_>>(), [Date::MAX]);
}

#[test]
fn a_window_far_from_the_start_is_reached_at_once() {
    let start: Date = "1970-01-01".parse().unwrap();
    let (from, to) = ("9000-01-01".parse().unwrap(), "9000-01-15".parse().unwrap());
    let cases = [
        ("FREQ=DAILY;INTERVAL=5", "9000-01-01 9000-01-06 9000-01-11"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU", "9000-01-05 9000-01-13"),
        ("FREQ=MONTHLY;INTERVAL=7;BYMONTHDAY=4", ""),
        ("FREQ=YEARLY;INTERVAL=5;BYYEARDAY=9", "9000-01-09"),
    ];
    for (text, expected) in cases {
        let rule = rule(text);
        let slowly = rule.dates(start).skip_while(|day| *day < from).take_while(|day| *day < to);
        assert_eq!(said(rule.dates_between(start, from, to)), said(slowly), "{text}");
        assert_eq!(said(rule.dates_between(start, from, to)), expected, "{text}");
    }
}

#[test]
fn the_time_on_the_clock_stays_over_a_change() {
    let start = zoned("2026-03-27T09:00[Europe/Zurich]");
    let found: Vec<String> =
        rule("FREQ=DAILY;COUNT=4").moments(&start).map(|moment| moment.to_string()).collect();
    assert_eq!(
        found,
        [
            "2026-03-27T09:00:00+01:00[Europe/Zurich]",
            "2026-03-28T09:00:00+01:00[Europe/Zurich]",
            "2026-03-29T09:00:00+02:00[Europe/Zurich]",
            "2026-03-30T09:00:00+02:00[Europe/Zurich]",
        ]
    );
    let start = zoned("2026-03-28T02:30[Europe/Zurich]");
    let found: Vec<String> =
        rule("FREQ=DAILY;COUNT=3").moments(&start).map(|at| at.time().to_string()).collect();
    assert_eq!(found, ["02:30:00", "03:30:00", "02:30:00"]);
}

#[test]
fn the_second_of_two_equal_times_is_kept_as_the_start() {
    let start = zoned("2026-10-25T02:30+01:00[Europe/Zurich]");
    let found: Vec<Zoned> = rule("FREQ=DAILY;COUNT=2").moments(&start).collect();
    assert_eq!(found, [start, zoned("2026-10-26T02:30+01:00[Europe/Zurich]")]);
}

#[test]
fn a_day_that_a_zone_leaves_out_comes_once() {
    // Samoa had no 30th of December 2011.
    let start = zoned("2011-12-28T09:00[Pacific/Apia]");
    let found: Vec<String> =
        rule("FREQ=DAILY;COUNT=5").moments(&start).map(|at| at.date().to_string()).collect();
    assert_eq!(found, ["2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01"]);
}

#[test]
fn an_end_is_meant_as_it_is_written() {
    let start = zoned("2026-12-22T09:00[Europe/Zurich]");
    let count = |text: &str| rule(text).moments(&start).count();
    assert_eq!(count("FREQ=DAILY;UNTIL=20261224"), 3);
    assert_eq!(count("FREQ=DAILY;UNTIL=20261224T085959"), 2);
    assert_eq!(count("FREQ=DAILY;UNTIL=20261224T090000"), 3);
    assert_eq!(count("FREQ=DAILY;UNTIL=20261224T080000Z"), 3);
    assert_eq!(count("FREQ=DAILY;UNTIL=20261224T075959Z"), 2);
    assert_eq!(count("FREQ=DAILY;UNTIL=20201224"), 0);
    let days = rule("FREQ=DAILY;UNTIL=20261224T230000Z").dates("2026-12-22".parse().unwrap());
    assert_eq!(said(days), "2026-12-22 2026-12-23 2026-12-24");
}

#[test]
fn moments_between_two_others_are_found_in_any_zone() {
    let start = zoned("2026-01-05T23:30[America/New_York]");
    let (from, to) = (zoned("2026-03-01T00:00[Asia/Tokyo]"), zoned("2026-03-11T00:00[Asia/Tokyo]"));
    let found = rule("FREQ=WEEKLY;BYDAY=MO,WE").moments_between(&start, &from, &to);
    let found: Vec<String> = found.map(|moment| moment.to_string()).collect();
    assert_eq!(
        found,
        [
            "2026-03-02T23:30:00-05:00[America/New_York]",
            "2026-03-04T23:30:00-05:00[America/New_York]",
            "2026-03-09T23:30:00-04:00[America/New_York]",
        ]
    );
}

#[test]
fn a_rule_says_itself() {
    let zone = TimeZone::get("Europe/Zurich").unwrap();
    let cases = [
        ("FREQ=DAILY", "every day"),
        ("FREQ=DAILY;INTERVAL=2", "every other day"),
        ("FREQ=DAILY;INTERVAL=3;COUNT=5", "every 3 days, 5 times"),
        ("FREQ=DAILY;BYMONTH=1", "every day in January"),
        ("FREQ=WEEKLY", "every week"),
        ("FREQ=WEEKLY;BYDAY=FR", "every Friday"),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;UNTIL=20261224",
            "every other Friday until Thu 24 Dec 2026",
        ),
        ("FREQ=WEEKLY;BYDAY=FR;UNTIL=20261224T225959Z", "every Friday until Thu 24 Dec 2026"),
        ("FREQ=WEEKLY;BYDAY=FR;UNTIL=20261224T120000Z", "every Friday until Thu 24 Dec 2026 13:00"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every weekday"),
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR", "every Mon, Wed and Fri"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH", "every other week on Tue and Thu"),
        ("FREQ=WEEKLY;INTERVAL=3;BYDAY=TU", "every 3 weeks on Tue"),
        ("FREQ=MONTHLY;BYMONTHDAY=15", "every month on the 15th"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "every month on the last day"),
        ("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1,22", "every 3 months on the 1st and 22nd"),
        ("FREQ=MONTHLY;BYDAY=1MO", "every month on the first Monday"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "every month on the last Friday"),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "every month on Fri that is the 13th"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "every month on the last weekday"),
        ("FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=3", "every year on 3 May"),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1FR", "every year on the last Friday of March"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "every year on Mon in week 20"),
        ("FREQ=YEARLY;BYYEARDAY=100", "every year on day 100 of the year"),
    ];
    for (text, expected) in cases {
        assert_eq!(rule(text).words(&zone), expected, "{text}");
    }
}
