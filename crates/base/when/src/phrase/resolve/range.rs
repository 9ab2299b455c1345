//! Ranges: from one time to another, or for so long.

use jiff::civil::Time;
use jiff::{Span, Zoned};

use super::calendar::{beyond, plus_days};
use super::day::DayResolver;
use super::hour::{hour_of, settle_number};
use super::moment::{WAKING, readings};
use super::night::share_night;
use super::point::{checked, from_to, one_day, point, whole_days};
use super::refusal::{backwards, no_clock, not_all_day};
use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::iso::zone_of_day;
use crate::phrase::parse::amount::is_of_clock;
use crate::phrase::parse::time_expression::TimeExpression;
use crate::phrase::syntax::{ClockPhrase, DayPhrase, Determiner, MonthPhrase, WithWords};
use crate::{PhraseNote, PhraseTime};

/// `tomorrow 2pm for 1 hour`, `tomorrow for 3 days`.
pub(crate) fn lasting(
    days: &mut DayResolver<'_>,
    mut side: TimeExpression,
    length: &WithWords<Span>,
) -> Result<PhraseTime, TimeParseError> {
    settle_number(&mut side)?;
    let is_some_length = length.what.is_positive();
    if side.is_empty() || !is_some_length {
        let why = if is_some_length { "does not say from when" } else { "is no time at all" };
        return Err(TimeParseError::new(TimeParseProblem::Conflict, &length.said, why, TIMES));
    }
    if !side.has_clock() {
        let PhraseTime::Day(first) = whole_days(days, &side, &length.said)? else {
            let why = "is beside several days";
            return Err(TimeParseError::new(TimeParseProblem::Conflict, &length.said, why, TIMES));
        };
        if is_of_clock(&length.what) {
            let said = side.day.map(|day| day.said).unwrap_or_default();
            return Err(no_clock(&said));
        }
        let end = first.checked_add(length.what).map_err(|_| beyond(&length.said))?;
        return Ok(from_to(first, plus_days(end, -1, &length.said)?));
    }
    let PhraseTime::Moment(start) = point(days, side, &length.said)? else {
        return Err(no_clock(&length.said));
    };
    let end = start.checked_add(length.what).map_err(|_| beyond(&length.said))?;
    Ok(PhraseTime::Stretch { start, end })
}

/// From one side to another: what one of them leaves out is taken from the other.
pub(crate) fn range(
    days: &mut DayResolver<'_>,
    mut left: TimeExpression,
    mut right: TimeExpression,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    if left.is_empty() || right.is_empty() {
        let why = if left.is_empty() { "has no start" } else { "has no end" };
        return Err(TimeParseError::new(TimeParseProblem::Conflict, text.trim(), why, TIMES));
    }
    share_zone(&mut left, &mut right);
    share_numbers(&mut left, &mut right)?;
    if !left.has_clock() && !right.has_clock() {
        return day_range(days, &left, &right, text);
    }
    if !left.has_clock() || !right.has_clock() {
        let side = if left.has_clock() { &right } else { &left };
        let said = side.day.as_ref().map_or(text, |day| &day.said);
        return Err(no_clock(said));
    }
    moment_range(days, left, right, text)
}

fn share_zone(left: &mut TimeExpression, right: &mut TimeExpression) {
    match (&left.zone, &right.zone) {
        (None, Some(_)) if left.moment.is_none() => left.zone.clone_from(&right.zone),
        (Some(_), None) if right.moment.is_none() => right.zone.clone_from(&left.zone),
        _ => {}
    }
}

/// What the bare numbers of a range are: days of a month, or hours.
fn share_numbers(
    left: &mut TimeExpression,
    right: &mut TimeExpression,
) -> Result<(), TimeParseError> {
    let of_month = |side: &TimeExpression, number: u32| match &side.day {
        Some(WithWords { what: DayPhrase::OfMonth { month, year, .. }, .. })
            if side.clock.is_none() && side.bare.is_none() =>
        {
            let day = i8::try_from(number).ok().filter(|day| *day > 0)?;
            Some(DayPhrase::OfMonth { day, month: *month, year: *year })
        }
        _ => None,
    };
    if let Some(number) = left.bare.clone() {
        let is_day = left.day.is_none() && right.bare.is_none() && left.part.is_none();
        let is_either = is_day && right.is_day_first && right.clock.is_some();
        if is_either
            && matches!(&right.day, Some(WithWords { what: DayPhrase::OfMonth { .. }, .. }))
        {
            let why = "may be a day or an hour";
            let cure = "say both ends in full, such as `24 Dec 10am to 26 Dec 2pm`";
            return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &number.said, why, cure));
        }
        if is_day && let Some(what) = of_month(right, number.what) {
            left.day = Some(WithWords { what, said: number.said });
        } else if left.clock.is_none() {
            left.clock = Some(hour_of(number)?);
        } else {
            settle_number(left)?;
        }
        left.bare = None;
    }
    if let Some(number) = right.bare.clone() {
        let is_day = right.day.is_none() && right.part.is_none();
        if is_day && let Some(what) = of_month(left, number.what) {
            right.day = Some(WithWords { what, said: number.said });
        } else if right.clock.is_none() {
            right.clock = Some(hour_of(number)?);
        } else {
            settle_number(right)?;
        }
        right.bare = None;
    }
    Ok(())
}

