//! Dates in digits: `24.12.2026`, `12/24/2026`, `2026/12/24`, `24.12.`; those that may be two
//! days are refused.

use jiff::civil::Date;

use super::cursor::Cursor;
use crate::error::{Problem, TIMES, Unread};
use crate::phrase::syntax::{Day, Month};

/// A date in digits with dots, slashes or hyphens, if one stands here.
pub(crate) fn numeric(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    let start = cursor.at;
    let Some((numbers, sign, is_closed)) = row(cursor) else {
        cursor.at = start;
        return Ok(None);
    };
    let said = cursor.said(start);
    let refused = |problem, why: &str, cure: &str| Err(Unread::new(problem, &said, why, cure));
    let impossible = |why: &str| refused(Problem::Impossible, why, TIMES);
    let exact = |year: u32, month: u32, day: u32| {
        let date = date(year, month, day).map(|date| Some(Day::Exact(date)));
        date.map_or_else(|| impossible("is no day of the calendar"), Ok)
    };
    match numbers.as_slice() {
        [(year, 4), (month, _), (day, _)] => exact(*year, *month, *day),
        [(first, _), (second, _), (year, 4)] => match either(*first, *second) {
            Either::One(day, month) => exact(*year, month, day),
            Either::Two => {
                let cure = format!(
                    "say `{year}-{second:02}-{first:02}` or `{year}-{first:02}-{second:02}`"
                );
                refused(Problem::Ambiguous, "may be two days", &cure)
            }
            Either::Neither => impossible("is no day of the calendar"),
        },
        [_, _, (_, 1..=3)] => {
            refused(Problem::Ambiguous, "has no year of four digits", "say it like `2026-12-24`")
        }
        // Two numbers are a date if they can be nothing else.
        [(first, _), (second, _)] if sign == "/" || is_closed || *first > 24 => {
            match either(*first, *second) {
                Either::One(day, month) => Ok(of_month(day, month)),
                Either::Two => {
                    let cure = "say it like `3 April` or `4 March`";
                    refused(Problem::Ambiguous, "may be two days", cure)
                }
                Either::Neither => impossible("is no day of the calendar"),
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
            refused(Problem::Ambiguous, "may be a time or a day", &cure)
        }
        _ => {
            cursor.at = start;
            Ok(None)
        }
    }
}

/// Numbers, each with how many digits it has.
type Numbers = Vec<(u32, usize)>;

/// Two or three numbers with one sign between them and no space; the last sign is whether there
/// is one after two numbers, as in `24.12.`.
fn row<'t>(cursor: &mut Cursor<'t>) -> Option<(Numbers, &'t str, bool)> {
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

enum Either {
    /// Day and month.
    One(u32, u32),
    Two,
    Neither,
}

/// Which of two numbers is the day and which the month.
fn either(first: u32, second: u32) -> Either {
    let (is_first, is_second) = ((1..=12).contains(&first), (1..=12).contains(&second));
    match (is_first, is_second) {
        (true, true) if first == second => Either::One(first, second),
        (true, true) => Either::Two,
        (true, false) => Either::One(second, first),
        (false, true) => Either::One(first, second),
        (false, false) => Either::Neither,
    }
}

fn date(year: u32, month: u32, day: u32) -> Option<Date> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    Date::new(i16::try_from(year).ok()?, month, day).ok()
}

fn of_month(day: u32, month: u32) -> Option<Day> {
    // A leap year, so that the 29th of February is one.
    let date = date(2_024, month, day)?;
    Some(Day::OfMonth { day: date.day(), month: Month::Named(date.month()), year: None })
}
