//! A recurrence rule of RFC 5545 (section 3.3.10): read, written, expanded and said in words.

pub(crate) mod expand;
mod filter;
mod parse;
pub(crate) mod wording;
mod write;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Weekday};

/// How often something comes again.
///
/// It stands for whole days and for moments alike: what it is expanded from (a `Date` or a
/// `Zoned`) says which. Rules that repeat within a day are not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recurrence {
    pub(crate) frequency: Frequency,
    /// Every how many of them, from 1.
    pub(crate) interval: u32,
    pub(crate) end: RecurrenceEnd,
    /// 1 to 12, sorted.
    pub(crate) months: Vec<i8>,
    /// 1 to 53, or from the end of the year with a minus.
    pub(crate) weeks: Vec<i8>,
    /// 1 to 366, or from the end of the year with a minus.
    pub(crate) year_days: Vec<i16>,
    /// 1 to 31, or from the end of the month with a minus.
    pub(crate) month_days: Vec<i8>,
    pub(crate) days: Vec<RecurrenceWeekday>,
    /// Which of what the other parts leave over of a period, from its start or its end.
    pub(crate) positions: Vec<i16>,
    pub(crate) week_starts: Weekday,
}

/// The length of a period of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frequency {
    /// `DAILY`
    Daily,
    /// `WEEKLY`
    Weekly,
    /// `MONTHLY`
    Monthly,
    /// `YEARLY`
    Yearly,
}

/// Where a rule ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurrenceEnd {
    /// Nowhere.
    Never,
    /// After so many occurrences, from 1.
    Count(u32),
    /// With the last occurrence at or before it.
    Until(RecurrenceUntil),
}

/// The last time at which something may occur, in the three forms of `UNTIL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurrenceUntil {
    /// A whole day, which belongs to it.
    Day(Date),
    /// A time on the clock of wherever the start is.
    Local(DateTime),
    /// An instant.
    Instant(Timestamp),
}

/// A weekday of a rule: every one, or the nth of its month or year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecurrenceWeekday {
    /// Which one of the period, counted from its end if negative; zero for every one.
    pub(crate) nth: i8,
    pub(crate) weekday: Weekday,
}

impl Recurrence {
    /// Every so many periods, for ever.
    pub(crate) fn every(interval: u32, frequency: Frequency, week_starts: Weekday) -> Self {
        Self {
            frequency,
            interval: interval.max(1),
            end: RecurrenceEnd::Never,
            months: Vec::new(),
            weeks: Vec::new(),
            year_days: Vec::new(),
            month_days: Vec::new(),
            days: Vec::new(),
            positions: Vec::new(),
            week_starts,
        }
    }

    /// The length of its periods.
    pub fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// Every how many periods it recurs.
    pub fn interval(&self) -> u32 {
        self.interval
    }

    /// Where it ends.
    pub fn end(&self) -> RecurrenceEnd {
        self.end
    }

    /// The same rule with another end.
    #[must_use]
    pub fn ending(mut self, end: RecurrenceEnd) -> Self {
        self.end = end;
        self
    }

    /// The same rule on each of several days in a row, of which it has the first alone: weekends
    /// as Saturdays and Sundays.
    #[must_use]
    pub fn on_each_day(mut self, first: Date, last: Date) -> Self {
        let days = first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last).take(7);
        for day in days {
            let day = RecurrenceWeekday { nth: 0, weekday: day.weekday() };
            if !self.days.contains(&day) {
                self.days.push(day);
            }
        }
        self.days.sort_by_key(|day| (day.nth, day.weekday.to_monday_zero_offset()));
        self
    }

    /// Whether nothing but the period says on which day it falls.
    pub(crate) fn is_bare(&self) -> bool {
        self.weeks.is_empty()
            && self.year_days.is_empty()
            && self.month_days.is_empty()
            && self.days.is_empty()
    }
}
