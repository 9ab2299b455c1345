//! A rule in words, as a person would say it.

use jiff::civil::Weekday;
use jiff::tz::TimeZone;

use super::{Frequency, Recurrence, RecurrenceEnd, RecurrenceUntil, RecurrenceWeekday};
use crate::names::{listed, month_name, weekday_name, weekday_short};
use crate::wording::{clock_words, day_words};

/// Monday to Friday, as a rule has them.
fn is_working_week(days: &[RecurrenceWeekday]) -> bool {
    let last = Weekday::Friday.to_monday_zero_offset();
    days.len() == 5
        && days.iter().all(|day| day.nth == 0 && day.weekday.to_monday_zero_offset() <= last)
}

/// `1st`, `22nd`, `31st`.
pub(crate) fn ordinal(number: i64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `first`, `last`, `second last`; beyond the fifth as a number.
fn place(nth: i64) -> String {
    let name = |number: i64| match number {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        _ => ordinal(number),
    };
    match nth {
        -1 => "last".to_owned(),
        ..0 => format!("{} last", name(-nth)),
        0.. => name(nth),
    }
}

impl Recurrence {
    /// The rule in words, such as `every other Friday until Thu 24 Dec 2026`; the zone is the one
    /// in which an end is told.
    pub fn words(&self, zone: &TimeZone) -> String {
        self.words_at("", zone, None)
    }

    /// The rule in words, with what is put between the days and the end, ` at 09:00`, and another
    /// name for its only weekday, `weekend`.
    pub(crate) fn words_at(&self, clock: &str, zone: &TimeZone, day: Option<&str>) -> String {
        let end = match self.end {
            RecurrenceEnd::Never => String::new(),
            RecurrenceEnd::Count(1) => ", once".to_owned(),
            RecurrenceEnd::Count(count) => format!(", {count} times"),
            RecurrenceEnd::Until(until) => format!(" until {}", until_words(until, zone)),
        };
        format!("{}{}{clock}{end}", self.period_words(day), self.choice_words())
    }

    fn period_words(&self, name: Option<&str>) -> String {
        let unit = match self.frequency {
            Frequency::Daily => "day",
            Frequency::Weekly if self.interval == 1 && is_working_week(&self.days) => {
                return "every weekday".to_owned();
            }
            Frequency::Weekly => match self.days.as_slice() {
                [day] if self.interval <= 2 => name.unwrap_or(weekday_name(day.weekday)),
                [_, _, ..] if self.interval == 1 => {
                    let days = self.days.iter().map(|day| weekday_short(day.weekday).to_owned());
                    return format!("every {}", listed(days));
                }
                _ => "week",
            },
            Frequency::Monthly => "month",
            Frequency::Yearly => "year",
        };
        match self.interval {
            1 => format!("every {unit}"),
            2 => format!("every other {unit}"),
            interval => format!("every {interval} {unit}s"),
        }
    }

    /// Which days of its period it takes, as far as the period has not said it.
    fn choice_words(&self) -> String {
        let is_said = self.frequency == Frequency::Weekly
            && (self.interval == 1 || (self.days.len() == 1 && self.interval == 2));
        let is_date = self.days.is_empty() && self.positions.is_empty();
        if let ([day], [month], true, Frequency::Yearly) =
            (&*self.month_days, &*self.months, is_date, self.frequency)
            && *day > 0
        {
            return format!(" on {day} {}", month_name(*month));
        }
        let mut words = Vec::new();
        if !self.positions.is_empty() {
            words.push(self.position_words());
        } else if !self.days.is_empty() && !is_said {
            words.push(self.day_words());
        }
        if !self.month_days.is_empty() {
            let numbers = self.month_days.iter().map(|day| match day {
                -1 => "last day".to_owned(),
                ..0 => format!("{} day", place(i64::from(*day))),
                0.. => ordinal(i64::from(*day)),
            });
            let before = if words.is_empty() { "on the" } else { "that is the" };
            words.push(format!(" {before} {}", listed(numbers)));
        }
        if !self.year_days.is_empty() {
            let numbers = self.year_days.iter().map(ToString::to_string);
            words.push(format!(" on day {} of the year", listed(numbers)));
        }
        if !self.weeks.is_empty() {
            let numbers = self.weeks.iter().map(ToString::to_string);
            words.push(format!(" in week {}", listed(numbers)));
        }
        if !self.months.is_empty() {
            let is_of = self.days.iter().any(|day| day.nth != 0) && self.months.len() == 1;
            let names = self.months.iter().map(|month| month_name(*month).to_owned());
            words.push(format!(" {} {}", if is_of { "of" } else { "in" }, listed(names)));
        }
        words.concat()
    }

    fn day_words(&self) -> String {
        let day = |day: &RecurrenceWeekday| match day.nth {
            0 => weekday_short(day.weekday).to_owned(),
            nth => format!("the {} {}", place(i64::from(nth)), weekday_name(day.weekday)),
        };
        format!(" on {}", listed(self.days.iter().map(day)))
    }

    fn position_words(&self) -> String {
        let places = listed(self.positions.iter().map(|place_of| place(i64::from(*place_of))));
        if is_working_week(&self.days) {
            return format!(" on the {places} weekday");
        }
        let of = self.days.iter().map(|day| weekday_short(day.weekday).to_owned());
        if self.days.is_empty() {
            format!(" on the {places} of these days:")
        } else {
            format!(" on the {places} of all {}", listed(of))
        }
    }
}

fn until_words(until: RecurrenceUntil, zone: &TimeZone) -> String {
    let time = match until {
        RecurrenceUntil::Day(day) => return day_words(day),
        RecurrenceUntil::Local(time) => time,
        RecurrenceUntil::Instant(instant) => zone.to_datetime(instant),
    };
    // The last second of a day means the day.
    if (time.hour(), time.minute(), time.second()) == (23, 59, 59) {
        return day_words(time.date());
    }
    format!("{} {}", day_words(time.date()), clock_words(time.time()))
}
