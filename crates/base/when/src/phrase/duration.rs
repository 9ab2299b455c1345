//! Durations: how long something takes.

use jiff::Span;

use crate::error::{LENGTHS, TimeParseError, TimeParseProblem};
use crate::phrase::parse::amount::amount;
use crate::phrase::parse::cursor::PhraseCursor;
use crate::phrase::parse::lexer::lex;

/// The longest duration that is read, in days with months of 31: ten years.
const MOST_DAYS: i64 = 3_720;

/// Reads how long something takes: `30 min`, `2h30m`, `half an hour`, `1 week`, `PT1H30M`.
///
/// Days and longer are those of the calendar, so that a day over a change of the clocks has 23 or
/// 25 hours; hours and shorter are exact. It is more than zero and at most ten years.
pub fn duration(text: &str) -> Result<Span, TimeParseError> {
    let trimmed = text.trim();
    let is_iso = trimmed.trim_start_matches(['+', '-']).starts_with(['P', 'p']);
    let span = if is_iso && trimmed.len() <= crate::phrase::parse::lexer::LONGEST {
        trimmed.to_uppercase().parse::<Span>().ok()
    } else {
        None
    };
    let span = match span {
        Some(span) => span,
        None => in_words(trimmed)?,
    };
    checked(span, trimmed)
}

fn in_words(text: &str) -> Result<Span, TimeParseError> {
    let tokens = lex(text, LENGTHS)?;
    let mut cursor = PhraseCursor { text, tokens: &tokens, at: 0 };
    if cursor.eat("-") || cursor.eat("minus") {
        return Err(TimeParseError::new(
            TimeParseProblem::OutOfRange,
            text,
            "is negative",
            LENGTHS,
        ));
    }
    cursor.eat_one(&["for", "+"]);
    let Some(span) = amount(&mut cursor)? else {
        return Err(no_length(&mut cursor));
    };
    cursor.eat_one(&["long", "please"]);
    if cursor.is_at_end() {
        return Ok(span);
    }
    if !matches!(cursor.word(), "" | "," | "and") {
        let why = "is no length of time that can be read";
        return Err(TimeParseError::new(TimeParseProblem::Unknown, &cursor.chunk(), why, LENGTHS));
    }
    cursor.eat_one(&[",", "and"]);
    Err(no_length(&mut cursor))
}

/// Why there is no length at a place.
fn no_length(cursor: &mut PhraseCursor<'_>) -> TimeParseError {
    let start = cursor.at;
    if cursor.number().is_some() {
        if cursor.word() == ":" {
            cursor.at = start;
            let why = "may be hours and minutes, or minutes and seconds";
            let cure = "say it like `1h30m` or `90 min`";
            return TimeParseError::new(TimeParseProblem::Ambiguous, &cursor.chunk(), why, cure);
        }
        if cursor.is_at_end() {
            let said = cursor.said(start);
            let cure = format!("say `{said} min`, `{said} hours` or `{said} days`");
            return TimeParseError::new(TimeParseProblem::NoUnit, &said, "has no unit", &cure);
        }
    }
    let why = "is no length of time that can be read";
    TimeParseError::new(TimeParseProblem::Unknown, &cursor.chunk(), why, LENGTHS)
}

fn checked(span: Span, text: &str) -> Result<Span, TimeParseError> {
    let refused =
        |why: &str| Err(TimeParseError::new(TimeParseProblem::OutOfRange, text, why, LENGTHS));
    if span.is_negative() {
        return refused("is negative");
    }
    if span.is_zero() {
        return refused("is no time at all");
    }
    let days = i64::from(span.get_years()) * 372
        + i64::from(span.get_months()) * 31
        + i64::from(span.get_weeks()) * 7
        + i64::from(span.get_days())
        + i64::from(span.get_hours()) / 24
        + span.get_minutes() / 1_440
        + span.get_seconds() / 86_400
        + span.get_milliseconds() / 86_400_000;
    if days > MOST_DAYS {
        return refused("is longer than ten years");
    }
    Ok(span)
}
