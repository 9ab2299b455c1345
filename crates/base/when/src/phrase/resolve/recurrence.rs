//! Recurrences against a clock: the rule, and the first time.

use jiff::civil::{Date, Time, Weekday};
use jiff::{Span, Zoned};

use super::calendar::{beyond, plus_days};
use super::clock_time::ClockTime;
use super::day::DayResolver;
use super::hour::settle_number;
use super::night::{nights, share_night, tell_night};
use super::point::{checked, from_to, one_day};
use super::range::share_halves;
use super::refusal::{backwards, not_all_day, one_moment, two_ends};
use crate::error::{REPEATS, TimeParseError, TimeParseProblem};
use crate::iso::zone_of_day;
use crate::phrase::parse::amount::is_of_clock;
use crate::phrase::parse::recurrence::RepeatPhrase;
use crate::phrase::parse::sentence::Sentence;
use crate::phrase::parse::time_expression::TimeExpression;
use crate::phrase::syntax::{DayPhrase, WithWords};
use crate::recurrence::wording::ordinal;
use crate::recurrence::{Frequency, Recurrence, RecurrenceEnd, RecurrenceUntil, RecurrenceWeekday};
use crate::{PhraseNote, PhraseTime};

/// What recurs, from its first time on.
pub(crate) fn recurring(
    days: &mut DayResolver<'_>,
    sentence: Sentence,
) -> Result<PhraseTime, TimeParseError> {
    let Sentence { mut left, right, length, repeat, until, starting, times, .. } = sentence;
    let Some(WithWords { what: repeat, said }) = repeat else {
        let why = "does not say how often";
        return Err(TimeParseError::new(TimeParseProblem::Unknown, "", why, REPEATS));
    };
    let mut right = right.unwrap_or_default();
    let mut until = of_days(until, &left)?;
    let mut starting = of_days(starting, &left)?;
    if let Some(day) = &right.day {
        return Err(two_ends(&day.said));
    }
    // `every Monday until 24 Dec at 9`: the time is that of every one.
    for side in [&mut starting, &mut until] {
        if !left.has_clock() {
            left.clock = side.clock.take();
            left.part = side.part.take();
        }
        if left.zone.is_none() {
            left.zone = side.zone.take();
        }
    }
    let day = left.day.take();
    // A number beside a recurrence is its hour, as one beside a day is.
    left.day = Some(WithWords { what: DayPhrase::FromToday(0), said: said.clone() });
    let halves = settle_hours(&mut left, &mut right)?;
    left.day = day;
    if let Some(moment) = &left.moment {
        return Err(one_moment(&moment.said));
    }
    if let Some(all_day) = left.all_day.as_ref().filter(|_| left.has_clock()) {
        return Err(not_all_day(all_day));
    }
    let (start, end) = hours(days, &left, &right)?;
    let rule = base_rule(days, &repeat, start.is_some());
    let night = start.map(|start| nights(rule.clone(), start, left.part.as_ref(), &said));
    let night = night.transpose()?;
    let is_after = night.as_ref().is_some_and(|night| night.is_after);
    let start = night.as_ref().map(|night| night.hour);
    let rule = night.map_or(rule, |night| night.rule);
    if start.is_none()
        && let Some(zone) = &left.zone
    {
        return Err(zone_of_day(&zone.said));
    }
    let mut seed = seed(days, &left, &starting, &repeat, &said)?;
    if is_after && seed.is_said {
        seed.day = plus_days(seed.day, 1, &said)?;
    }
    let first = first(days, &rule, seed, (start, &left), &said)?;
    days.notes.extend(halves);
    tell_first(days, &rule, &first, seed, &said);
    if is_after && (seed.is_said || !rule.is_bare()) {
        tell_night(days, &first, &left);
    }
    let first = with_end(days, first, end, &left, &repeat)?;
    let (first, length) = with_length(first, length)?;
    let rule = ended(days, rule, &first, EndPhrase { length, times, until, is_after }, &said)?;
    skips(days, &rule, &first);
    Ok(PhraseTime::Recurring { first: Box::new(first), rule })
}

