//! Times as ISO 8601, RFC 3339 and RFC 9557 write them, each in one word.

use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use jiff::tz::{OffsetConflict, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

use crate::error::{TimeParseError, TimeParseProblem};

/// What a word of a standard says.
#[derive(Debug, Clone)]
pub(crate) enum IsoTime {
    Day(Date),
    Days(Date, Date),
    /// A time on a clock whose zone is said elsewhere, or is the frame's.
    Local(DateTime),
    /// An instant: an offset is no zone.
    Instant(Timestamp),
    /// A moment with its zone.
    Moment(Zoned),
    /// A time on the clock of a zone, which may not exist or come twice.
    LocalIn(DateTime, TimeZone),
}

/// Whether a word begins as a date of a standard does.
pub(crate) fn is_iso(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let after = bytes.get(digits).map(u8::to_ascii_lowercase);
    let next = bytes.get(digits + 1);
    match (digits, after) {
        (4, Some(b'-')) => next.is_some_and(|byte| byte.is_ascii_digit() || byte | 32 == b'w'),
        (4, Some(b'w')) => next.is_some_and(u8::is_ascii_digit),
        (8, None | Some(b't' | b'/')) => true,
        _ => false,
    }
}

/// Reads one word; the error names it.
pub(crate) fn read(word: &str) -> Result<IsoTime, TimeParseError> {
    short_form(word).map_or_else(|| long_form(word), Ok)
}

fn impossible(word: &str) -> TimeParseError {
    let cure = "say it like `2026-01-21`, `2026-01-21T14:00` or `2026-01-21T14:00+01:00`";
    TimeParseError::new(TimeParseProblem::Impossible, word, "is no time of the calendar", cure)
}

/// Months, weeks and days by their number: `2026-01`, `2026-W05`, `2026-W05-3`, `2026-021`.
fn short_form(word: &str) -> Option<IsoTime> {
    let number = |from: usize, to: usize| -> Option<i16> {
        let part = word.get(from..to)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let year = number(0, 4)?;
    let rest = word.get(4..)?.trim_start_matches('-');
    if let Some(week) = rest.strip_prefix(['W', 'w']) {
        let (week, day) = match *week.as_bytes() {
            [_, _] => (week, None),
            [_, _, b'-', day] | [_, _, day] => (week.get(..2)?, Some(day)),
            _ => return None,
        };
        let week = week.parse().ok()?;
        let date = |day| Some(ISOWeekDate::new(year, week, day).ok()?.date());
        let Some(day) = day else {
            return Some(IsoTime::Days(date(Weekday::Monday)?, date(Weekday::Sunday)?));
        };
        let day = i8::try_from(day.checked_sub(b'0')?).ok()?;
        return Some(IsoTime::Day(date(Weekday::from_monday_one_offset(day).ok()?)?));
    }
    match (word.len(), word.as_bytes().get(4)) {
        (7, Some(b'-')) => {
            let first = Date::new(year, i8::try_from(number(5, 7)?).ok()?, 1).ok()?;
            Some(IsoTime::Days(first, first.last_of_month()))
        }
        (8, Some(b'-')) => {
            let first = Date::new(year, 1, 1).ok()?;
            Some(IsoTime::Day(first.with().day_of_year(number(5, 8)?).build().ok()?))
        }
        _ => None,
    }
}

fn long_form(word: &str) -> Result<IsoTime, TimeParseError> {
    let pieces = Pieces::parse(word).map_err(|_| impossible(word))?;
    let database = TimeZoneDatabase::bundled();
    let zone = pieces.to_time_zone_with(&database).map_err(|_| {
        let cure = "say it by its IANA name, such as `[Europe/Zurich]`";
        TimeParseError::new(TimeParseProblem::Impossible, word, "names no time zone", cure)
    })?;
    let Some(time) = pieces.time() else {
        if zone.is_some() || pieces.offset().is_some() {
            return Err(zone_of_day(word));
        }
        return Ok(IsoTime::Day(pieces.date()));
    };
    let local = pieces.date().to_datetime(time);
    let instant =
        |offset: jiff::tz::Offset| offset.to_timestamp(local).map_err(|_| impossible(word));
    match (pieces.offset(), zone) {
        (None, None) => Ok(IsoTime::Local(local)),
        (None, Some(zone)) => Ok(IsoTime::LocalIn(local, zone)),
        (Some(offset), None) => {
            let offset = match offset {
                PiecesOffset::Numeric(offset) => offset.offset(),
                // `Z`, and whatever form may be added.
                PiecesOffset::Zulu | _ => jiff::tz::Offset::UTC,
            };
            Ok(IsoTime::Instant(instant(offset)?))
        }
        (Some(PiecesOffset::Numeric(offset)), Some(zone)) => OffsetConflict::Reject
            .resolve(local, offset.offset(), zone)
            .and_then(jiff::tz::AmbiguousZoned::compatible)
            .map(IsoTime::Moment)
            .map_err(|_| {
                let cure = "leave the offset out, or correct it";
                let why = "has an offset that its zone does not have then";
                TimeParseError::new(TimeParseProblem::Conflict, word, why, cure)
            }),
        (Some(_), Some(zone)) => {
            Ok(IsoTime::Moment(Zoned::new(instant(jiff::tz::Offset::UTC)?, zone)))
        }
    }
}

/// A whole day is the same everywhere, so that a zone beside it would be lost.
pub(crate) fn zone_of_day(part: &str) -> TimeParseError {
    let why = "has a zone, which a whole day has not";
    TimeParseError::new(
        TimeParseProblem::Conflict,
        part,
        why,
        "add a time of day, or leave the zone out",
    )
}
