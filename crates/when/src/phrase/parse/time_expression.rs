//! One side of a phrase: the places for a day, a time of day, a zone, and how words fill them.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, Zoned};

use super::amount::amount;
use super::clock::{Bare, clock, part};
use super::cursor::Cursor;
use super::day::{Place, place};
use super::lexer::{Kind, Token};
use crate::error::{Problem, Unread};
use crate::iso::Iso;
use crate::phrase::syntax::{Day, Hands, Month, Part, Period, Said, Which};

/// One end of a range, or all of a phrase without one.
#[derive(Debug, Default, Clone)]
pub(crate) struct Side {
    pub(crate) day: Option<Said<Day>>,
    /// The weekday that was said beside a date.
    pub(crate) check: Option<Said<Weekday>>,
    pub(crate) clock: Option<Said<Hands>>,
    pub(crate) part: Option<Said<Part>>,
    pub(crate) zone: Option<Said<Where>>,
    pub(crate) moment: Option<Said<Moment>>,
    /// A number of which it is not known yet what it is.
    pub(crate) bare: Option<Said<u32>>,
    pub(crate) all_day: Option<String>,
    /// Whether the day was said before the time of day.
    pub(crate) is_day_first: bool,
}

/// On which clock a time is.
#[derive(Debug, Clone)]
pub(crate) enum Where {
    Zone(TimeZone),
    Offset(Offset),
    /// The offset tells which of two equal times in the zone it is.
    Both(TimeZone, Offset),
}

/// A point of time that needs no day and no time of day.
#[derive(Debug, Clone)]
pub(crate) enum Moment {
    FromNow(Span),
    Instant(Timestamp),
    Zoned(Zoned),
}

impl Side {
    /// Whether anything of a time of day is said.
    pub(crate) fn has_clock(&self) -> bool {
        self.clock.is_some() || self.part.is_some() || self.moment.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.has_clock() && self.day.is_none() && self.bare.is_none()
    }

    /// Takes the words of one place, if they stand here.
    pub(crate) fn fill(&mut self, cursor: &mut Cursor<'_>, is_at: bool) -> Result<bool, Unread> {
        let start = cursor.at;
        if self.fill_whole_word(cursor)? {
            return Ok(true);
        }
        if cursor.eat_all(&["right", "now"]) || cursor.eat("now") {
            let what = Moment::FromNow(Span::new());
            let found = Said { what, said: cursor.said(start) };
            set(&mut self.moment, found, "says another time")?;
            return Ok(true);
        }
        if cursor.eat_all(&["all", "day"])
            || cursor.eat_all(&["all", "-", "day"])
            || cursor.eat_all(&["whole", "day"])
        {
            self.all_day = Some(cursor.said(start));
            return Ok(true);
        }
        if is_at
            && let Some((_, 4)) = cursor.digits()
            && (cursor.is_at_end() || !matches!(cursor.word(), "-" | "/" | "."))
        {
            let why = "may be a year or a time";
            let cure = "say the time like `14:30`";
            return Err(Unread::new(Problem::Ambiguous, &cursor.said(start), why, cure));
        }
        cursor.at = start;
        if self.fill_part(cursor)? {
            return Ok(true);
        }
        let is_hour = is_at && cursor.token().is_some_and(|token| !token.text.is_empty());
        if is_hour && let Some(found) = clock(cursor, Bare::Unknown)? {
            return self.set_clock(found).map(|()| true);
        }
        if let Some(Said { what, said }) = place(cursor)? {
            match what {
                Place::FromNow(span) => {
                    let found = Said { what: Moment::FromNow(span), said };
                    set(&mut self.moment, found, "says another time")?;
                }
                Place::Day(what) => self.set_day(Said { what, said })?,
            }
            return Ok(true);
        }
        let bare = if is_at { Bare::Hour } else { Bare::Unknown };
        if let Some(found) = clock(cursor, bare)? {
            return self.set_clock(found).map(|()| true);
        }
        self.fill_number(cursor)
    }