/// A side that says a day, and at most the time of day that the recurrence lacks.
fn of_days(
    side: Option<TimeExpression>,
    left: &TimeExpression,
) -> Result<TimeExpression, TimeParseError> {
    let Some(side) = side else { return Ok(TimeExpression::default()) };
    let clock = side.clock.as_ref().map(|clock| &clock.said);
    let part = side.part.as_ref().map(|part| &part.said);
    let number = side.bare.as_ref().map(|number| &number.said);
    let moment = side.moment.as_ref().map(|moment| &moment.said);
    let whole = side.day.as_ref().map(|day| &day.said).filter(|day| Some(*day) == clock);
    let second = clock.or(part).filter(|_| left.has_clock());
    let no_day = clock.or(part).filter(|_| side.day.is_none());
    if let Some(said) = number.or(moment).or(whole).or(second).or(no_day) {
        let why = "stands where a day is read";
        let cure = "say it like `every Monday at 9 starting 7 Dec until 24 Dec`";
        return Err(TimeParseError::new(TimeParseProblem::Conflict, said, why, cure));
    }
    if side.day.is_none() {
        let cure = "say it like `every Monday at 9 starting 7 Dec until 24 Dec`";
        return Err(TimeParseError::new(
            TimeParseProblem::Unknown,
            "until",
            "is followed by no day",
            cure,
        ));
    }
    Ok(side)
}

/// Numbers become hours, and both ends of a range lend each other what they lack.
fn settle_hours(
    left: &mut TimeExpression,
    right: &mut TimeExpression,
) -> Result<Vec<PhraseNote>, TimeParseError> {
    settle_number(left)?;
    if right.is_empty() {
        return Ok(Vec::new());
    }
    if left.zone.is_none() {
        left.zone = right.zone.take();
    }
    if right.bare.is_some() {
        right.day = Some(WithWords { what: DayPhrase::FromToday(0), said: String::new() });
        settle_number(right)?;
        right.day = None;
    }
    let notes = share_halves(left, right);
    share_night(left, right);
    Ok(notes)
}

fn base_rule(days: &DayResolver<'_>, repeat: &RepeatPhrase, has_clock: bool) -> Recurrence {
    let mut rule = Recurrence::every(repeat.interval, repeat.frequency, days.frame.week_starts);
    rule.days.clone_from(&repeat.days);
    if repeat.is_weekend {
        // Its two days are of one week, wherever weeks start.
        rule.week_starts = Weekday::Monday;
        if has_clock || !repeat.is_whole_weekend() {
            rule.days.push(RecurrenceWeekday { nth: 0, weekday: Weekday::Sunday });
        }
    }
    rule.month_days.clone_from(&repeat.month_days);
    rule.months.clone_from(&repeat.months);
    rule.positions.clone_from(&repeat.positions);
    rule.days.sort_by_key(|day| (day.nth, day.weekday.to_monday_zero_offset()));
    rule.days.dedup();
    rule.month_days.sort_unstable();
    rule.month_days.dedup();
    rule
}

fn hours(
    days: &mut DayResolver<'_>,
    left: &TimeExpression,
    right: &TimeExpression,
) -> Result<(Option<ClockTime>, Option<ClockTime>), TimeParseError> {
    let start = days.hour(left)?;
    // The small hours of an end are those after the start.
    let end = days.hour(right)?.map(ClockTime::without_night);
    if let (None, Some(_)) | (Some(_), None) = (start, end)
        && !right.is_empty()
    {
        let why = "has no start and end as times of day";
        let said = right.clock.as_ref().map_or("", |clock| &clock.said);
        let cure = "say it like `every Monday from 9 to 10`";
        return Err(TimeParseError::new(TimeParseProblem::Conflict, said, why, cure));
    }
    Ok((start, end))
}

/// From which day on it recurs, and whether that was said.
#[derive(Debug, Clone, Copy)]
struct RecurrenceStart {
    day: Date,
    is_said: bool,
}

