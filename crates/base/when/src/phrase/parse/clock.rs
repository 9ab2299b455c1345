//! Times of day: `2pm`, `14h30`, `half past two`, `noon`, `end of day`.

use jiff::civil::Time;

use super::cursor::PhraseCursor;
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::names;
use crate::phrase::syntax::{ClockPhrase, DayPart, WithWords};

/// The words that must stand before a bare number for it to be an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BareNumber {
    /// `at` was said, so that a number is an hour.
    Hour,
    /// A number may be something else.
    Unknown,
}

/// A part of the day, if one is said here.
pub(crate) fn part(cursor: &mut PhraseCursor<'_>) -> Option<WithWords<DayPart>> {
    const PARTS: [(&[&str], DayPart); 20] = [
        (&["end", "of", "the", "working", "day"], DayPart::DayEnd),
        (&["end", "of", "the", "business", "day"], DayPart::DayEnd),
        (&["end", "of", "the", "day"], DayPart::DayEnd),
        (&["end", "of", "business", "day"], DayPart::DayEnd),
        (&["end", "of", "business"], DayPart::DayEnd),
        (&["end", "of", "day"], DayPart::DayEnd),
        (&["close", "of", "business"], DayPart::DayEnd),
        (&["close", "of", "play"], DayPart::DayEnd),
        (&["eod"], DayPart::DayEnd),
        (&["eob"], DayPart::DayEnd),
        (&["cob"], DayPart::DayEnd),
        (&["first", "thing"], DayPart::Morning),
        (&["morning"], DayPart::Morning),
        (&["lunchtime"], DayPart::Lunch),
        (&["lunch", "time"], DayPart::Lunch),
        (&["lunch"], DayPart::Lunch),
        (&["afternoon"], DayPart::Afternoon),
        (&["evening"], DayPart::Evening),
        (&["tonight"], DayPart::Night),
        (&["night"], DayPart::Night),
    ];
    let start = cursor.at;
    let (_, part) = PARTS.iter().find(|(words, _)| cursor.eat_all(words))?;
    if cursor.part(start, cursor.at).eq_ignore_ascii_case("first thing") {
        cursor.eat_all(&["in", "the", "morning"]);
    }
    Some(WithWords { what: *part, said: cursor.said(start) })
}

/// A time of day, if one is said here.
pub(crate) fn clock(
    cursor: &mut PhraseCursor<'_>,
    bare: BareNumber,
) -> Result<Option<WithWords<ClockPhrase>>, TimeParseError> {
    let start = cursor.at;
    let mut hands = named(cursor);
    if hands.is_none() {
        hands = spoken(cursor)?;
    }
    if hands.is_none() {
        cursor.at = start;
        hands = written(cursor, bare)?;
    }
    let Some(what) = hands else {
        cursor.at = start;
        return Ok(None);
    };
    Ok(Some(WithWords { what, said: cursor.said(start) }))
}

fn named(cursor: &mut PhraseCursor<'_>) -> Option<ClockPhrase> {
    let start = cursor.at;
    if let Some((12, 2)) = cursor.digits()
        && !matches!(cursor.word(), "noon" | "midday" | "midnight")
    {
        cursor.at = start;
    }
    match cursor.eat_one(&["noon", "midday", "midnight"]) {
        Some("midnight") => Some(ClockPhrase::Midnight),
        Some(_) => Some(ClockPhrase::Exact(Time::constant(12, 0, 0, 0))),
        None => {
            cursor.at = start;
            None
        }
    }
}

