//! Zones of random rules, against a reference that looks at every day.

use jiff::civil::{Date, Weekday};
use proptest::prelude::*;
use toolcrib_desk::backend::EventSlot;

use super::{Taken, calendar, event};

const LETTERS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// When a time begins to be observed: on a weekday of a month, each year from 2000 until a last.
#[derive(Debug, Clone, Copy)]
struct Rule {
    month: i8,
    nth: i8,
    weekday: i8,
    hour: i8,
    last: i16,
    /// In hours.
    offsets: (i64, i64),
}

impl Rule {
    fn lines(&self, kind: &str) -> String {
        let day = LETTERS[usize::try_from(self.weekday).unwrap()];
        let (from, to) = self.offsets;
        let sign =
            |hours: i64| format!("{}{:02}00", if hours < 0 { '-' } else { '+' }, hours.abs());
        // The end is in UTC, and on the last day of a year no clock changes here.
        format!(
            "BEGIN:{kind}\nDTSTART:{}T{:02}0000\nTZOFFSETFROM:{}\nTZOFFSETTO:{}\n\
             RRULE:FREQ=YEARLY;BYMONTH={};BYDAY={}{day};UNTIL={}1231T120000Z\nEND:{kind}\n",
            self.days().next().unwrap().strftime("%Y%m%d"),
            self.hour,
            sign(from),
            sign(to),
            self.month,
            self.nth,
            self.last,
        )
    }

    /// Every day on which it begins.
    fn days(self) -> impl Iterator<Item = Date> {
        let all = Date::constant(2000, 1, 1).series(jiff::Span::new().days(1));
        let all = all.take_while(move |day| day.year() <= self.last);
        all.filter(move |day| {
            let weekday = Weekday::from_monday_zero_offset(self.weekday).unwrap();
            let is_nth = match self.nth {
                -1 => day.day() > day.days_in_month() - 7,
                nth => (day.day() - 1) / 7 + 1 == nth,
            };
            day.month() == self.month && day.weekday() == weekday && is_nth
        })
    }
}

/// Seconds from the year 2000, on whatever clock.
fn seconds(day: Date, hour: i8) -> i64 {
    let days = i64::from((day - Date::constant(2000, 1, 1)).get_days());
    days * 86_400 + i64::from(hour) * 3600
}

/// The offsets that a time on the clock may have, in hours.
fn offsets_at(rules: &[Rule], local: i64) -> Vec<i64> {
    let onsets = rules.iter().flat_map(|rule| {
        rule.days().map(|day| (seconds(day, rule.hour) - rule.offsets.0 * 3600, *rule))
    });
    let mut onsets: Vec<_> = onsets.collect();
    onsets.sort_by_key(|(at, _)| *at);
    let offset = |time: i64| {
        let latest = onsets.iter().rfind(|(at, _)| *at <= time);
        latest.map_or(onsets[0].1.offsets.0, |(_, rule)| rule.offsets.1)
    };
    let mut all = vec![rules[0].offsets.0, rules[0].offsets.1];
    all.retain(|hours| offset(local - hours * 3600) == *hours);
    all
}

fn rule(months: std::ops::RangeInclusive<i8>) -> impl Strategy<Value = Rule> {
    let nth = prop::sample::select(vec![1, 2, 3, 4, -1]);
    (months, nth, 0..7_i8, 0..5_i8, 2000..2040_i16).prop_map(|(month, nth, weekday, hour, last)| {
        Rule { month, nth, weekday, hour, last, offsets: (0, 0) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_zone_of_any_rules_has_the_offsets_of_its_onsets(
        (spring, autumn) in (rule(2..=5), rule(8..=11)),
        base in -11..=11_i64,
        jump in prop::sample::select(vec![-1_i64, 1, 2]),
        (year, day, hour) in (2001..2045_i16, 1..=365_i16, 0..24_i8),
    ) {
        let spring = Rule { offsets: (base, base + jump), ..spring };
        let autumn = Rule { offsets: (base + jump, base), ..autumn };
        let day = Date::constant(year, 1, 1).saturating_add(jiff::Span::new().days(day - 1));
        let told = offsets_at(&[spring, autumn], seconds(day, hour));
        let [told] = told[..] else { return Ok(()) };
        let zone = format!(
            "BEGIN:VTIMEZONE\nTZID:Own\n{}{}END:VTIMEZONE\n",
            spring.lines("DAYLIGHT"),
            autumn.lines("STANDARD"),
        );
        let start = format!("{}T{hour:02}0000", day.strftime("%Y%m%d"));
        let file = calendar(&(zone + &event(&format!("DTSTART;TZID=Own:{start}"))));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let events = runtime.block_on(async {
            Taken::of(file.clone()).await.events("2000-01-01 00:00", "2050-01-01 00:00").await
        });
        let EventSlot::Timed { start, .. } = &events[0].slot else { panic!("a day") };
        let utc = seconds(day, hour) - told * 3600;
        let year_2000 = 946_684_800;
        prop_assert_eq!(start.timestamp().as_second() - year_2000, utc, "{}", file);
    }
}
