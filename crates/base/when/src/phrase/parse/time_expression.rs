//! One side of a phrase: the places for a day, a time of day, a zone, and how words fill them.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, Zoned};

use super::amount::amount;
use super::clock::{BareNumber, clock, part};
use super::cursor::PhraseCursor;
use super::day::{DayOrOffset, place};
use super::lexer::{PhraseToken, PhraseTokenKind};
use crate::error::{TimeParseError, TimeParseProblem};
use crate::iso::IsoTime;
use crate::phrase::syntax::{
    ClockPhrase, DayPart, DayPhrase, Determiner, MonthPhrase, PeriodPhrase, WithWords,
};

/// One end of a range, or all of a phrase without one.
#[derive(Debug, Default, Clone)]
pub(crate) struct TimeExpression {
    pub(crate) day: Option<WithWords<DayPhrase>>,
    /// The weekday that was said beside a date.
    pub(crate) check: Option<WithWords<Weekday>>,
    pub(crate) clock: Option<WithWords<ClockPhrase>>,
    pub(crate) part: Option<WithWords<DayPart>>,
    pub(crate) zone: Option<WithWords<ZonePhrase>>,
    pub(crate) moment: Option<WithWords<MomentPhrase>>,
    /// A number of which it is not known yet what it is.
    pub(crate) bare: Option<WithWords<u32>>,
    pub(crate) all_day: Option<String>,
    /// Whether the day was said before the time of day.
    pub(crate) is_day_first: bool,
}

/// On which clock a time is.
#[derive(Debug, Clone)]
pub(crate) enum ZonePhrase {
    Zone(TimeZone),
    Offset(Offset),
    /// The offset tells which of two equal times in the zone it is.
    Both(TimeZone, Offset),
}

/// A point of time that needs no day and no time of day.
#[derive(Debug, Clone)]
pub(crate) enum MomentPhrase {
    FromNow(Span),
    Instant(Timestamp),
    Zoned(Zoned),
}

impl TimeExpression {
    /// Whether anything of a time of day is said.
    pub(crate) fn has_clock(&self) -> bool {
        self.clock.is_some() || self.part.is_some() || self.moment.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.has_clock() && self.day.is_none() && self.bare.is_none()
    }

    /// Takes the words of one place, if they stand here.
    pub(crate) fn fill(
        &mut self,
        cursor: &mut PhraseCursor<'_>,
        is_at: bool,
    ) -> Result<bool, TimeParseError> {
        let start = cursor.at;
        if self.fill_whole_word(cursor)? {
            return Ok(true);
        }
        if cursor.eat_all(&["right", "now"]) || cursor.eat("now") {
            let what = MomentPhrase::FromNow(Span::new());
            let found = WithWords { what, said: cursor.said(start) };
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
            return Err(TimeParseError::new(
                TimeParseProblem::Ambiguous,
                &cursor.said(start),
                why,
                cure,
            ));
        }
        cursor.at = start;
        if self.fill_part(cursor)? {
            return Ok(true);
        }
        let is_hour = is_at && cursor.token().is_some_and(|token| !token.text.is_empty());
        if is_hour && let Some(found) = clock(cursor, BareNumber::Unknown)? {
            return self.set_clock(found).map(|()| true);
        }
        if let Some(WithWords { what, said }) = place(cursor)? {
            match what {
                DayOrOffset::FromNow(span) => {
                    let found = WithWords { what: MomentPhrase::FromNow(span), said };
                    set(&mut self.moment, found, "says another time")?;
                }
                DayOrOffset::Day(what) => self.set_day(WithWords { what, said })?,
            }
            return Ok(true);
        }
        let bare = if is_at { BareNumber::Hour } else { BareNumber::Unknown };
        if let Some(found) = clock(cursor, bare)? {
            return self.set_clock(found).map(|()| true);
        }
        self.fill_number(cursor)
    }