fn day_range(
    days: &mut DayResolver<'_>,
    left: &TimeExpression,
    right: &TimeExpression,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    if let Some(zone) = left.zone.as_ref().or(right.zone.as_ref()) {
        return Err(zone_of_day(&zone.said));
    }
    let (Some(from), Some(to)) = (&left.day, &right.day) else {
        return Err(TimeParseError::new(
            TimeParseProblem::Unknown,
            text.trim(),
            "says no time",
            TIMES,
        ));
    };
    let from = with_week(from, to);
    let (first, _) = days.days(&from, None)?;
    checked(left, first)?;
    let (_, last) = days.days(to, Some(first))?;
    checked(right, last)?;
    if last < first {
        return Err(backwards(
            text,
            &crate::wording::day_words(first),
            &crate::wording::day_words(last),
        ));
    }
    Ok(from_to(first, last))
}

/// A weekday before one of a named week is of that week: `Monday to Friday next week`; a day of a
/// month is of the year of the end.
fn with_week(from: &WithWords<DayPhrase>, to: &WithWords<DayPhrase>) -> WithWords<DayPhrase> {
    let what = match (&from.what, &to.what) {
        (DayPhrase::Weekday(Determiner::Plain, weekday), DayPhrase::InWeek(_, weeks)) => {
            DayPhrase::InWeek(*weekday, *weeks)
        }
        (
            DayPhrase::OfMonth { day, month, year: None },
            DayPhrase::OfMonth { month: to_month, year: Some(year), .. },
        ) => {
            let is_before = match (month, to_month) {
                (MonthPhrase::Named(month), MonthPhrase::Named(to_month)) => month > to_month,
                _ => false,
            };
            DayPhrase::OfMonth {
                day: *day,
                month: *month,
                year: Some(*year - i16::from(is_before)),
            }
        }
        (other, _) => other.clone(),
    };
    WithWords { what, said: from.said.clone() }
}

fn moment_range(
    days: &mut DayResolver<'_>,
    mut left: TimeExpression,
    mut right: TimeExpression,
    text: &str,
) -> Result<PhraseTime, TimeParseError> {
    if let Some(said) = left.all_day.as_ref().or(right.all_day.as_ref()) {
        return Err(not_all_day(said));
    }
    // `2pm to tomorrow 3pm` starts today, `2pm to 3pm tomorrow` does not.
    let is_apart = left.day.is_none() && right.is_day_first;
    let has_one_day = !is_apart && (left.day.is_none() || right.day.is_none());
    if left.day.is_none() && left.moment.is_none() && !is_apart {
        left.day.clone_from(&right.day);
        left.check.clone_from(&right.check);
    }
    if let (Some(from), Some(to)) = (&left.day, &right.day) {
        left.day = Some(with_week(from, to));
    }
    let halves = if has_one_day { share_halves(&mut left, &mut right) } else { Vec::new() };
    if has_one_day {
        share_night(&mut left, &right);
    }
    let start = match point(days, left.clone(), text)? {
        PhraseTime::Moment(moment) => moment,
        PhraseTime::Day(_)
        | PhraseTime::Days { .. }
        | PhraseTime::Stretch { .. }
        | PhraseTime::Recurring { .. } => {
            return Err(no_clock(text.trim()));
        }
    };
    days.notes.extend(halves);
    let end = match days.own_moment(&right)? {
        Some(moment) => moment,
        None => end_of(days, &right, &start, has_one_day, text)?,
    };
    if end <= start {
        let said = |moment: &Zoned| crate::say(&PhraseTime::Moment(moment.clone()), days.frame);
        return Err(backwards(text, &said(&start), &said(&end)));
    }
    Ok(PhraseTime::Stretch { start, end })
}