    /// A part of the day, which `this`, `last` and `tonight` also put on a day.
    fn fill_part(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Unread> {
        let start = cursor.at;
        let is_of_today =
            matches!(cursor.ahead(1), "morning" | "afternoon" | "evening" | "lunchtime");
        let days = match cursor.word() {
            "this" if is_of_today => Some(0),
            "last" if cursor.ahead(1) == "night" => Some(-1),
            _ => None,
        };
        if let Some(days) = days {
            cursor.at += 1;
            let what = Day::FromToday(days);
            self.set_day(Said { what, said: cursor.part(start, cursor.at + 1) })?;
        }
        let Some(found) = part(cursor) else { return Ok(false) };
        if found.said.eq_ignore_ascii_case("tonight") && self.day.is_none() {
            self.day = Some(Said { what: Day::FromToday(0), said: found.said.clone() });
        }
        set(&mut self.part, found, "says another part of the day")?;
        Ok(true)
    }

    /// A number alone; with a unit after it, it is a duration.
    fn fill_number(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Unread> {
        let start = cursor.at;
        if amount(cursor)?.is_some() {
            let said = cursor.said(start);
            let cure = format!("say `in {said}`, `{said} ago` or `for {said}` after a time");
            let why = "is a duration and no time";
            return Err(Unread::new(Problem::Ambiguous, &said, why, &cure));
        }
        cursor.at = start;
        let Some(what @ 0..=31) = cursor.number() else {
            cursor.at = start;
            return Ok(false);
        };
        let found = Said { what, said: cursor.said(start) };
        set(&mut self.bare, found, "is one number too many")?;
        Ok(true)
    }

    fn set_clock(&mut self, found: Said<Hands>) -> Result<(), Unread> {
        set(&mut self.clock, found, "says another time of day")
    }

    /// A word that is a time or a zone by itself.
    fn fill_whole_word(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Unread> {
        let Some(Token { kind, .. }) = cursor.token() else { return Ok(false) };
        let start = cursor.at;
        let mut ahead = *cursor;
        ahead.at += 1;
        let said = ahead.said(start);
        match kind {
            Kind::Iso(Iso::Instant(instant)) => {
                let found = Said { what: Moment::Instant(*instant), said };
                set(&mut self.moment, found, "says another time")?;
            }
            Kind::Iso(Iso::Moment(zoned)) => {
                let found = Said { what: Moment::Zoned(zoned.clone()), said };
                set(&mut self.moment, found, "says another time")?;
            }
            Kind::Iso(Iso::Local(local)) => self.set_local(*local, &said)?,
            Kind::Iso(Iso::LocalIn(local, zone)) => {
                self.set_local(*local, &said)?;
                let found = Said { what: Where::Zone(zone.clone()), said };
                set(&mut self.zone, found, "says another zone")?;
            }
            Kind::Zone(zone) => {
                let what = match self.zone.take() {
                    Some(Said { what: Where::Offset(offset), .. }) => {
                        Where::Both(zone.clone(), offset)
                    }
                    other => {
                        self.zone = other;
                        Where::Zone(zone.clone())
                    }
                };
                set(&mut self.zone, Said { what, said }, "says another zone")?;
            }
            Kind::Offset(offset) => {
                let found = Said { what: Where::Offset(*offset), said };
                set(&mut self.zone, found, "says another zone")?;
            }
            Kind::Iso(Iso::Day(_) | Iso::Days(..))
            | Kind::Number
            | Kind::Word
            | Kind::Length(_) => {
                return Ok(false);
            }
        }
        *cursor = ahead;
        Ok(true)
    }

    fn set_local(&mut self, local: DateTime, said: &str) -> Result<(), Unread> {
        self.set_day(Said { what: Day::Exact(local.date()), said: said.to_owned() })?;
        self.set_clock(Said { what: Hands::Exact(local.time()), said: said.to_owned() })
    }

    /// A day beside another is a check of it, or says of which week or month it is.
    fn set_day(&mut self, found: Said<Day>) -> Result<(), Unread> {
        let Some(before) = self.day.take() else {
            self.is_day_first = !self.has_clock() && self.bare.is_none();
            self.day = Some(found);
            return Ok(());
        };
        let said = format!("{} {}", before.said, found.said);
        let weekday = |day: &Day| {
            if let Day::Weekday(Which::Plain, weekday) = day { Some(*weekday) } else { None }
        };
        let merged = match (&before.what, &found.what) {
            (Day::Weekday(Which::Plain, weekday), other)
            | (other, Day::Weekday(Which::Plain, weekday))
                if weeks(other).is_some() =>
            {
                Some(Day::InWeek(*weekday, weeks(other).unwrap_or(0)))
            }
            (Day::OfMonth { day, month: Month::Plain, .. }, Day::Period(Period::Month(months)))
            | (Day::Period(Period::Month(months)), Day::OfMonth { day, month: Month::Plain, .. }) => {
                Some(Day::OfMonth { day: *day, month: Month::FromNow(*months), year: None })
            }
            _ => None,
        };
        if let Some(what) = merged {
            self.day = Some(Said { what, said });
            return Ok(());
        }
        let is_date =
            |day: &Day| matches!(day, Day::Exact(_) | Day::OfMonth { .. } | Day::FromToday(_));
        let (day, check) = match (weekday(&before.what), weekday(&found.what)) {
            (Some(weekday), None) if is_date(&found.what) => {
                (found, Said { what: weekday, said: before.said })
            }
            (None, Some(weekday)) if is_date(&before.what) => {
                (before, Said { what: weekday, said: found.said })
            }
            _ => {
                let cure = "say one day, or a range such as `Mon-Wed`";
                return Err(Unread::new(Problem::Conflict, &said, "says two days", cure));
            }
        };
        self.day = Some(day);
        set(&mut self.check, check, "says two weekdays")
    }
}

/// How many weeks from this one a phrase beside a weekday says.
fn weeks(day: &Day) -> Option<i64> {
    if let Day::Period(Period::Week(weeks)) = day {
        return Some(*weeks);
    }
    let Day::Shifted { from, span, is_back } = day else { return None };
    let weeks = i64::from(span.get_weeks());
    let only_weeks = Span::new().try_weeks(weeks).ok()?;
    let is_weeks = span.fieldwise() == only_weeks.fieldwise();
    let is_from_today = matches!(from.what, Day::FromToday(0));
    (is_weeks && is_from_today).then_some(if *is_back { -weeks } else { weeks })
}

/// Fills a place that must be empty.
pub(crate) fn set<T>(place: &mut Option<Said<T>>, found: Said<T>, why: &str) -> Result<(), Unread> {
    if place.is_some() {
        let cure = "say one of them";
        return Err(Unread::new(Problem::Conflict, &found.said, why, cure));
    }
    *place = Some(found);
    Ok(())
}
