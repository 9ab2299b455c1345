//! Nights, whose small hours are on the day after the one that names them: `tonight at 2am`,
//! `Friday night at 1`, `every Friday night at half past midnight`.

use jiff::Zoned;
use jiff::civil::{Date, Weekday};

use super::calendar::plus_days;
use super::clock_time::{ClockTime, DAWN};
use super::day::DayResolver;
use super::hour::said_clock;
use crate::error::{TimeParseError, TimeParseProblem};
use crate::phrase::parse::time_expression::TimeExpression;
use crate::phrase::syntax::{ClockPhrase, DayPart, DayPhrase, WithWords};
use crate::recurrence::{Frequency, Recurrence};
use crate::{PhraseNote, PhraseTime};

/// A start without a part of the day is of the night in which the end is: `from 1 to 3 tonight`,
/// `8 to midnight tonight`.
pub(crate) fn share_night(left: &mut TimeExpression, right: &TimeExpression) {
    let Some(part) = right.part.as_ref().filter(|part| part.what == DayPart::Night) else { return };
    if left.part.is_some() {
        return;
    }
    let is_shared = match left.clock.as_ref().map(|clock| clock.what) {
        Some(ClockPhrase::Exact(time) | ClockPhrase::Twelve(time)) => time.hour() < DAWN,
        Some(ClockPhrase::Bare { .. }) => true,
        Some(ClockPhrase::Midnight | ClockPhrase::DayEnd) | None => false,
    };
    if is_shared {
        left.part = Some(part.clone());
    }
}

impl DayResolver<'_> {
    /// The small hours of today, where today's night is said in them and they are still to come.
    pub(crate) fn this_night(
        &mut self,
        side: &TimeExpression,
        date: Date,
        hour: ClockTime,
    ) -> Result<Option<Zoned>, TimeParseError> {
        let is_today = matches!(side.day, Some(WithWords { what: DayPhrase::FromToday(0), .. }));
        if !is_today || !hour.is_of_night() || self.frame.now.hour() >= DAWN {
            return Ok(None);
        }
        let mark = self.notes.len();
        let moment = self.moment(date, hour.without_night(), side.zone.as_ref())?;
        if moment < self.frame.now {
            self.notes.truncate(mark);
            return Ok(None);
        }
        let said = said_clock(side);
        let other = Some(plus_days(date, 1, &said)?);
        self.notes.push(PhraseNote::Taken { said, taken: date, other });
        Ok(Some(moment))
    }
}

/// What recurs, with the time of day of its every time.
#[derive(Debug, Clone)]
pub(crate) struct NightRecurrence {
    pub(crate) rule: Recurrence,
    pub(crate) hour: ClockTime,
    /// Whether every time is on the day after the one that is said.
    pub(crate) is_after: bool,
}

/// Every midnight is one, whichever day it belongs to, but that of a weekday may be two; the small
/// hours of a weekday's night are those of the next weekday.
pub(crate) fn nights(
    mut rule: Recurrence,
    hour: ClockTime,
    part: Option<&WithWords<DayPart>>,
    said: &str,
) -> Result<NightRecurrence, TimeParseError> {
    let is_night = part.is_some_and(|part| part.what == DayPart::Night);
    let is_daily = rule.frequency() == Frequency::Daily && rule.is_bare();
    if !hour.is_end || (is_daily && !is_night) {
        return Ok(NightRecurrence { rule, hour: ClockTime::at(hour.time), is_after: false });
    }
    if !is_night {
        let said = format!("{said} at midnight");
        let why = "may be the start of the day or its end";
        let cure = "say the time, such as `every Friday at 00:00` or `every Friday at 23:59`";
        return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &said, why, cure));
    }
    let before_week = rule.week_starts.previous();
    let ends_week = |weekday: Weekday| weekday == before_week;
    // The night of the last day of a week is of the next week, which may not be one of the rule.
    let is_torn = rule.interval() > 1
        && rule.days.len() > 1
        && rule.days.iter().any(|day| ends_week(day.weekday));
    if !is_daily && (rule.frequency() != Frequency::Weekly || is_torn) {
        let clock = crate::wording::clock_words(hour.time);
        let said = format!("{said} at {clock} at night");
        let why = "is on the days after those that are said";
        let cure = "say the days on which it is, such as `every Saturday at 01:00`";
        return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &said, why, cure));
    }
    for day in &mut rule.days {
        day.weekday = day.weekday.next();
    }
    rule.days.sort_by_key(|day| (day.nth, day.weekday.to_monday_zero_offset()));
    Ok(NightRecurrence { rule, hour: ClockTime::at(hour.time), is_after: true })
}

/// Tells on which day the small hours of a night are.
pub(super) fn tell_night(days: &mut DayResolver<'_>, first: &PhraseTime, left: &TimeExpression) {
    let PhraseTime::Moment(moment) = first else { return };
    if let Ok(night) = moment.date().yesterday() {
        let said = said_clock(left);
        days.notes.push(PhraseNote::NightAfter { said, night, taken: moment.date() });
    }
}