/// `half past two`, `quarter to 9`, `20 past 3pm`, `ten to nine`.
fn spoken(cursor: &mut PhraseCursor<'_>) -> Result<Option<ClockPhrase>, TimeParseError> {
    // `from ten to eleven` are two times.
    let before = cursor.at.checked_sub(1).and_then(|at| cursor.tokens.get(at));
    if before.is_some_and(|token| matches!(&*token.text, "from" | "between")) {
        return Ok(None);
    }
    let is_word = names::number(cursor.word()).is_some();
    cursor.eat("a");
    let minutes: i8 = if cursor.eat("half") {
        30
    } else if cursor.eat("quarter") {
        15
    } else {
        match cursor.number().and_then(|number| i8::try_from(number).ok()) {
            Some(number @ 1..=59) => number,
            Some(_) | None => return Ok(None),
        }
    };
    let is_named = cursor.eat_one(&["minutes", "minute", "mins", "min"]).is_some() || is_word;
    let is_clear = is_named || matches!(minutes, 15 | 30);
    cursor.eat("-");
    let is_past = match cursor.eat_one(&["past", "to", "before", "after"]) {
        Some("past") => true,
        Some("after") if is_clear => true,
        Some("to" | "before") if is_clear && minutes != 30 => false,
        Some(_) | None => return Ok(None),
    };
    let start = cursor.at;
    let Some(WithWords { what, .. }) = whole_hour(cursor)? else {
        cursor.at = start;
        return Ok(None);
    };
    let back = |hour: i8| if is_past { hour } else { hour - 1 };
    let minute = if is_past { minutes } else { 60 - minutes };
    Ok(Some(match what {
        ClockPhrase::Bare { hour, .. } => {
            let hour = if back(hour) == 0 { 12 } else { back(hour) };
            ClockPhrase::Bare { hour, minute, is_full: false }
        }
        ClockPhrase::Exact(time) | ClockPhrase::Twelve(time) => {
            let hour = back(time.hour()).rem_euclid(24);
            ClockPhrase::Exact(Time::constant(hour, minute, 0, 0))
        }
        // Which midnight it is past may be in doubt, so that the time is told.
        ClockPhrase::Midnight | ClockPhrase::DayEnd if is_past => {
            ClockPhrase::Twelve(Time::constant(0, minute, 0, 0))
        }
        ClockPhrase::Midnight | ClockPhrase::DayEnd => {
            ClockPhrase::Exact(Time::constant(23, minute, 0, 0))
        }
    }))
}

/// An hour without minutes, after `half past`.
fn whole_hour(
    cursor: &mut PhraseCursor<'_>,
) -> Result<Option<WithWords<ClockPhrase>>, TimeParseError> {
    let start = cursor.at;
    let hands = match named(cursor) {
        Some(hands) => Some(hands),
        None => match cursor.number() {
            Some(hour @ 0..=24) => {
                let hour = i8::try_from(hour).unwrap_or(0);
                Some(finish(cursor, start, hour, None, hour == 0 || hour > 12)?)
            }
            Some(_) | None => None,
        },
    };
    Ok(hands.map(|what| WithWords { what, said: cursor.said(start) }))
}

/// `2pm`, `14:00`, `2.30pm`, `14h30`, `9 o'clock`, `nine thirty`, and `9` where it is an hour.
fn written(
    cursor: &mut PhraseCursor<'_>,
    bare: BareNumber,
) -> Result<Option<ClockPhrase>, TimeParseError> {
    let start = cursor.at;
    let is_word =
        cursor.token().is_some_and(|token| !token.text.starts_with(|c: char| c.is_ascii_digit()));
    let Some((hour, places)) = cursor.digits().or_else(|| cursor.number().map(|n| (n, 1))) else {
        return Ok(None);
    };
    let Some(hour) = i8::try_from(hour).ok().filter(|_| places <= 2) else { return Ok(None) };
    let minute = minutes(cursor, is_word);
    let is_clear = minute.is_some_and(|minute| minute.is_clear);
    let ahead = cursor.word();
    let is_clock = is_clear
        || is_half(cursor)
        || matches!(ahead, "o'clock" | "oclock" | "noon" | "midnight")
        || (bare == BareNumber::Hour && minute.is_none())
        || (minute.is_some() && bare == BareNumber::Hour);
    if !is_clock {
        return Ok(None);
    }
    let is_24 =
        places == 2 && hour < 10 || hour == 0 || hour > 12 || minute.is_some_and(|m| m.is_24);
    let hands = finish(cursor, start, hour, minute, is_24)?;
    Ok(Some(hands))
}

