//! What the words of a phrase stand for, before it is known when they are said.

use jiff::Span;
use jiff::civil::{Date, Time, Weekday};

/// Something with the words that said it.
#[derive(Debug, Clone)]
pub(crate) struct WithWords<T> {
    pub(crate) what: T,
    pub(crate) said: String,
}

/// Which one of those that come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Determiner {
    /// Nothing was said.
    Plain,
    This,
    Next,
    Last,
    /// The first after today.
    Coming,
    /// The latest before today, as is [`Self::Last`] of weekdays; this one is in no doubt.
    Past,
}

/// One day or several.
#[derive(Debug, Clone)]
pub(crate) enum DayPhrase {
    /// So many days from today.
    FromToday(i64),
    Exact(Date),
    Exactly(Date, Date),
    Weekday(Determiner, Weekday),
    /// A weekday of the week so many weeks from this one.
    InWeek(Weekday, i64),
    /// A day of a month; what is not said is found out.
    OfMonth {
        day: i8,
        month: MonthPhrase,
        year: Option<i16>,
    },
    Nth {
        nth: i8,
        of: DayKind,
        period: PeriodPhrase,
    },
    Edge(PeriodEdge, PeriodPhrase),
    Period(PeriodPhrase),
    /// So much after another day, or before it.
    Shifted {
        from: Box<WithWords<DayPhrase>>,
        span: Span,
        is_back: bool,
    },
    /// So many days in a row, from today or up to it.
    Run {
        span: Span,
        is_back: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MonthPhrase {
    /// The coming one that has the day.
    Plain,
    /// So many months from this one.
    FromNow(i64),
    Named(i8),
}

/// What is counted in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayKind {
    Day,
    Weekday(Weekday),
    /// Monday to Friday.
    Working,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeriodEdge {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone)]
pub(crate) enum PeriodPhrase {
    Week(i64),
    WeekNumber(i8, Option<i16>),
    WeekOf(Box<WithWords<DayPhrase>>),
    Weekend(Determiner),
    Month(i64),
    NamedMonth(Determiner, i8, Option<i16>),
    Quarter(i64),
    QuarterNumber(i8, Option<i16>),
    Year(i64),
    YearNumber(i16),
}

/// A time of day as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockPhrase {
    /// Without doubt.
    Exact(Time),
    /// Half past twelve hours have two readings: from 1 to 12, and whether minutes were said.
    Bare { hour: i8, minute: i8, is_full: bool },
    /// 12am and 12pm are often mixed up.
    Twelve(Time),
    /// Midnight, which ends one day and begins another.
    Midnight,
    /// 24:00, which ends a day.
    DayEnd,
}

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayPart {
    Morning,
    Lunch,
    Afternoon,
    Evening,
    Night,
    DayEnd,
}

impl DayPart {
    /// The time that is taken where nothing else is said.
    pub(crate) fn time(self) -> Time {
        let hour = match self {
            Self::Morning => 9,
            Self::Lunch => 12,
            Self::Afternoon => 14,
            Self::DayEnd => 17,
            Self::Evening => 18,
            Self::Night => 20,
        };
        Time::constant(hour, 0, 0, 0)
    }

    /// Whether a time of day may be of this part of it.
    pub(crate) fn has(self, time: Time) -> bool {
        let hour = time.hour();
        match self {
            Self::Morning => hour < 12,
            Self::Lunch => (11..=15).contains(&hour),
            Self::Afternoon => (12..=18).contains(&hour),
            Self::DayEnd => (15..=20).contains(&hour),
            Self::Evening => hour >= 16,
            // Some say it of the hour after work, too.
            Self::Night => !(6..17).contains(&hour),
        }
    }

    /// The hour from 0 to 23 of an hour from 1 to 12, if this part of the day has it without doubt:
    /// five at night may be before it or after.
    pub(crate) fn hour(self, hour: i8) -> Option<i8> {
        let after_noon = if hour == 12 { 12 } else { hour + 12 };
        let is_late = match self {
            Self::Morning => false,
            Self::Lunch | Self::Afternoon => matches!(hour, 12 | 1..=6),
            Self::DayEnd => matches!(hour, 3..=8),
            Self::Evening => matches!(hour, 4..=11),
            Self::Night => matches!(hour, 6..=11),
        };
        match (self, hour) {
            _ if is_late => Some(after_noon),
            (Self::Morning | Self::Night, 12) => Some(0),
            (Self::Morning, _) | (Self::Lunch, 11) | (Self::Night, 1..=4) => Some(hour),
            _ => None,
        }
    }
}
