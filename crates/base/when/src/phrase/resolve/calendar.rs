//! Steps on the calendar, and its end.

use jiff::Span;
use jiff::civil::Date;

use crate::error::{TIMES, TimeParseError, TimeParseProblem};

/// The calendar ends before what was said.
pub(crate) fn beyond(said: &str) -> TimeParseError {
    TimeParseError::new(TimeParseProblem::OutOfRange, said, "is beyond the calendar", TIMES)
}

/// The date so many days later.
pub(crate) fn plus_days(date: Date, days: i64, said: &str) -> Result<Date, TimeParseError> {
    let span = Span::new().try_days(days).map_err(|_| beyond(said))?;
    date.checked_add(span).map_err(|_| beyond(said))
}

/// The first of the month so many months later.
pub(crate) fn plus_months(date: Date, months: i64, said: &str) -> Result<Date, TimeParseError> {
    let span = Span::new().try_months(months).map_err(|_| beyond(said))?;
    date.first_of_month().checked_add(span).map_err(|_| beyond(said))
}
