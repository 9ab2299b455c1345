//! Lengths of time in words: `2h30m`, `an hour and a half`, `1 week`.

use jiff::Span;

use super::cursor::PhraseCursor;
use super::lexer::{PhraseToken, PhraseTokenKind};
use crate::error::{LENGTHS, TimeParseError, TimeParseProblem};

/// The greatest number of a unit.
const GREATEST: u32 = 99_999;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PhraseUnit {
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

const UNITS: [(PhraseUnit, &[&str]); 9] = [
    (PhraseUnit::Second, &["s", "sec", "secs", "second", "seconds"]),
    (PhraseUnit::Minute, &["m", "min", "mins", "minute", "minutes", "minutes'"]),
    (PhraseUnit::Hour, &["h", "hr", "hrs", "hour", "hours", "hours'", "hour's"]),
    (PhraseUnit::Day, &["d", "day", "days", "days'"]),
    (PhraseUnit::Week, &["w", "wk", "wks", "week", "weeks", "weeks'", "week's"]),
    (PhraseUnit::Fortnight, &["fortnight", "fortnights"]),
    (PhraseUnit::Month, &["mo", "mos", "month", "months", "months'", "month's"]),
    (PhraseUnit::Quarter, &["quarter", "quarters"]),
    (PhraseUnit::Year, &["y", "yr", "yrs", "year", "years"]),
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
struct LengthParts {
    months: i64,
    days: i64,
    seconds: i64,
    units: Vec<PhraseUnit>,
}

/// A length of one unit or several in a row; nothing is eaten if there is none.
pub(crate) fn amount(cursor: &mut PhraseCursor<'_>) -> Result<Option<Span>, TimeParseError> {
    if let Some(PhraseToken { kind: PhraseTokenKind::Length(span), .. }) = cursor.token() {
        cursor.at += 1;
        return Ok(Some(*span));
    }
    let from = cursor.at;
    let mut length = LengthParts::default();
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
fn step(
    cursor: &mut PhraseCursor<'_>,
    before: &LengthParts,
) -> Result<Option<(Quantity, PhraseUnit)>, TimeParseError> {
    let start = cursor.at;
    if before.units.last() == Some(&PhraseUnit::Hour) && (cursor.is_glued() || cursor.at > 0) {
        let mut ahead = *cursor;
        let is_glued = ahead.is_glued();
        if let Some((number, 2)) = ahead.digits()
            && number < 60
            && is_glued
            && !(ahead.is_glued() && unit(ahead.word()).is_some())
        {
            *cursor = ahead;
            return Ok(Some((Quantity::whole(number), PhraseUnit::Minute)));
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

fn unit(word: &str) -> Option<PhraseUnit> {
    UNITS.iter().find(|(_, names)| names.contains(&word)).map(|(unit, _)| *unit)
}

fn quantity(cursor: &mut PhraseCursor<'_>) -> Result<Option<Quantity>, TimeParseError> {
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
        return Err(TimeParseError::new(
            TimeParseProblem::OutOfRange,
            &cursor.said(start),
            &why,
            LENGTHS,
        ));
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

impl LengthParts {
    fn take(
        &mut self,
        quantity: Quantity,
        unit: PhraseUnit,
        said: &str,
    ) -> Result<(), TimeParseError> {
        if self.units.contains(&unit) {
            let why = "says the same unit twice";
            return Err(TimeParseError::new(TimeParseProblem::Conflict, said, why, LENGTHS));
        }
        self.units.push(unit);
        self.add(quantity, unit, said)
    }

    fn add(
        &mut self,
        quantity: Quantity,
        unit: PhraseUnit,
        said: &str,
    ) -> Result<(), TimeParseError> {
        let in_hundredths = |factor: i64| quantity.hundredths * factor;
        let (place, hundredths) = match unit {
            PhraseUnit::Second => (&mut self.seconds, in_hundredths(1)),
            PhraseUnit::Minute => (&mut self.seconds, in_hundredths(60)),
            PhraseUnit::Hour => (&mut self.seconds, in_hundredths(3_600)),
            PhraseUnit::Day => (&mut self.days, in_hundredths(1)),
            PhraseUnit::Week => (&mut self.days, in_hundredths(7)),
            PhraseUnit::Fortnight => (&mut self.days, in_hundredths(14)),
            PhraseUnit::Month => (&mut self.months, in_hundredths(1)),
            PhraseUnit::Quarter => (&mut self.months, in_hundredths(3)),
            PhraseUnit::Year => (&mut self.months, in_hundredths(12)),
        };
        if hundredths % 100 != 0 {
            let why = "is not a whole number of days or seconds";
            let cure = "say it in hours, such as `12 hours` or `4 hours`";
            return Err(TimeParseError::new(TimeParseProblem::Ambiguous, said, why, cure));
        }
        *place += hundredths / 100;
        Ok(())
    }

    /// Weeks stay weeks where there is nothing but them, and hours do not become days.
    fn span(&self, said: &str) -> Result<Span, TimeParseError> {
        let is_weeks = self
            .units
            .iter()
            .all(|unit| matches!(unit, PhraseUnit::Week | PhraseUnit::Fortnight | PhraseUnit::Day));
        let (weeks, days) = if is_weeks && self.units != [PhraseUnit::Day] {
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
            TimeParseError::new(
                TimeParseProblem::OutOfRange,
                said,
                "is beyond the calendar",
                LENGTHS,
            )
        })
    }
}

/// Whether a length has hours, minutes or seconds, and so leads to a moment and not to a day.
pub(crate) fn is_of_clock(span: &Span) -> bool {
    let seconds = span.get_minutes() != 0 || span.get_seconds() != 0;
    let less = span.get_milliseconds() != 0 || span.get_nanoseconds() != 0;
    span.get_hours() != 0 || seconds || less || span.get_microseconds() != 0
}
