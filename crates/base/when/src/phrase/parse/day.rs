//! Days and periods: `next Tuesday`, `24 Dec`, `the last Friday of March`, `this weekend`.

use jiff::Span;
use jiff::civil::Weekday;

use super::amount::{amount, is_of_clock};
use super::cursor::PhraseCursor;
use super::lexer::{self, PhraseToken};
use super::numeric_date::numeric;
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::iso::IsoTime;
use crate::names;
use crate::phrase::syntax::{
    DayKind, DayPhrase, Determiner, MonthPhrase, PeriodEdge, PeriodPhrase, WithWords,
};

/// A day, days, or so much time from now.
#[derive(Debug, Clone)]
pub(crate) enum DayOrOffset {
    Day(DayPhrase),
    /// From now by what a clock measures, back if negative.
    FromNow(Span),
}

/// A way to read a day; where it finds none, the cursor stands anywhere.
type DayParser = fn(&mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError>;

/// A day, if one is said here.
pub(crate) fn place(
    cursor: &mut PhraseCursor<'_>,
) -> Result<Option<WithWords<DayOrOffset>>, TimeParseError> {
    let start = cursor.at;
    let mut found = distance(cursor)?;
    if found.is_none() {
        cursor.at = start;
        found = day(cursor)?.map(DayOrOffset::Day);
    }
    if found.is_none() {
        cursor.at = start;
    }
    Ok(found.map(|what| WithWords { what, said: cursor.said(start) }))
}

/// A day of the calendar, if one is said here.
pub(crate) fn day(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    let start = cursor.at;
    if let Some(PhraseToken { kind: lexer::PhraseTokenKind::Iso(iso), .. }) = cursor.token() {
        let day = match iso {
            IsoTime::Day(day) => DayPhrase::Exact(*day),
            IsoTime::Days(first, last) => DayPhrase::Exactly(*first, *last),
            IsoTime::Local(_) | IsoTime::Instant(_) | IsoTime::Moment(_) | IsoTime::LocalIn(..) => {
                return Ok(None);
            }
        };
        cursor.at += 1;
        return Ok(Some(day));
    }
    if let Some(day) = numeric(cursor)? {
        return Ok(Some(day));
    }
    let tries: [DayParser; 7] = [relative, nth, edge, day_of_month, chosen, plain_period, weekday];
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
fn relative(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    cursor.eat("the");
    if cursor.eat("day") {
        let is_back = match cursor.eat_one(&["after", "before"]) {
            Some(word) => word == "before",
            None => return Ok(None),
        };
        let start = cursor.at;
        cursor.eat("the");
        let Some(what) = day(cursor)? else { return Ok(None) };
        let from = Box::new(WithWords { what, said: cursor.said(start) });
        let span = Span::new().try_days(1).unwrap_or_default();
        return Ok(Some(DayPhrase::Shifted { from, span, is_back }));
    }
    let days = match cursor.eat_one(&["today", "tomorrow", "tmrw", "tmr", "yesterday"]) {
        Some("today") => 0,
        Some("yesterday") => -1,
        Some(_) => 1,
        None => return Ok(None),
    };
    Ok(Some(DayPhrase::FromToday(days)))
}

/// `in 2 hours`, `3 days ago`, `a week from Friday`, `in two weeks' time`.
fn distance(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayOrOffset>, TimeParseError> {
    let start = cursor.at;
    let is_in = cursor.eat_one(&["in", "within"]).is_some();
    let Some(span) = amount(cursor)? else { return Ok(None) };
    let said = cursor.said(start);
    let place = |is_back: bool| {
        let signed = if is_back { span.negate() } else { span };
        if is_of_clock(&span) {
            return DayOrOffset::FromNow(signed);
        }
        let from = Box::new(WithWords { what: DayPhrase::FromToday(0), said: "today".to_owned() });
        DayOrOffset::Day(DayPhrase::Shifted { from, span, is_back })
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
                return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &said, why, cure));
            }
            let from = Box::new(WithWords { what, said: cursor.said(start) });
            return Ok(Some(DayOrOffset::Day(DayPhrase::Shifted {
                from,
                span,
                is_back: word == "before",
            })));
        }
    }
    Ok(None)
}

/// `the first Monday of next month`, `last Friday of March`, `the last day of the month`.
fn nth(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
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
    Ok(period(cursor)?.map(|period| DayPhrase::Nth { nth, of, period }))
}

