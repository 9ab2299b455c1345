//! A time of day beside its day: on it, at its end, or in the small hours of its night.

use jiff::civil::Time;

use crate::phrase::parse::time_expression::TimeExpression;
use crate::phrase::syntax::DayPart;

/// The hour at which the small hours of a night end.
pub(crate) const DAWN: i8 = 6;

/// A time of day that may be on the day after the one that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockTime {
    pub(crate) time: Time,
    /// Whether it is the midnight after the day, or of the night that begins on the day and in
    /// its small hours.
    pub(crate) is_end: bool,
}

impl ClockTime {
    pub(crate) fn at(time: Time) -> Self {
        Self { time, is_end: false }
    }

    /// Whether it is of the small hours of a night, and no midnight.
    pub(crate) fn is_of_night(self) -> bool {
        self.is_end && self.time != Time::MIN
    }

    /// The same time where no day says of which night it is.
    pub(crate) fn without_night(self) -> Self {
        if self.is_of_night() { Self::at(self.time) } else { self }
    }
}

/// A time of day that is without doubt; beside `night` its small hours are those after the day.
pub(crate) fn of_night(side: &TimeExpression, time: Time) -> ClockTime {
    let is_night = side.part.as_ref().is_some_and(|part| part.what == DayPart::Night);
    // A day and a time in one word of a standard are one point of time.
    let clock = side.clock.as_ref().map(|clock| &clock.said);
    let is_whole = clock.is_some() && side.day.as_ref().map(|day| &day.said) == clock;
    ClockTime { time, is_end: is_night && !is_whole && time.hour() < DAWN }
}
