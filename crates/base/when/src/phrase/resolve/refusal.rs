//! What cannot be said together, in the words of its refusal.

use crate::error::{TIMES, TimeParseError, TimeParseProblem};

pub(crate) fn two_ends(said: &str) -> TimeParseError {
    let why = "may be an end of it or of each time";
    let cure = "say `until` before the last day, and `from 9 to 10` for the time of day";
    TimeParseError::new(TimeParseProblem::Ambiguous, said, why, cure)
}

pub(crate) fn one_moment(said: &str) -> TimeParseError {
    let (why, cure) = ("is one moment alone", "say the day and the time of day");
    TimeParseError::new(TimeParseProblem::Conflict, said, why, cure)
}

pub(crate) fn not_all_day(said: &str) -> TimeParseError {
    let why = "has a time of day beside it";
    TimeParseError::new(TimeParseProblem::Conflict, said, why, "leave out the time or `all day`")
}

/// A whole day has no time of day.
pub(crate) fn no_clock(said: &str) -> TimeParseError {
    let why = "has no time of day";
    TimeParseError::new(TimeParseProblem::Conflict, said, why, TIMES)
}

pub(crate) fn backwards(text: &str, start: &str, end: &str) -> TimeParseError {
    let why = format!("ends on {end}, not after its start on {start}");
    TimeParseError::new(
        TimeParseProblem::Backwards,
        text.trim(),
        &why,
        "say the end after the start",
    )
}

/// An hour beside a part of the day that does not have it.
pub(crate) fn other_part(clock: &str, part: &str) -> TimeParseError {
    let both = format!("{clock} {part}");
    let why = "is no hour of that part of the day";
    TimeParseError::new(TimeParseProblem::Conflict, &both, why, "say `9am` or `21:00`")
}

/// An hour of which nobody knows on which end of the night it is.
pub(crate) fn either_end(clock: &str, part: &str) -> TimeParseError {
    let both = format!("{clock} {part}");
    let why = "may be before the night or in the morning after it";
    let cure = "say `am` or `pm`, such as `5pm` or `5am`";
    TimeParseError::new(TimeParseProblem::Ambiguous, &both, why, cure)
}