/// Minutes and seconds as they stand after an hour.
#[derive(Debug, Clone, Copy)]
struct ClockMinutes {
    minute: i8,
    second: i8,
    /// Whether they are of a time and nothing else.
    is_clear: bool,
    /// Whether they stand after `h`.
    is_24: bool,
}

fn minutes(cursor: &mut PhraseCursor<'_>, is_word: bool) -> Option<ClockMinutes> {
    let start = cursor.at;
    let two = |cursor: &mut PhraseCursor<'_>| -> Option<i8> {
        let is_glued = cursor.is_glued();
        let (number, places) = cursor.digits()?;
        i8::try_from(number).ok().filter(|number| is_glued && places == 2 && *number < 60)
    };
    let is_glued = cursor.is_glued();
    if is_glued && cursor.eat(":") {
        if let Some(minute) = two(cursor) {
            let after = cursor.at;
            let second = if cursor.eat(":") { two(cursor) } else { None };
            cursor.at = if second.is_some() { cursor.at } else { after };
            let second = second.unwrap_or(0);
            return Some(ClockMinutes { minute, second, is_clear: true, is_24: false });
        }
    } else if cursor.eat("h") {
        let after = cursor.at;
        let minute = two(cursor);
        cursor.at = if minute.is_some() { cursor.at } else { after };
        return Some(ClockMinutes {
            minute: minute.unwrap_or(0),
            second: 0,
            is_clear: true,
            is_24: true,
        });
    } else if is_glued && cursor.eat(".") {
        if let Some(minute) = two(cursor) {
            // Above 12 it is no month, so that it is no date; `.` after it begins one.
            let is_clear = minute > 12 && !(cursor.is_glued() && cursor.word() == ".");
            let is_date = cursor.is_glued() && cursor.word() == ".";
            if !is_date {
                return Some(ClockMinutes { minute, second: 0, is_clear, is_24: false });
            }
        }
    } else if is_word && let Some(minute @ 10..=59) = names::number(cursor.word()) {
        cursor.number();
        let minute = i8::try_from(minute).unwrap_or(0);
        return Some(ClockMinutes { minute, second: 0, is_clear: true, is_24: false });
    }
    cursor.at = start;
    None
}

fn is_half(cursor: &PhraseCursor<'_>) -> bool {
    matches!(cursor.word(), "am" | "pm")
}

/// The time of an hour with what stands after it.
fn finish(
    cursor: &mut PhraseCursor<'_>,
    start: usize,
    hour: i8,
    minutes: Option<ClockMinutes>,
    is_24: bool,
) -> Result<ClockPhrase, TimeParseError> {
    let (minute, second) = minutes.map_or((0, 0), |minutes| (minutes.minute, minutes.second));
    cursor.eat_one(&["o'clock", "oclock"]);
    let half = cursor.eat_one(&["am", "pm"]);
    let refused = |cursor: &PhraseCursor<'_>, why: &str| {
        TimeParseError::new(
            TimeParseProblem::Impossible,
            &cursor.said(start),
            why,
            "say it like `2pm`, `14:00` or `14h30`",
        )
    };
    let time = |hour: i8| Time::new(hour, minute, second, 0);
    if let Some(half) = half {
        if !(1..=12).contains(&hour) {
            let why = format!("has no hour from 1 to 12 before `{half}`");
            return Err(refused(cursor, &why));
        }
        let at = hour % 12 + if half == "pm" { 12 } else { 0 };
        let time = time(at).map_err(|_| refused(cursor, "is no time of day"))?;
        return Ok(if hour == 12 { ClockPhrase::Twelve(time) } else { ClockPhrase::Exact(time) });
    }
    if (hour, minute, second) == (24, 0, 0) {
        return Ok(ClockPhrase::DayEnd);
    }
    let time = time(hour).map_err(|_| {
        let why = "is no time of day";
        TimeParseError::new(TimeParseProblem::Impossible, &cursor.said(start), why, TIMES)
    })?;
    if is_24 || second != 0 {
        return Ok(ClockPhrase::Exact(time));
    }
    Ok(ClockPhrase::Bare { hour, minute, is_full: minutes.is_some() })
}
