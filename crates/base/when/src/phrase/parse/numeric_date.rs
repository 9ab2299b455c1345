//! Dates in digits: `24.12.2026`, `12/24/2026`, `2026/12/24`, `24.12.`; those that may be two
//! days are refused.

use jiff::civil::Date;

use super::cursor::PhraseCursor;
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::phrase::syntax::{DayPhrase, MonthPhrase};

/// A date in digits with dots, slashes or hyphens, if one stands here.
pub(crate) fn numeric(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    let start = cursor.at;
    let Some((numbers, sign, is_closed)) = row(cursor) else {
        cursor.at = start;
        return Ok(None);
    };
    let said = cursor.said(start);
    let refused =
        |problem, why: &str, cure: &str| Err(TimeParseError::new(problem, &said, why, cure));
    let impossible = |why: &str| refused(TimeParseProblem::Impossible, why, TIMES);
    let exact = |year: u32, month: u32, day: u32| {
        let date = date(year, month, day).map(|date| Some(DayPhrase::Exact(date)));
        date.map_or_else(|| impossible("is no day of the calendar"), Ok)
    };
    match numbers.as_slice() {
        [(year, 4), (month, _), (day, _)] => exact(*year, *month, *day),
        [(first, _), (second, _), (year, 4)] => match either(*first, *second) {
            DayMonthOrder::One(day, month) => exact(*year, month, day),
            DayMonthOrder::Two => {
                let cure = format!(
                    "say `{year}-{second:02}-{first:02}` or `{year}-{first:02}-{second:02}`"
                );
                refused(TimeParseProblem::Ambiguous, "may be two days", &cure)
            }
            DayMonthOrder::Neither => impossible("is no day of the calendar"),
        },
        [_, _, (_, 1..=3)] => refused(
            TimeParseProblem::Ambiguous,
            "has no year of four digits",
            "say it like `2026-12-24`",
        ),
        // Two numbers are a date if they can be nothing else.
        [(first, _), (second, _)] if sign == "/" || is_closed || *first > 24 => {
            match either(*first, *second) {
                DayMonthOrder::One(day, month) => Ok(of_month(day, month)),
                DayMonthOrder::Two => {
                    let cure = "say it like `3 April` or `4 March`";
                    refused(TimeParseProblem::Ambiguous, "may be two days", cure)
                }
                DayMonthOrder::Neither => impossible("is no day of the calendar"),
            }
        }
        [(first, _), (second, 2)] if sign == "." && *first <= 24 && (1..=12).contains(second) => {
            if matches!(cursor.word(), "am" | "pm") {
                cursor.at = start;
                return Ok(None);
            }
            if *first == 24 {
                return Ok(of_month(*first, *second));
            }
            let cure = format!(
                "say `{first}:{second:02}` for the time or `{first}.{second}.` for the day"
            );
            refused(TimeParseProblem::Ambiguous, "may be a time or a day", &cure)
        }
        _ => {
            cursor.at = start;
            Ok(None)
        }
    }
}

/// Numbers, each with how many digits it has.
type DigitGroups = Vec<(u32, usize)>;

/// Two or three numbers with one sign between them and no space; the last sign is whether there
/// is one after two numbers, as in `24.12.`.
fn row<'t>(cursor: &mut PhraseCursor<'t>) -> Option<(DigitGroups, &'t str, bool)> {
    let mut numbers = vec![cursor.digits()?];
    let sign = cursor.word();
    let is_hyphen = sign == "-";
    if !matches!(sign, "." | "/" | "-") || !cursor.is_glued() {
        return None;
    }
    let mut is_closed = false;
    while numbers.len() < 3 && cursor.is_glued() && cursor.eat(sign) {
        if !cursor.is_glued() {
            is_closed = sign == ".";
            break;
        }
        let Some(number) = cursor.digits() else {
            is_closed = sign == ".";
            break;
        };
        numbers.push(number);
    }
    let is_row = if is_hyphen { numbers.len() == 3 } else { numbers.len() >= 2 };
    let is_time = cursor.is_glued() && cursor.word() == ":";
    (is_row && !is_time).then_some((numbers, sign, is_closed))
}

enum DayMonthOrder {
    /// Day and month.
    One(u32, u32),
    Two,
    Neither,
}

/// Which of two numbers is the day and which the month.
fn either(first: u32, second: u32) -> DayMonthOrder {
    let (is_first, is_second) = ((1..=12).contains(&first), (1..=12).contains(&second));
    match (is_first, is_second) {
        (true, true) if first == second => DayMonthOrder::One(first, second),
        (true, true) => DayMonthOrder::Two,
        (true, false) => DayMonthOrder::One(second, first),
        (false, true) => DayMonthOrder::One(first, second),
        (false, false) => DayMonthOrder::Neither,
    }
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    Date::new(i16::try_from(year).ok()?, month, day).ok()
}

fn of_month(day: u32, month: u32) -> Option<DayPhrase> {
    // A leap year, so that the 29th of February is one.
    let date = date(2_024, month, day)?;
    Some(DayPhrase::OfMonth {
        day: date.day(),
        month: MonthPhrase::Named(date.month()),
        year: None,
    })
}