    /// A part of the day, which `this`, `last` and `tonight` also put on a day.
    fn fill_part(&mut self, cursor: &mut PhraseCursor<'_>) -> Result<bool, TimeParseError> {
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
            let what = DayPhrase::FromToday(days);
            self.set_day(WithWords { what, said: cursor.part(start, cursor.at + 1) })?;
        }
        let Some(found) = part(cursor) else { return Ok(false) };
        if found.said.eq_ignore_ascii_case("tonight") && self.day.is_none() {
            self.day = Some(WithWords { what: DayPhrase::FromToday(0), said: found.said.clone() });
        }
        set(&mut self.part, found, "says another part of the day")?;
        Ok(true)
    }

    /// A number alone; with a unit after it, it is a duration.
    fn fill_number(&mut self, cursor: &mut PhraseCursor<'_>) -> Result<bool, TimeParseError> {
        let start = cursor.at;
        if amount(cursor)?.is_some() {
            let said = cursor.said(start);
            let cure = format!("say `in {said}`, `{said} ago` or `for {said}` after a time");
            let why = "is a duration and no time";
            return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &said, why, &cure));
        }
        cursor.at = start;
        let Some(what @ 0..=31) = cursor.number() else {
            cursor.at = start;
            return Ok(false);
        };
        let found = WithWords { what, said: cursor.said(start) };
        set(&mut self.bare, found, "is one number too many")?;
        Ok(true)
    }

    fn set_clock(&mut self, found: WithWords<ClockPhrase>) -> Result<(), TimeParseError> {
        set(&mut self.clock, found, "says another time of day")
    }

    /// A word that is a time or a zone by itself.
    fn fill_whole_word(&mut self, cursor: &mut PhraseCursor<'_>) -> Result<bool, TimeParseError> {
        let Some(PhraseToken { kind, .. }) = cursor.token() else { return Ok(false) };
        let start = cursor.at;
        let mut ahead = *cursor;
        ahead.at += 1;
        let said = ahead.said(start);
        match kind {
            PhraseTokenKind::Iso(IsoTime::Instant(instant)) => {
                let found = WithWords { what: MomentPhrase::Instant(*instant), said };
                set(&mut self.moment, found, "says another time")?;
            }
            PhraseTokenKind::Iso(IsoTime::Moment(zoned)) => {
                let found = WithWords { what: MomentPhrase::Zoned(zoned.clone()), said };
                set(&mut self.moment, found, "says another time")?;
            }
            PhraseTokenKind::Iso(IsoTime::Local(local)) => self.set_local(*local, &said)?,
            PhraseTokenKind::Iso(IsoTime::LocalIn(local, zone)) => {
                self.set_local(*local, &said)?;
                let found = WithWords { what: ZonePhrase::Zone(zone.clone()), said };
                set(&mut self.zone, found, "says another zone")?;
            }
            PhraseTokenKind::Zone(zone) => {
                let what = match self.zone.take() {
                    Some(WithWords { what: ZonePhrase::Offset(offset), .. }) => {
                        ZonePhrase::Both(zone.clone(), offset)
                    }
                    other => {
                        self.zone = other;
                        ZonePhrase::Zone(zone.clone())
                    }
                };
                set(&mut self.zone, WithWords { what, said }, "says another zone")?;
            }
            PhraseTokenKind::Offset(offset) => {
                let found = WithWords { what: ZonePhrase::Offset(*offset), said };
                set(&mut self.zone, found, "says another zone")?;
            }
            PhraseTokenKind::Iso(IsoTime::Day(_) | IsoTime::Days(..))
            | PhraseTokenKind::Number
            | PhraseTokenKind::Word
            | PhraseTokenKind::Length(_) => {
                return Ok(false);
            }
        }
        *cursor = ahead;
        Ok(true)
    }

    fn set_local(&mut self, local: DateTime, said: &str) -> Result<(), TimeParseError> {
        self.set_day(WithWords { what: DayPhrase::Exact(local.date()), said: said.to_owned() })?;
        self.set_clock(WithWords { what: ClockPhrase::Exact(local.time()), said: said.to_owned() })
    }

    /// A day beside another is a check of it, or says of which week or month it is.
    fn set_day(&mut self, found: WithWords<DayPhrase>) -> Result<(), TimeParseError> {
        let Some(before) = self.day.take() else {
            self.is_day_first = !self.has_clock() && self.bare.is_none();
            self.day = Some(found);
            return Ok(());
        };
        let said = format!("{} {}", before.said, found.said);
        let weekday = |day: &DayPhrase| {
            if let DayPhrase::Weekday(Determiner::Plain, weekday) = day {
                Some(*weekday)
            } else {
                None
            }
        };
        let merged = match (&before.what, &found.what) {
            (DayPhrase::Weekday(Determiner::Plain, weekday), other)
            | (other, DayPhrase::Weekday(Determiner::Plain, weekday))
                if weeks(other).is_some() =>
            {
                Some(DayPhrase::InWeek(*weekday, weeks(other).unwrap_or(0)))
            }
            (
                DayPhrase::OfMonth { day, month: MonthPhrase::Plain, .. },
                DayPhrase::Period(PeriodPhrase::Month(months)),
            )
            | (
                DayPhrase::Period(PeriodPhrase::Month(months)),
                DayPhrase::OfMonth { day, month: MonthPhrase::Plain, .. },
            ) => Some(DayPhrase::OfMonth {
                day: *day,
                month: MonthPhrase::FromNow(*months),
                year: None,
            }),
            _ => None,
        };
        if let Some(what) = merged {
            self.day = Some(WithWords { what, said });
            return Ok(());
        }
        let is_date = |day: &DayPhrase| {
            matches!(day, DayPhrase::Exact(_) | DayPhrase::OfMonth { .. } | DayPhrase::FromToday(_))
        };
        let (day, check) = match (weekday(&before.what), weekday(&found.what)) {
            (Some(weekday), None) if is_date(&found.what) => {
                (found, WithWords { what: weekday, said: before.said })
            }
            (None, Some(weekday)) if is_date(&before.what) => {
                (before, WithWords { what: weekday, said: found.said })
            }
            _ => {
                let cure = "say one day, or a range such as `Mon-Wed`";
                return Err(TimeParseError::new(
                    TimeParseProblem::Conflict,
                    &said,
                    "says two days",
                    cure,
                ));
            }
        };
        self.day = Some(day);
        set(&mut self.check, check, "says two weekdays")
    }
}

/// How many weeks from this one a phrase beside a weekday says.
fn weeks(day: &DayPhrase) -> Option<i64> {
    if let DayPhrase::Period(PeriodPhrase::Week(weeks)) = day {
        return Some(*weeks);
    }
    let DayPhrase::Shifted { from, span, is_back } = day else { return None };
    let weeks = i64::from(span.get_weeks());
    let only_weeks = Span::new().try_weeks(weeks).ok()?;
    let is_weeks = span.fieldwise() == only_weeks.fieldwise();
    let is_from_today = matches!(from.what, DayPhrase::FromToday(0));
    (is_weeks && is_from_today).then_some(if *is_back { -weeks } else { weeks })
}

/// Fills a place that must be empty.
pub(crate) fn set<T>(
    place: &mut Option<WithWords<T>>,
    found: WithWords<T>,
    why: &str,
) -> Result<(), TimeParseError> {
    if place.is_some() {
        let cure = "say one of them";
        return Err(TimeParseError::new(TimeParseProblem::Conflict, &found.said, why, cure));
    }
    *place = Some(found);
    Ok(())
}