/// The end of a stretch by its time of day: of its own day, or of the start's, or of the night
/// after it.
fn end_of(
    days: &mut DayResolver<'_>,
    right: &TimeExpression,
    start: &Zoned,
    has_one_day: bool,
    text: &str,
) -> Result<Zoned, TimeParseError> {
    let Some(hour) = days.hour(right)? else { return Err(no_clock(text.trim())) };
    // Beside one day for both ends, the small hours are those after the start.
    let hour = if has_one_day { hour.without_night() } else { hour };
    let zone = right.zone.as_ref();
    let mark = days.notes.len();
    // The start may have rolled over to another day than was said.
    let date = match &right.day {
        Some(day) if !has_one_day => one_day(days, day, Some(start.date()))?,
        Some(_) | None => start.date(),
    };
    checked(right, date)?;
    let end = days.moment(date, hour, zone)?;
    let is_night = start.hour() >= 18 && hour.time.hour() < 12;
    if !has_one_day || end > *start || !is_night {
        return Ok(end);
    }
    days.notes.truncate(mark);
    let next = plus_days(date, 1, text)?;
    days.notes.push(PhraseNote::Overnight { end: next });
    days.moment(next, hour, zone)
}

/// A bare hour beside one that says its half of the day is the nearest to it: `2-3pm`, `11 to
/// 1pm`, `2pm to 3`.
pub(crate) fn share_halves(
    left: &mut TimeExpression,
    right: &mut TimeExpression,
) -> Vec<PhraseNote> {
    let mut notes = Vec::new();
    let (is_left_said, is_right_said) = (by_part(left), by_part(right));
    let time = |side: &TimeExpression| match &side.clock {
        Some(WithWords { what: ClockPhrase::Exact(time) | ClockPhrase::Twelve(time), .. }) => {
            Some(*time)
        }
        _ => None,
    };
    // Beside a time that says its half a number leans on it; `10:00` and `22:00` stand alone.
    let is_half = |side: &TimeExpression| {
        let said = side.clock.as_ref().map_or("", |clock| &clock.said);
        said.trim_end_matches('.').ends_with(['m', 'M'])
    };
    let is_left_half = is_left_said || is_half(left);
    let is_right_half = is_right_said || is_half(right);
    let bare = |side: &TimeExpression, is_leaning: bool| match &side.clock {
        Some(WithWords { what: ClockPhrase::Bare { hour, minute, is_full }, .. })
            if side.part.is_none() && (is_leaning || !is_full || *hour < 7) =>
        {
            Some(readings(*hour, *minute))
        }
        _ => None,
    };
    let set = |side: &mut TimeExpression, time: Time| {
        if let Some(clock) = &mut side.clock {
            clock.what = ClockPhrase::Exact(time);
        }
    };
    if let (Some([early, late]), Some(end), true) =
        (bare(left, is_right_half), time(right), is_right_half)
    {
        // The latest before the end, be it on the evening before.
        set(left, if late < end || early >= end { late } else { early });
    } else if let Some([early, late]) = bare(right, is_left_half) {
        let start = time(left).or_else(|| {
            let [early, late] = bare(left, true)?;
            Some(if WAKING.contains(&early.hour()) { early } else { late })
        });
        if let Some(start) = start {
            // The nearest after the start, be it in the night.
            let is_early = early > start || late <= start;
            let (taken, other) = if is_early { (early, late) } else { (late, early) };
            // With both hours bare, the second is as much a guess as the first.
            if time(left).is_none() {
                let said = right.clock.as_ref().map(|clock| clock.said.clone());
                let said = said.unwrap_or_default();
                notes.push(PhraseNote::Clock { said, taken, other: Some(other) });
            }
            set(right, taken);
        }
    }
    notes
}

/// A bare hour beside a part of the day is without doubt; whether it was one.
fn by_part(side: &mut TimeExpression) -> bool {
    let Some(part) = side.part.as_ref().map(|part| part.what) else { return false };
    let Some(WithWords { what: ClockPhrase::Bare { hour, minute, .. }, .. }) = &side.clock else {
        return false;
    };
    // Twelve at night is the end of a day, and a wrong hour is told later.
    let time = part.hour(*hour).filter(|hour| *hour != 0);
    let Some(time) = time.and_then(|hour| Time::new(hour, *minute, 0, 0).ok()) else {
        return false;
    };
    if let Some(clock) = &mut side.clock {
        clock.what = ClockPhrase::Exact(time);
    }
    true
}