fn seed(
    days: &mut DayResolver<'_>,
    left: &TimeExpression,
    starting: &TimeExpression,
    repeat: &RepeatPhrase,
    said: &str,
) -> Result<RecurrenceStart, TimeParseError> {
    let side = if starting.day.is_some() { starting } else { left };
    let Some(day) = &side.day else {
        let day = if left.zone.is_some() { days.today_of(left) } else { days.today };
        return Ok(RecurrenceStart { day, is_said: false });
    };
    if starting.day.is_some() && left.day.is_some() {
        let why = "says two starts";
        return Err(TimeParseError::new(
            TimeParseProblem::Conflict,
            &day.said,
            why,
            "say one of them",
        ));
    }
    if matches!(day.what, DayPhrase::Nth { .. }) && repeat.is_bare() {
        let both = format!("{} {said}", day.said);
        let cure = "say it like `first Monday of every month` or `every 3 May`";
        return Err(TimeParseError::new(
            TimeParseProblem::Ambiguous,
            &both,
            "may recur by day or by place",
            cure,
        ));
    }
    // Where a period is said, it starts with it.
    let (first, last) = days.days(day, None)?;
    if first == last {
        checked(side, first)?;
    } else if starting.day.is_none() {
        let why = "is more than one day for what recurs";
        let cure = "say it like `every Tuesday from 1 March until 31 March`";
        return Err(TimeParseError::new(TimeParseProblem::Ambiguous, &day.said, why, cure));
    }
    Ok(RecurrenceStart { day: first, is_said: true })
}

/// The first time from the seed on that is still to come, unless the start was said.
fn first(
    days: &mut DayResolver<'_>,
    rule: &Recurrence,
    seed: RecurrenceStart,
    (hour, left): (Option<ClockTime>, &TimeExpression),
    said: &str,
) -> Result<PhraseTime, TimeParseError> {
    let mut steps = rule.clone();
    steps.interval = 1;
    for day in steps.dates(seed.day).take(3) {
        let Some(hour) = hour else { return Ok(PhraseTime::Day(day)) };
        let mark = days.notes.len();
        let moment = days.moment(day, hour, left.zone.as_ref())?;
        // A first time that the clock never shows would put all others on another time.
        let is_gap =
            days.notes.iter().skip(mark).any(|note| matches!(note, PhraseNote::Gap { .. }));
        if is_gap {
            days.notes.truncate(mark);
            let (clock, day) =
                (crate::wording::clock_words(hour.time), crate::wording::day_words(day));
            days.notes.push(PhraseNote::Skips { said: format!("{clock} on {day}") });
            continue;
        }
        if seed.is_said || moment >= days.frame.now {
            return Ok(PhraseTime::Moment(moment));
        }
        days.notes.truncate(mark);
    }
    Err(beyond(said))
}

/// Tells on which day it starts where the words leave that open.
fn tell_first(
    days: &mut DayResolver<'_>,
    rule: &Recurrence,
    first: &PhraseTime,
    seed: RecurrenceStart,
    said: &str,
) {
    let is_open = rule.interval() > 1 || (rule.is_bare() && rule.frequency() != Frequency::Daily);
    let taken = match first {
        PhraseTime::Moment(moment) | PhraseTime::Stretch { start: moment, .. } => moment.date(),
        PhraseTime::Day(day) | PhraseTime::Days { first: day, .. } => *day,
        PhraseTime::Recurring { .. } => return,
    };
    if is_open && !seed.is_said {
        days.notes.push(PhraseNote::Taken { said: said.to_owned(), taken, other: None });
    }
}

/// A stretch where an end of the day was said, and both days of a weekend.
fn with_end(
    days: &mut DayResolver<'_>,
    first: PhraseTime,
    end: Option<ClockTime>,
    left: &TimeExpression,
    repeat: &RepeatPhrase,
) -> Result<PhraseTime, TimeParseError> {
    match (first, end) {
        (PhraseTime::Moment(start), Some(hour)) => {
            let end = days.moment(start.date(), hour, left.zone.as_ref())?;
            let end = if end <= start && start.hour() >= 18 && hour.time.hour() < 12 {
                let next = plus_days(start.date(), 1, "the end")?;
                days.notes.push(PhraseNote::Overnight { end: next });
                days.moment(next, hour, left.zone.as_ref())?
            } else {
                end
            };
            if end <= start {
                let said =
                    |moment: &Zoned| crate::say(&PhraseTime::Moment(moment.clone()), days.frame);
                let clock = left.clock.as_ref().map_or("", |clock| &clock.said);
                return Err(backwards(clock, &said(&start), &said(&end)));
            }
            Ok(PhraseTime::Stretch { start, end })
        }
        (PhraseTime::Day(day), None) if repeat.is_whole_weekend() => {
            Ok(from_to(day, plus_days(day, 1, "weekend")?))
        }
        (first, _) => Ok(first),
    }
}

