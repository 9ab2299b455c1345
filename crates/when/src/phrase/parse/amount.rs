//! Lengths of time in words: `2h30m`, `an hour and a half`, `1 week`.

use jiff::Span;

use super::cursor::Cursor;
use super::lexer::{Kind, Token};
use crate::error::{LENGTHS, Problem, Unread};

/// The greatest number of a unit.
const GREATEST: u32 = 99_999;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
}

const UNITS: [(Unit, &[&str]); 9] = [
    (Unit::Second, &["s", "sec", "secs", "second", "seconds"]),
    (Unit::Minute, &["m", "min", "mins", "minute", "minutes", "minutes'"]),
    (Unit::Hour, &["h", "hr", "hrs", "hour", "hours", "hours'", "hour's"]),
    (Unit::Day, &["d", "day", "days", "days'"]),
    (Unit::Week, &["w", "wk", "wks", "week", "weeks", "weeks'", "week's"]),
    (Unit::Fortnight, &["fortnight", "fortnights"]),
    (Unit::Month, &["mo", "mos", "month", "months", "months'", "month's"]),
    (Unit::Quarter, &["quarter", "quarters"]),
    (Unit::Year, &["y", "yr", "yrs", "year", "years"]),
];

/// How many, in quarters, so that halves and quarters are exact; or in hundredths.
#[derive(Debug, Clone, Copy)]
struct Quantity {
    /// In hundredths.
    hundredths: i64,
}

impl Quantity {
    fn whole(number: u32) -> Self {
        Self { hundredths: i64::from(number) * 100 }
    }
}

/// A length in its parts, before it becomes a span.
#[derive(Debug, Default)]
struct Length {
    months: i64,
    days: i64,
    seconds: i64,
    units: Vec<Unit>,
}

/// A length of one unit or several in a row; nothing is eaten if there is none.
pub(crate) fn amount(cursor: &mut Cursor<'_>) -> Result<Option<Span>, Unread> {
    if let Some(Token { kind: Kind::Length(span), .. }) = cursor.token() {
        cursor.at += 1;
        return Ok(Some(*span));
    }
    let from = cursor.at;
    let mut length = Length::default();
    loop {
        let mut ahead = *cursor;
        if !length.units.is_empty() && (ahead.eat(",") || ahead.eat("and")) {
            ahead.eat("and");
        }
        let Some((quantity, unit)) = step(&mut ahead, &length)? else { break };
        length.take(quantity, unit, &ahead.part(from, ahead.at))?;
        *cursor = ahead;
        let mut half = *cursor;
        if half.eat_all(&["and", "a", "half"]) {
            length.add(Quantity { hundredths: 50 }, unit, &half.part(from, half.at))?;
            *cursor = half;
        }
    }
    if length.units.is_empty() {
        return Ok(None);
    }
    length.span(&cursor.said(from)).map(Some)
}

/// A number and its unit; `2h30` needs no second unit.
fn step(cursor: &mut Cursor<'_>, before: &Length) -> Result<Option<(Quantity, Unit)>, Unread> {
    let start = cursor.at;
    if before.units.last() == Some(&Unit::Hour) && (cursor.is_glued() || cursor.at > 0) {
        let mut ahead = *cursor;
        let is_glued = ahead.is_glued();
        if let Some((number, 2)) = ahead.digits()
            && number < 60
            && is_glued
            && !(ahead.is_glued() && unit(ahead.word()).is_some())
        {
            *cursor = ahead;
            return Ok(Some((Quantity::whole(number), Unit::Minute)));
        }
    }
    let Some(quantity) = quantity(cursor)? else {
        cursor.at = start;
        return Ok(None);
    };
    let Some(unit) = unit(cursor.word()) else {
        cursor.at = start;
        return Ok(None);
    };
    cursor.at += 1;
    Ok(Some((quantity, unit)))
}

fn unit(word: &str) -> Option<Unit> {
    UNITS.iter().find(|(_, names)| names.contains(&word)).map(|(unit, _)| *unit)
}

