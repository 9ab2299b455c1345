//! Rules of series: whether they fit their start, what they become when it moves, and where one is
//! parted in two.
//!
//! A rule that does not fall on its start would show one day more than anybody asked for.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use toolcrib_when::{Recurrence, RecurrenceEnd, RecurrenceUntil};

use crate::backend::{BackendError, BackendErrorKind, EventSlot};
use crate::ical::DateOrTime;

fn invalid(message: impl Into<String>) -> BackendError {
    BackendError::new(BackendErrorKind::Invalid, message)
}

/// The rule as it is written beside such a start.
pub(crate) fn fitted(rule: &str, slot: &EventSlot) -> Result<String, BackendError> {
    let rule = Recurrence::beside(rule, clock(slot))
        .map_err(|unread| invalid(format!("the rule cannot be used: {unread}")))?;
    let rule = with_end_of_kind(rule, slot);
    if falls_on_start(&rule, slot) {
        return Ok(rule.to_string());
    }
    let first = match slot {
        EventSlot::Timed { start, .. } => rule.moments(start).next().map(|time| time.date()),
        EventSlot::Days { first, .. } => rule.dates(*first).next(),
    };
    Err(invalid(match first {
        Some(day) => format!(
            "the rule `{rule}` does not fall on the start: start it on {day}, which is its first \
             day, or change the rule"
        ),
        None => format!("the rule `{rule}` never falls on a day after the start: change its end"),
    }))
}

/// What clocks show at the start.
fn clock(slot: &EventSlot) -> Option<Time> {
    match slot {
        EventSlot::Timed { start, .. } => Some(start.time()),
        EventSlot::Days { .. } => None,
    }
}

/// Whether the start is the first of its rule.
fn falls_on_start(rule: &Recurrence, slot: &EventSlot) -> bool {
    match slot {
        EventSlot::Timed { start, .. } => rule.moments(start).next().is_some_and(|it| it == *start),
        EventSlot::Days { first, .. } => rule.dates(*first).next() == Some(*first),
    }
}

/// `UNTIL` is a date where the start is one, and else a time in UTC (RFC 5545, section 3.3.10).
fn with_end_of_kind(rule: Recurrence, slot: &EventSlot) -> Recurrence {
    let RecurrenceEnd::Until(until) = rule.end() else { return rule };
    let until = match slot {
        EventSlot::Days { .. } => RecurrenceUntil::Day(match until {
            RecurrenceUntil::Day(day) => day,
            RecurrenceUntil::Local(time) => time.date(),
            RecurrenceUntil::Instant(time) => TimeZone::UTC.to_datetime(time).date(),
        }),
        EventSlot::Timed { start, .. } => {
            let local = match until {
                RecurrenceUntil::Instant(_) => return rule,
                RecurrenceUntil::Local(time) => time,
                RecurrenceUntil::Day(day) => day.to_datetime(Time::constant(23, 59, 59, 0)),
            };
            let zone = start.time_zone();
            match zone.to_ambiguous_timestamp(local).compatible() {
                Ok(time) => RecurrenceUntil::Instant(time),
                Err(_) => until,
            }
        }
    };
    rule.ending(RecurrenceEnd::Until(until))
}

/// The rule after its start went elsewhere. The days of a week go along; a rule that names days in
/// another way must fall on the new start as it is.
pub(crate) fn moved(
    text: &str,
    before: &EventSlot,
    after: &EventSlot,
) -> Result<String, BackendError> {
    let day = |slot: &EventSlot| match slot {
        EventSlot::Timed { start, .. } => start.date(),
        EventSlot::Days { first, .. } => *first,
    };
    let Ok(rule) = Recurrence::beside(text, clock(before)) else {
        return Err(invalid(format!(
            "the series repeats by `{text}`, which is not understood here: give it another rule"
        )));
    };
    // Others write rules that do not fall on their start; those are not made right here.
    if !falls_on_start(&rule, before) {
        return Ok(text.to_owned());
    }
    // Hours that say what the start says would not go along with it.
    let told = rule.to_string();
    let text = if text.parse::<Recurrence>().is_err() { &told } else { text };
    let cure = "say the rule too that it shall have";
    let days = i64::from((day(after) - day(before)).get_days());
    let moved = shifted(text, days).ok_or_else(|| {
        invalid(format!("it repeats by `{text}`, which names other days: {cure}"))
    })?;
    fitted(&moved, after)
        .map_err(|_| invalid(format!("it repeats by `{text}`, which has no such day: {cure}")))
}

