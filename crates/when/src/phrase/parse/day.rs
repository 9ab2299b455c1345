//! Days and periods: `next Tuesday`, `24 Dec`, `the last Friday of March`, `this weekend`.

use jiff::Span;
use jiff::civil::Weekday;

use super::amount::{amount, is_of_clock};
use super::cursor::Cursor;
use super::lexer::{self, Token};
use super::numeric_date::numeric;
use crate::error::{Problem, TIMES, Unread};
use crate::iso::Iso;
use crate::names;
use crate::phrase::syntax::{Day, Edge, Kind, Month, Period, Said, Which};

/// A day, days, or so much time from now.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Day(Day),
    /// From now by what a clock measures, back if negative.
    FromNow(Span),
}

/// A way to read a day; where it finds none, the cursor stands anywhere.
type Attempt = fn(&mut Cursor<'_>) -> Result<Option<Day>, Unread>;

/// A day, if one is said here.
pub(crate) fn place(cursor: &mut Cursor<'_>) -> Result<Option<Said<Place>>, Unread> {
    let start = cursor.at;
    let mut found = distance(cursor)?;
    if found.is_none() {
        cursor.at = start;
        found = day(cursor)?.map(Place::Day);
    }
    if found.is_none() {
        cursor.at = start;
    }
    Ok(found.map(|what| Said { what, said: cursor.said(start) }))
}

/// A day of the calendar, if one is said here.
pub(crate) fn day(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    let start = cursor.at;
    if let Some(Token { kind: lexer::Kind::Iso(iso), .. }) = cursor.token() {
        let day = match iso {
            Iso::Day(day) => Day::Exact(*day),
            Iso::Days(first, last) => Day::Exactly(*first, *last),
            Iso::Local(_) | Iso::Instant(_) | Iso::Moment(_) | Iso::LocalIn(..) => return Ok(None),
        };
        cursor.at += 1;
        return Ok(Some(day));
    }
    if let Some(day) = numeric(cursor)? {
        return Ok(Some(day));
    }
    let tries: [Attempt; 7] = [relative, nth, edge, day_of_month, chosen, plain_period, weekday];
    for attempt in tries {
        cursor.at = start;
        if let Some(day) = attempt(cursor)? {
            return Ok(Some(day));
        }
    }
    cursor.at = start;
    Ok(None)
}

/// `today`, `tomorrow`, `the day after tomorrow`, `the day before 24 Dec`.
fn relative(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    cursor.eat("the");
    if cursor.eat("day") {
        let is_back = match cursor.eat_one(&["after", "before"]) {
            Some(word) => word == "before",
            None => return Ok(None),
        };
        let start = cursor.at;
        cursor.eat("the");
        let Some(what) = day(cursor)? else { return Ok(None) };
        let from = Box::new(Said { what, said: cursor.said(start) });
        let span = Span::new().try_days(1).unwrap_or_default();
        return Ok(Some(Day::Shifted { from, span, is_back }));
    }
    let days = match cursor.eat_one(&["today", "tomorrow", "tmrw", "tmr", "yesterday"]) {
        Some("today") => 0,
        Some("yesterday") => -1,
        Some(_) => 1,
        None => return Ok(None),
    };
    Ok(Some(Day::FromToday(days)))
}

/// `in 2 hours`, `3 days ago`, `a week from Friday`, `in two weeks' time`.
fn distance(cursor: &mut Cursor<'_>) -> Result<Option<Place>, Unread> {
    let start = cursor.at;
    let is_in = cursor.eat_one(&["in", "within"]).is_some();
    let Some(span) = amount(cursor)? else { return Ok(None) };
    let said = cursor.said(start);
    let place = |is_back: bool| {
        let signed = if is_back { span.negate() } else { span };
        if is_of_clock(&span) {
            return Place::FromNow(signed);
        }
        let from = Box::new(Said { what: Day::FromToday(0), said: "today".to_owned() });
        Place::Day(Day::Shifted { from, span, is_back })
    };
    if is_in {
        cursor.eat("time");
        cursor.eat_all(&["from", "now"]);
        return Ok(Some(place(false)));
    }
    if cursor.eat("ago") {
        return Ok(Some(place(true)));
    }
    if cursor.eat_all(&["from", "now"]) || cursor.eat("hence") {
        return Ok(Some(place(false)));
    }
    if let Some(word) = cursor.eat_one(&["from", "after", "before"]) {
        let start = cursor.at;
        cursor.eat("the");
        if let Some(what) = day(cursor)? {
            if is_of_clock(&span) {
                let why = "counts hours from a whole day";
                let cure = "say the time of day, such as `tomorrow 2pm`";
                return Err(Unread::new(Problem::Ambiguous, &said, why, cure));
            }
            let from = Box::new(Said { what, said: cursor.said(start) });
            return Ok(Some(Place::Day(Day::Shifted { from, span, is_back: word == "before" })));
        }
    }
    Ok(None)
}

/// `the first Monday of next month`, `last Friday of March`, `the last day of the month`.
fn nth(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    cursor.eat("the");
    let Some((nth, of)) = nth_of(cursor) else { return Ok(None) };
    if !matches!(cursor.word(), "of" | "in") {
        let start = cursor.at;
        // `first Monday next month` does without.
        let is_chosen = which(cursor).is_some();
        cursor.at = start;
        if !is_chosen || nth == -1 {
            return Ok(None);
        }
    }
    cursor.eat_one(&["of", "in"]);
    Ok(period(cursor)?.map(|period| Day::Nth { nth, of, period }))
}

/// `first Monday`, `last working day`, `third day`.
pub(crate) fn nth_of(cursor: &mut Cursor<'_>) -> Option<(i8, Kind)> {
    let nth = if cursor.eat("last") {
        -1
    } else {
        let nth = i8::try_from(cursor.ordinal()?).ok()?;
        if cursor.eat("last") { -nth } else { nth }
    };
    if let Some((weekday, false)) = names::weekday(cursor.word()) {
        cursor.at += 1;
        return Some((nth, Kind::Weekday(weekday)));
    }
    if cursor.eat_one(&["working", "business", "work"]).is_some() {
        return cursor.eat("day").then_some((nth, Kind::Working));
    }
    match cursor.eat_one(&["day", "weekday", "workday"]) {
        Some("day") => Some((nth, Kind::Day)),
        Some(_) => Some((nth, Kind::Working)),
        None => None,
    }
}

/// `end of month`, `start of next week`, `mid January`, `eom`.
fn edge(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    const SHORT: [(&str, Period); 3] =
        [("eow", Period::Week(0)), ("eom", Period::Month(0)), ("eoy", Period::Year(0))];
    if let Some((_, period)) = SHORT.iter().find(|(word, _)| cursor.eat(word)) {
        return Ok(Some(Day::Edge(Edge::End, period.clone())));
    }
    cursor.eat("the");
    let edge = match cursor.eat_one(&["start", "beginning", "mid", "middle", "end"]) {
        Some("start" | "beginning") => Edge::Start,
        Some("mid" | "middle") => Edge::Middle,
        Some(_) => Edge::End,
        None => return Ok(None),
    };
    cursor.eat("-");
    cursor.eat("of");
    Ok(period(cursor)?.map(|period| Day::Edge(edge, period)))
}

/// `24 Dec`, `Dec 24th, 2026`, `the 15th of next month`, `the 15th`.
fn day_of_month(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    let start = cursor.at;
    if let Some(month) = names::month(cursor.word()) {
        cursor.at += 1;
        cursor.eat_one(&[".", "the"]);
        let number = cursor.ordinal().or_else(|| day_number(cursor));
        let Some(number) = number else { return Ok(None) };
        cursor.eat_one(&["st", "nd", "rd", "th"]);
        let year = year(cursor);
        return of_month(cursor, start, number, Month::Named(month), year).map(Some);
    }
    cursor.eat("the");
    let ordinal = cursor.ordinal();
    let Some(number) = ordinal.or_else(|| day_number(cursor)) else { return Ok(None) };
    let after = cursor.at;
    cursor.eat_one(&["of", "."]);
    if let Some(month) = names::month(cursor.word()) {
        cursor.at += 1;
        if cursor.is_glued() {
            cursor.eat(".");
        }
        let year = year(cursor);
        return of_month(cursor, start, number, Month::Named(month), year).map(Some);
    }
    if ordinal.is_none() {
        return Ok(None);
    }
    let month = if let Some(Period::Month(months)) = period(cursor)? {
        Month::FromNow(months)
    } else {
        cursor.at = after;
        Month::Plain
    };
    of_month(cursor, start, number, month, None).map(Some)
}

/// A number that may be a day: no hour with minutes, no half of the day after it.
fn day_number(cursor: &mut Cursor<'_>) -> Option<u32> {
    let start = cursor.at;
    let (number, places) = cursor.digits()?;
    let is_time = matches!(cursor.word(), ":" | "am" | "pm" | "h") || places > 2;
    if is_time || (cursor.is_glued() && cursor.word() == ".") && cursor.ahead(1).is_empty() {
        cursor.at = start;
        return None;
    }
    Some(number)
}

/// A year of four digits, with a comma before it.
pub(crate) fn year(cursor: &mut Cursor<'_>) -> Option<i16> {
    let start = cursor.at;
    cursor.eat_one(&[",", "of", "in"]);
    if let Some((number @ 1_900..=9_999, 4)) = cursor.digits()
        && !(cursor.is_glued() && matches!(cursor.word(), ":" | "h"))
    {
        return i16::try_from(number).ok();
    }
    cursor.at = start;
    None
}

fn of_month(
    cursor: &Cursor<'_>,
    start: usize,
    number: u32,
    month: Month,
    year: Option<i16>,
) -> Result<Day, Unread> {
    let longest = match month {
        Month::Named(2) => 29,
        Month::Named(4 | 6 | 9 | 11) => 30,
        Month::Named(_) | Month::Plain | Month::FromNow(_) => 31,
    };
    let day = i8::try_from(number).ok().filter(|day| (1..=longest).contains(day));
    let Some(day) = day else {
        let why = "is no day of that month";
        return Err(Unread::new(Problem::Impossible, &cursor.said(start), why, TIMES));
    };
    Ok(Day::OfMonth { day, month, year })
}

/// `this`, `next` and their like.
pub(crate) fn which(cursor: &mut Cursor<'_>) -> Option<Which> {
    let words =
        ["this", "current", "next", "last", "coming", "upcoming", "following", "past", "previous"];
    Some(match cursor.eat_one(&words)? {
        "this" | "current" => {
            if cursor.eat_one(&["coming", "upcoming"]).is_some() {
                Which::Coming
            } else {
                Which::This
            }
        }
        "next" => Which::Next,
        "last" => Which::Last,
        "past" | "previous" => Which::Past,
        _ => Which::Coming,
    })
}

/// `next Tuesday`, `last week`, `the next 3 days`.
fn chosen(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    let start = cursor.at;
    cursor.eat("the");
    let Some(which) = which(cursor) else { return Ok(None) };
    if let Some((weekday, _)) = names::weekday(cursor.word()) {
        cursor.at += 1;
        return Ok(Some(Day::Weekday(which, weekday)));
    }
    let is_back = matches!(which, Which::Last | Which::Past);
    let mut ahead = *cursor;
    if ahead.number().is_some()
        && let Some(span) = amount(cursor)?
        && !is_of_clock(&span)
    {
        return Ok(Some(Day::Run { span, is_back }));
    }
    cursor.at = start;
    Ok(period(cursor)?.map(Day::Period))
}

/// A period that needs no word before it: `March`, `Q1`, `week 48`, `the weekend`.
fn plain_period(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    if cursor.eat_all(&["the", "week", "after", "next"])
        || cursor.eat_all(&["week", "after", "next"])
    {
        return Ok(Some(Day::Period(Period::Week(2))));
    }
    let is_named =
        !matches!(cursor.ahead(usize::from(cursor.word() == "the")), "month" | "year" | "quarter");
    let period = period(cursor)?;
    Ok(period.filter(|period| is_named && !matches!(period, Period::Week(0))).map(Day::Period))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of several attempts")]
fn weekday(cursor: &mut Cursor<'_>) -> Result<Option<Day>, Unread> {
    cursor.eat("the");
    let Some((weekday, false)) = names::weekday(cursor.word()) else { return Ok(None) };
    cursor.at += 1;
    if cursor.is_glued() && cursor.word() == "." {
        cursor.at += 1;
    }
    if cursor.eat_all(&["after", "next"]) {
        return Ok(Some(Day::InWeek(weekday, 2)));
    }
    Ok(Some(Day::Weekday(Which::Plain, weekday)))
}

/// A week, weekend, month, quarter or year.
pub(crate) fn period(cursor: &mut Cursor<'_>) -> Result<Option<Period>, Unread> {
    let start = cursor.at;
    cursor.eat("the");
    if let Some(period) = numbered(cursor)? {
        return Ok(Some(period));
    }
    let which = which(cursor);
    let steps = match which {
        None | Some(Which::Plain | Which::This) => 0,
        Some(Which::Next | Which::Coming) => 1,
        Some(Which::Last | Which::Past) => -1,
    };
    if let Some(month) = names::month(cursor.word()) {
        cursor.at += 1;
        if cursor.is_glued() {
            cursor.eat(".");
        }
        let which = which.unwrap_or(Which::Plain);
        let year = if which == Which::Plain { year(cursor) } else { None };
        return Ok(Some(Period::NamedMonth(which, month, year)));
    }
    let period = match cursor.eat_one(&["week", "weekend", "month", "quarter", "year"]) {
        Some("week") => Period::Week(steps),
        Some("weekend") => Period::Weekend(which.unwrap_or(Which::Plain)),
        Some("month") => Period::Month(steps),
        Some("quarter") => Period::Quarter(steps),
        Some(_) => Period::Year(steps),
        None => {
            if which.is_none()
                && let Some(year) = year(cursor)
            {
                return Ok(Some(Period::YearNumber(year)));
            }
            cursor.at = start;
            return Ok(None);
        }
    };
    Ok(Some(period))
}

/// `week 48`, `W48`, `the week of 24 Nov`, `Q1 2027`.
fn numbered(cursor: &mut Cursor<'_>) -> Result<Option<Period>, Unread> {
    let start = cursor.at;
    let impossible = |cursor: &Cursor<'_>, why: &str| {
        Err(Unread::new(Problem::Impossible, &cursor.said(start), why, TIMES))
    };
    if cursor.eat("q")
        && cursor.is_glued()
        && let Some((number, _)) = cursor.digits()
    {
        let year = year(cursor);
        return match i8::try_from(number) {
            Ok(number @ 1..=4) => Ok(Some(Period::QuarterNumber(number, year))),
            Ok(_) | Err(_) => impossible(cursor, "is no quarter from Q1 to Q4"),
        };
    }
    cursor.at = start;
    cursor.eat("calendar");
    if cursor.eat_one(&["week", "w", "kw", "cw", "wk"]).is_some() {
        if cursor.eat_one(&["of", "commencing", "beginning", "starting"]).is_some() {
            let from = cursor.at;
            cursor.eat("the");
            if let Some(what) = day(cursor)? {
                let said = cursor.said(from);
                return Ok(Some(Period::WeekOf(Box::new(Said { what, said }))));
            }
        } else if let Some((number, _)) = cursor.digits() {
            let year = year(cursor);
            return match i8::try_from(number) {
                Ok(number @ 1..=53) => Ok(Some(Period::WeekNumber(number, year))),
                Ok(_) | Err(_) => impossible(cursor, "is no week from 1 to 53"),
            };
        }
    }
    cursor.at = start;
    Ok(None)
}

/// Monday to Friday, as lists of rules have it.
pub(crate) const WORKING: [Weekday; 5] =
    [Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday];