fn quantity(cursor: &mut Cursor<'_>) -> Result<Option<Quantity>, Unread> {
    let start = cursor.at;
    let some = |hundredths| Ok(Some(Quantity { hundredths }));
    if cursor.eat_all(&["half", "a"]) || cursor.eat_all(&["half", "an"]) {
        return some(50);
    }
    if cursor.eat_all(&["a", "half"]) || cursor.eat("half") {
        return some(50);
    }
    if cursor.eat_all(&["three", "quarters", "of"]) && cursor.eat_one(&["a", "an"]).is_some() {
        return some(75);
    }
    cursor.at = start;
    let is_quarter = cursor.eat_all(&["a", "quarter", "of"]) || cursor.eat_all(&["quarter", "of"]);
    if is_quarter && cursor.eat_one(&["a", "an"]).is_some() {
        return some(25);
    }
    cursor.at = start;
    if cursor.eat_one(&["a", "an"]).is_some() {
        return some(100);
    }
    let Some(number) = cursor.number() else { return Ok(None) };
    if number > GREATEST {
        let why = format!("has a number above {GREATEST}");
        return Err(Unread::new(Problem::OutOfRange, &cursor.said(start), &why, LENGTHS));
    }
    let mut hundredths = i64::from(number) * 100;
    let mut ahead = *cursor;
    let is_point = ahead.is_glued() && ahead.eat_one(&[".", ","]).is_some() && ahead.is_glued();
    if let (true, Some((part, places @ 1..=2))) = (is_point, ahead.digits()) {
        hundredths += i64::from(part) * if places == 1 { 10 } else { 1 };
        *cursor = ahead;
    }
    if cursor.eat_all(&["and", "a", "half"]) {
        hundredths += 50;
    }
    some(hundredths)
}

impl Length {
    fn take(&mut self, quantity: Quantity, unit: Unit, said: &str) -> Result<(), Unread> {
        if self.units.contains(&unit) {
            let why = "says the same unit twice";
            return Err(Unread::new(Problem::Conflict, said, why, LENGTHS));
        }
        self.units.push(unit);
        self.add(quantity, unit, said)
    }

    fn add(&mut self, quantity: Quantity, unit: Unit, said: &str) -> Result<(), Unread> {
        let in_hundredths = |factor: i64| quantity.hundredths * factor;
        let (place, hundredths) = match unit {
            Unit::Second => (&mut self.seconds, in_hundredths(1)),
            Unit::Minute => (&mut self.seconds, in_hundredths(60)),
            Unit::Hour => (&mut self.seconds, in_hundredths(3_600)),
            Unit::Day => (&mut self.days, in_hundredths(1)),
            Unit::Week => (&mut self.days, in_hundredths(7)),
            Unit::Fortnight => (&mut self.days, in_hundredths(14)),
            Unit::Month => (&mut self.months, in_hundredths(1)),
            Unit::Quarter => (&mut self.months, in_hundredths(3)),
            Unit::Year => (&mut self.months, in_hundredths(12)),
        };
        if hundredths % 100 != 0 {
            let why = "is not a whole number of days or seconds";
            let cure = "say it in hours, such as `12 hours` or `4 hours`";
            return Err(Unread::new(Problem::Ambiguous, said, why, cure));
        }
        *place += hundredths / 100;
        Ok(())
    }

    /// Weeks stay weeks where there is nothing but them, and hours do not become days.
    fn span(&self, said: &str) -> Result<Span, Unread> {
        let is_weeks =
            self.units.iter().all(|unit| matches!(unit, Unit::Week | Unit::Fortnight | Unit::Day));
        let (weeks, days) = if is_weeks && self.units != [Unit::Day] {
            (self.days / 7, self.days % 7)
        } else {
            (0, self.days)
        };
        let make = || {
            Span::new()
                .try_years(self.months / 12)?
                .try_months(self.months % 12)?
                .try_weeks(weeks)?
                .try_days(days)?
                .try_hours(self.seconds / 3_600)?
                .try_minutes(self.seconds / 60 % 60)?
                .try_seconds(self.seconds % 60)
        };
        make().map_err(|_: jiff::Error| {
            Unread::new(Problem::OutOfRange, said, "is beyond the calendar", LENGTHS)
        })
    }
}

/// Whether a length has hours, minutes or seconds, and so leads to a moment and not to a day.
pub(crate) fn is_of_clock(span: &Span) -> bool {
    let seconds = span.get_minutes() != 0 || span.get_seconds() != 0;
    let less = span.get_milliseconds() != 0 || span.get_nanoseconds() != 0;
    span.get_hours() != 0 || seconds || less || span.get_microseconds() != 0
}