/// The rule so many days later, if it is plain what it becomes. `None` if it names days in another
/// way than by those of the week.
fn shifted(rule: &str, days: i64) -> Option<String> {
    const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    let upper = rule.to_ascii_uppercase();
    let parts: Vec<(&str, &str)> = upper
        .split(';')
        .filter(|part| !part.is_empty())
        .filter_map(|it| it.split_once('='))
        .collect();
    let has = |name: &str| parts.iter().any(|(known, _)| *known == name);
    let names_days = ["BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYMONTH", "BYSETPOS"];
    let is_weekly = parts.contains(&("FREQ", "WEEKLY"));
    if days == 0 || (!has("BYDAY") && !names_days.iter().any(|name| has(name))) {
        return Some(rule.to_owned());
    }
    if !is_weekly || names_days.iter().any(|name| has(name)) {
        return None;
    }
    let shift = |day: &str| {
        let at = i64::try_from(DAYS.iter().position(|known| *known == day)?).ok()?;
        let at = usize::try_from((at + days).rem_euclid(7)).ok()?;
        DAYS.get(at).copied()
    };
    let mut out = Vec::new();
    for (name, value) in parts {
        let value = if name == "BYDAY" {
            value.split(',').map(shift).collect::<Option<Vec<_>>>()?.join(",")
        } else {
            value.to_owned()
        };
        out.push(format!("{name}={value}"));
    }
    Some(out.join(";"))
}

/// A rule up to one of its times, and from there on: the first ends right before it.
pub(crate) fn parted(
    text: &str,
    slot: &EventSlot,
    at: &DateOrTime,
) -> Result<(String, String), BackendError> {
    let rule = Recurrence::beside(text, clock(slot)).map_err(|_| {
        invalid(format!("the series repeats by `{text}`, which is not understood here"))
    })?;
    let (before, next, until) = match (slot, at) {
        (EventSlot::Timed { start, .. }, DateOrTime::At(at)) => {
            if at.with_time_zone(start.time_zone().clone()).time() != start.time() {
                let cure = "begin with the one after it";
                let message = format!("on that day the clocks leave out the time of it: {cure}");
                return Err(invalid(message));
            }
            let before = rule.moments(start).take_while(|time| time < at).count();
            let next = rule.moments(start).nth(before).is_some_and(|time| time == *at);
            let until = at.timestamp().checked_sub(1.second()).unwrap_or(Timestamp::MIN);
            (before, next, RecurrenceUntil::Instant(until))
        }
        (EventSlot::Days { first, .. }, DateOrTime::Day(day)) => {
            let before = rule.dates(*first).take_while(|date| date < day).count();
            let next = rule.dates(*first).nth(before) == Some(*day);
            (before, next, RecurrenceUntil::Day(day.yesterday().unwrap_or(*day)))
        }
        (EventSlot::Timed { .. }, DateOrTime::Day(_))
        | (EventSlot::Days { .. }, DateOrTime::At(_)) => {
            (0, false, RecurrenceUntil::Day(at.date()))
        }
    };
    if !next {
        let message = "this repetition was added to the rule of its series by itself: change it \
                       alone";
        return Err(invalid(message));
    }
    let rest = match rule.end() {
        RecurrenceEnd::Count(all) => {
            RecurrenceEnd::Count(all.saturating_sub(u32::try_from(before).unwrap_or(u32::MAX)))
        }
        end @ (RecurrenceEnd::Never | RecurrenceEnd::Until(_)) => end,
    };
    Ok((
        rule.clone().ending(RecurrenceEnd::Until(until)).to_string(),
        rule.ending(rest).to_string(),
    ))
}