/// `every Monday at 9 for 1 hour`: each of them takes it; days are left for how long it recurs.
fn with_length(
    first: PhraseTime,
    length: Option<WithWords<Span>>,
) -> Result<(PhraseTime, Option<WithWords<Span>>), TimeParseError> {
    match (first, length) {
        (PhraseTime::Moment(start), Some(length)) if is_of_clock(&length.what) => {
            let end = start.checked_add(length.what).map_err(|_| beyond(&length.said))?;
            if end <= start {
                let why = "is no time at all";
                return Err(TimeParseError::new(
                    TimeParseProblem::OutOfRange,
                    &length.said,
                    why,
                    REPEATS,
                ));
            }
            Ok((PhraseTime::Stretch { start, end }, None))
        }
        other => Ok(other),
    }
}

/// What was said of the end.
struct EndPhrase {
    length: Option<WithWords<Span>>,
    times: Option<WithWords<u32>>,
    until: TimeExpression,
    /// Whether each time is on the day after the one that is said, and so the last.
    is_after: bool,
}

fn ended(
    days: &mut DayResolver<'_>,
    rule: Recurrence,
    first: &PhraseTime,
    ends: EndPhrase,
    said: &str,
) -> Result<Recurrence, TimeParseError> {
    let EndPhrase { length, times, until, is_after } = ends;
    let count = [length.is_some(), times.is_some(), until.day.is_some()];
    if count.iter().filter(|is_said| **is_said).count() > 1 {
        return Err(TimeParseError::new(
            TimeParseProblem::Conflict,
            said,
            "ends in two ways",
            "say one end",
        ));
    }
    let (start, zone) = match first {
        PhraseTime::Moment(moment) | PhraseTime::Stretch { start: moment, .. } => {
            (moment.date(), Some(moment.time_zone().clone()))
        }
        PhraseTime::Day(day) | PhraseTime::Days { first: day, .. } => (*day, None),
        PhraseTime::Recurring { .. } => return Ok(rule),
    };
    if let Some(WithWords { what, said }) = times {
        if what == 0 {
            return Err(TimeParseError::new(
                TimeParseProblem::OutOfRange,
                &said,
                "is never",
                REPEATS,
            ));
        }
        return Ok(rule.ending(RecurrenceEnd::Count(what)));
    }
    let last = if let Some(WithWords { what, said }) = length {
        if is_of_clock(&what) || !what.is_positive() {
            let why = "is no length in days or more";
            return Err(TimeParseError::new(TimeParseProblem::Conflict, &said, why, REPEATS));
        }
        let end = start.checked_add(what).map_err(|_| beyond(&said))?;
        plus_days(end, -1, &said)?
    } else if let Some(day) = &until.day {
        let last = one_day(days, day, Some(start))?;
        checked(&until, last)?;
        plus_days(last, i64::from(is_after), said)?
    } else {
        return Ok(rule);
    };
    if last < start {
        let words = crate::wording::day_words;
        return Err(backwards(said, &words(start), &words(last)));
    }
    // A rule over moments ends with an instant: the last second of that day there.
    let until = match zone {
        None => RecurrenceUntil::Day(last),
        Some(zone) => {
            let end = last.to_datetime(Time::constant(23, 59, 59, 0));
            let instant = zone.to_timestamp(end).map_err(|_| beyond(said))?;
            RecurrenceUntil::Instant(instant)
        }
    };
    Ok(rule.ending(RecurrenceEnd::Until(until)))
}

/// Tells of days that not every month or year has.
fn skips(days: &mut DayResolver<'_>, rule: &Recurrence, first: &PhraseTime) {
    let start = match first {
        PhraseTime::Moment(moment) | PhraseTime::Stretch { start: moment, .. } => moment.date(),
        PhraseTime::Day(day) | PhraseTime::Days { first: day, .. } => *day,
        PhraseTime::Recurring { .. } => return,
    };
    let (of_month, month) = match rule.frequency() {
        Frequency::Monthly if rule.is_bare() => (vec![start.day()], 0),
        Frequency::Monthly => (rule.month_days.clone(), 0),
        Frequency::Yearly => (vec![start.day()], start.month()),
        Frequency::Daily | Frequency::Weekly => return,
    };
    for day in of_month {
        let is_missing = if month == 0 { day > 28 } else { (day, month) == (29, 2) };
        if is_missing {
            let said = format!("{} day", ordinal(i64::from(day)));
            let said = if month == 2 { "29th of February".to_owned() } else { said };
            days.notes.push(PhraseNote::Skips { said });
        }
    }
}