/// `first Monday`, `last working day`, `third day`.
pub(crate) fn nth_of(cursor: &mut PhraseCursor<'_>) -> Option<(i8, DayKind)> {
    let nth = if cursor.eat("last") {
        -1
    } else {
        let nth = i8::try_from(cursor.ordinal()?).ok()?;
        if cursor.eat("last") { -nth } else { nth }
    };
    if let Some((weekday, false)) = names::weekday(cursor.word()) {
        cursor.at += 1;
        return Some((nth, DayKind::Weekday(weekday)));
    }
    if cursor.eat_one(&["working", "business", "work"]).is_some() {
        return cursor.eat("day").then_some((nth, DayKind::Working));
    }
    match cursor.eat_one(&["day", "weekday", "workday"]) {
        Some("day") => Some((nth, DayKind::Day)),
        Some(_) => Some((nth, DayKind::Working)),
        None => None,
    }
}

/// `end of month`, `start of next week`, `mid January`, `eom`.
fn edge(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    const SHORT: [(&str, PeriodPhrase); 3] = [
        ("eow", PeriodPhrase::Week(0)),
        ("eom", PeriodPhrase::Month(0)),
        ("eoy", PeriodPhrase::Year(0)),
    ];
    if let Some((_, period)) = SHORT.iter().find(|(word, _)| cursor.eat(word)) {
        return Ok(Some(DayPhrase::Edge(PeriodEdge::End, period.clone())));
    }
    cursor.eat("the");
    let edge = match cursor.eat_one(&["start", "beginning", "mid", "middle", "end"]) {
        Some("start" | "beginning") => PeriodEdge::Start,
        Some("mid" | "middle") => PeriodEdge::Middle,
        Some(_) => PeriodEdge::End,
        None => return Ok(None),
    };
    cursor.eat("-");
    cursor.eat("of");
    Ok(period(cursor)?.map(|period| DayPhrase::Edge(edge, period)))
}

/// `24 Dec`, `Dec 24th, 2026`, `the 15th of next month`, `the 15th`.
fn day_of_month(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    let start = cursor.at;
    if let Some(month) = names::month(cursor.word()) {
        cursor.at += 1;
        cursor.eat_one(&[".", "the"]);
        let number = cursor.ordinal().or_else(|| day_number(cursor));
        let Some(number) = number else { return Ok(None) };
        cursor.eat_one(&["st", "nd", "rd", "th"]);
        let year = year(cursor);
        return of_month(cursor, start, number, MonthPhrase::Named(month), year).map(Some);
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
        return of_month(cursor, start, number, MonthPhrase::Named(month), year).map(Some);
    }
    if ordinal.is_none() {
        return Ok(None);
    }
    let month = if let Some(PeriodPhrase::Month(months)) = period(cursor)? {
        MonthPhrase::FromNow(months)
    } else {
        cursor.at = after;
        MonthPhrase::Plain
    };
    of_month(cursor, start, number, month, None).map(Some)
}

