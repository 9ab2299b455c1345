//! One side of a phrase alone: a moment, or whole days.

use jiff::Zoned;
use jiff::civil::Date;

use super::calendar::plus_days;
use super::clock_time::ClockTime;
use super::day::DayResolver;
use super::hour::{said_clock, settle_number};
use super::refusal::not_all_day;
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::iso::zone_of_day;
use crate::phrase::parse::time_expression::TimeExpression;
use crate::phrase::syntax::{DayPhrase, Determiner, WithWords};
use crate::{PhraseNote, PhraseTime};

pub(crate) fn point(
    days: &mut DayResolver<'_>,
    mut side: TimeExpression,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    settle_number(&mut side)?;
    if let Some(moment) = days.own_moment(&side)? {
        return Ok(PhraseTime::Moment(moment));
    }
    let Some(hour) = days.hour(&side)? else { return whole_days(days, &side, text) };
    if let Some(said) = &side.all_day {
        return Err(not_all_day(said));
    }
    start(days, &side, hour).map(PhraseTime::Moment)
}

/// Whole days, which have no zone.
pub(crate) fn whole_days(
    days: &mut DayResolver<'_>,
    side: &TimeExpression,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    if let Some(zone) = &side.zone {
        return Err(zone_of_day(&zone.said));
    }
    let Some(day) = &side.day else {
        if side.all_day.is_some() {
            return Ok(PhraseTime::Day(days.today));
        }
        return Err(TimeParseError::new(
            TimeParseProblem::Unknown,
            text.trim(),
            "says no time",
            TIMES,
        ));
    };
    let (first, last) = days.days(day, None)?;
    checked(side, first)?;
    Ok(from_to(first, last))
}

pub(crate) fn from_to(first: Date, last: Date) -> PhraseTime {
    if first == last { PhraseTime::Day(first) } else { PhraseTime::Days { first, last } }
}

/// Whether the weekday that was said is the day's.
pub(crate) fn checked(side: &TimeExpression, day: Date) -> Result<(), TimeParseError> {
    let Some(check) = side.check.as_ref().filter(|check| check.what != day.weekday()) else {
        return Ok(());
    };
    let why = format!("is not the weekday of {}", crate::wording::day_words(day));
    let cure = "leave out the weekday or correct the date";
    Err(TimeParseError::new(TimeParseProblem::Conflict, &check.said, &why, cure))
}

/// The one day of a side.
pub(crate) fn one_day(
    days: &mut DayResolver<'_>,
    day: &WithWords<DayPhrase>,
    after: Option<Date>,
) -> Result<Date, TimeParseError> {
    let (first, last) = days.days(day, after)?;
    if first != last {
        let why = "is more than one day";
        let cure = "say which day, such as `Monday next week at 9`";
        return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &day.said, why, cure));
    }
    Ok(first)
}

/// The moment of a side with a time of day; without a day, the next one that is to come.
fn start(
    days: &mut DayResolver<'_>,
    side: &TimeExpression,
    hour: ClockTime,
) -> Result<Zoned, TimeParseError> {
    let today = days.today_of(side);
    let zone = side.zone.as_ref();
    let mark = days.notes.len();
    let Some(day) = &side.day else {
        let hour = hour.without_night();
        let moment = days.moment(today, hour, zone)?;
        if moment >= days.frame.now {
            ends(days, side, hour, today);
            return Ok(moment);
        }
        days.notes.truncate(mark);
        let taken = plus_days(today, 1, "tomorrow")?;
        let moment = days.moment(taken, hour, zone)?;
        let said = said_clock(side);
        days.notes.push(PhraseNote::RolledOver { said, taken });
        return Ok(moment);
    };
    let date = one_day(days, day, None)?;
    checked(side, date)?;
    if let Some(moment) = days.this_night(side, date, hour)? {
        return Ok(moment);
    }
    let moment = days.moment(date, hour, zone)?;
    let is_weekday =
        matches!(day.what, DayPhrase::Weekday(Determiner::Plain | Determiner::This, _));
    if is_weekday && date == days.today && moment < days.frame.now {
        days.notes.truncate(mark);
        let taken = plus_days(date, 7, &day.said)?;
        let moment = days.moment(taken, hour, zone)?;
        let said = format!("{} {}", day.said, said_clock(side));
        days.notes.push(PhraseNote::RolledOver { said, taken });
        return Ok(moment);
    }
    ends(days, side, hour, date);
    Ok(moment)
}

/// Tells that a time ends its day or is of the night after it.
fn ends(days: &mut DayResolver<'_>, side: &TimeExpression, hour: ClockTime, day: Date) {
    if !hour.is_end {
        return;
    }
    if !hour.is_of_night() {
        days.notes.push(PhraseNote::Midnight { ends: day });
    } else if let Ok(taken) = day.tomorrow() {
        days.notes.push(PhraseNote::NightAfter { said: said_clock(side), night: day, taken });
    }
}
