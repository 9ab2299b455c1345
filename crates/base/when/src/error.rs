//! What is said when a text cannot be read: which part, why, and what can be said instead.

/// How much of a part is repeated to whoever wrote it.
const SHOWN: usize = 60;

/// What can be said as a time.
pub(crate) const TIMES: &str = "say it like `tomorrow 2pm`, `next Tuesday at noon` or `2026-01-21`";
/// What can be said as a duration.
pub(crate) const LENGTHS: &str = "say it like `30 min`, `2h30m` or `1 week`";
/// What can be said as a recurrence.
pub(crate) const REPEATS: &str =
    "say it like `every Monday at 9`, `every other Friday` or `monthly on the 15th`";
/// What can be said as a rule of RFC 5545.
pub(crate) const RULES: &str =
    "say it like `FREQ=WEEKLY;BYDAY=MO` or `FREQ=MONTHLY;BYDAY=-1FR;COUNT=6`";

/// A text that was not read, for a model or a person: the part, what is wrong, and the cure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{part}` {why}: {cure}")]
pub struct TimeParseError {
    problem: TimeParseProblem,
    part: String,
    why: String,
    cure: String,
}

/// What kind of fault it is, for code that must tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeParseProblem {
    /// Nothing was said.
    Empty,
    /// More was said than is read.
    TooLong,
    /// A word that is none of time.
    Unknown,
    /// It may be two things, and neither is taken.
    Ambiguous,
    /// There is no such day, hour or zone.
    Impossible,
    /// One thing is said twice, or two things that do not go together.
    Conflict,
    /// The end is not after the start.
    Backwards,
    /// Zero, negative, or beyond the bounds.
    OutOfRange,
    /// A number without a unit.
    NoUnit,
    /// A part of a standard that is not followed here.
    Unsupported,
}

impl TimeParseError {
    pub(crate) fn new(problem: TimeParseProblem, part: &str, why: &str, cure: &str) -> Self {
        let mut shown: String = part.chars().take(SHOWN).collect();
        if part.chars().nth(SHOWN).is_some() {
            shown.push('…');
        }
        Self { problem, part: shown, why: why.to_owned(), cure: cure.to_owned() }
    }

    /// What kind of fault it is.
    pub fn problem(&self) -> TimeParseProblem {
        self.problem
    }

    /// The part of the text that could not be read, shortened if it is long.
    pub fn part(&self) -> &str {
        &self.part
    }
}