/// A number that may be a day: no hour with minutes, no half of the day after it.
fn day_number(cursor: &mut PhraseCursor<'_>) -> Option<u32> {
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
pub(crate) fn year(cursor: &mut PhraseCursor<'_>) -> Option<i16> {
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
    cursor: &PhraseCursor<'_>,
    start: usize,
    number: u32,
    month: MonthPhrase,
    year: Option<i16>,
) -> Result<DayPhrase, TimeParseError> {
    let longest = match month {
        MonthPhrase::Named(2) => 29,
        MonthPhrase::Named(4 | 6 | 9 | 11) => 30,
        MonthPhrase::Named(_) | MonthPhrase::Plain | MonthPhrase::FromNow(_) => 31,
    };
    let day = i8::try_from(number).ok().filter(|day| (1..=longest).contains(day));
    let Some(day) = day else {
        let why = "is no day of that month";
        return Err(TimeParseError::new(
            TimeParseProblem::Impossible,
            &cursor.said(start),
            why,
            TIMES,
        ));
    };
    Ok(DayPhrase::OfMonth { day, month, year })
}

/// `this`, `next` and their like.
pub(crate) fn which(cursor: &mut PhraseCursor<'_>) -> Option<Determiner> {
    let words =
        ["this", "current", "next", "last", "coming", "upcoming", "following", "past", "previous"];
    Some(match cursor.eat_one(&words)? {
        "this" | "current" => {
            if cursor.eat_one(&["coming", "upcoming"]).is_some() {
                Determiner::Coming
            } else {
                Determiner::This
            }
        }
        "next" => Determiner::Next,
        "last" => Determiner::Last,
        "past" | "previous" => Determiner::Past,
        _ => Determiner::Coming,
    })
}

/// `next Tuesday`, `last week`, `the next 3 days`.
fn chosen(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    let start = cursor.at;
    cursor.eat("the");
    let Some(which) = which(cursor) else { return Ok(None) };
    if let Some((weekday, _)) = names::weekday(cursor.word()) {
        cursor.at += 1;
        return Ok(Some(DayPhrase::Weekday(which, weekday)));
    }
    let is_back = matches!(which, Determiner::Last | Determiner::Past);
    let mut ahead = *cursor;
    if ahead.number().is_some()
        && let Some(span) = amount(cursor)?
        && !is_of_clock(&span)
    {
        return Ok(Some(DayPhrase::Run { span, is_back }));
    }
    cursor.at = start;
    Ok(period(cursor)?.map(DayPhrase::Period))
}

/// A period that needs no word before it: `March`, `Q1`, `week 48`, `the weekend`.
fn plain_period(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    if cursor.eat_all(&["the", "week", "after", "next"])
        || cursor.eat_all(&["week", "after", "next"])
    {
        return Ok(Some(DayPhrase::Period(PeriodPhrase::Week(2))));
    }
    let is_named =
        !matches!(cursor.ahead(usize::from(cursor.word() == "the")), "month" | "year" | "quarter");
    let period = period(cursor)?;
    Ok(period
        .filter(|period| is_named && !matches!(period, PeriodPhrase::Week(0)))
        .map(DayPhrase::Period))
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of several attempts")]
fn weekday(cursor: &mut PhraseCursor<'_>) -> Result<Option<DayPhrase>, TimeParseError> {
    cursor.eat("the");
    let Some((weekday, false)) = names::weekday(cursor.word()) else { return Ok(None) };
    cursor.at += 1;
    if cursor.is_glued() && cursor.word() == "." {
        cursor.at += 1;
    }
    if cursor.eat_all(&["after", "next"]) {
        return Ok(Some(DayPhrase::InWeek(weekday, 2)));
    }
    Ok(Some(DayPhrase::Weekday(Determiner::Plain, weekday)))
}

/// A week, weekend, month, quarter or year.
pub(crate) fn period(
    cursor: &mut PhraseCursor<'_>,
) -> Result<Option<PeriodPhrase>, TimeParseError> {
    let start = cursor.at;
    cursor.eat("the");
    if let Some(period) = numbered(cursor)? {
        return Ok(Some(period));
    }
    let which = which(cursor);
    let steps = match which {
        None | Some(Determiner::Plain | Determiner::This) => 0,
        Some(Determiner::Next | Determiner::Coming) => 1,
        Some(Determiner::Last | Determiner::Past) => -1,
    };
    if let Some(month) = names::month(cursor.word()) {
        cursor.at += 1;
        if cursor.is_glued() {
            cursor.eat(".");
        }
        let which = which.unwrap_or(Determiner::Plain);
        let year = if which == Determiner::Plain { year(cursor) } else { None };
        return Ok(Some(PeriodPhrase::NamedMonth(which, month, year)));
    }
    let period = match cursor.eat_one(&["week", "weekend", "month", "quarter", "year"]) {
        Some("week") => PeriodPhrase::Week(steps),
        Some("weekend") => PeriodPhrase::Weekend(which.unwrap_or(Determiner::Plain)),
        Some("month") => PeriodPhrase::Month(steps),
        Some("quarter") => PeriodPhrase::Quarter(steps),
        Some(_) => PeriodPhrase::Year(steps),
        None => {
            if which.is_none()
                && let Some(year) = year(cursor)
            {
                return Ok(Some(PeriodPhrase::YearNumber(year)));
            }
            cursor.at = start;
            return Ok(None);
        }
    };
    Ok(Some(period))
}

/// `week 48`, `W48`, `the week of 24 Nov`, `Q1 2027`.
fn numbered(cursor: &mut PhraseCursor<'_>) -> Result<Option<PeriodPhrase>, TimeParseError> {
    let start = cursor.at;
    let impossible = |cursor: &PhraseCursor<'_>, why: &str| {
        Err(TimeParseError::new(TimeParseProblem::Impossible, &cursor.said(start), why, TIMES))
    };
    if cursor.eat("q")
        && cursor.is_glued()
        && let Some((number, _)) = cursor.digits()
    {
        let year = year(cursor);
        return match i8::try_from(number) {
            Ok(number @ 1..=4) => Ok(Some(PeriodPhrase::QuarterNumber(number, year))),
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
                return Ok(Some(PeriodPhrase::WeekOf(Box::new(WithWords { what, said }))));
            }
        } else if let Some((number, _)) = cursor.digits() {
            let year = year(cursor);
            return match i8::try_from(number) {
                Ok(number @ 1..=53) => Ok(Some(PeriodPhrase::WeekNumber(number, year))),
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
