//! Rules of series: whether they fit their start, what they become when it moves, and where one is
//! parted in two.
//!
//! A rule that does not fall on its start would show one day more than anybody asked for.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use toolcrib_when::{End, Recurrence, Until};

use crate::backend::{Fault, FaultKind, Slot};
use crate::ical::Moment;

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Invalid, message)
}

/// The rule as it is written beside such a start.
pub(crate) fn fitted(rule: &str, slot: &Slot) -> Result<String, Fault> {
    let rule = Recurrence::beside(rule, clock(slot))
        .map_err(|unread| invalid(format!("the rule cannot be used: {unread}")))?;
    let rule = with_end_of_kind(rule, slot);
    if falls_on_start(&rule, slot) {
        return Ok(rule.to_string());
    }
    let first = match slot {
        Slot::Timed { start, .. } => rule.moments(start).next().map(|time| time.date()),
        Slot::Days { first, .. } => rule.dates(*first).next(),
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
fn clock(slot: &Slot) -> Option<Time> {
    match slot {
        Slot::Timed { start, .. } => Some(start.time()),
        Slot::Days { .. } => None,
    }
}

/// Whether the start is the first of its rule.
fn falls_on_start(rule: &Recurrence, slot: &Slot) -> bool {
    match slot {
        Slot::Timed { start, .. } => rule.moments(start).next().is_some_and(|it| it == *start),
        Slot::Days { first, .. } => rule.dates(*first).next() == Some(*first),
    }
}

/// `UNTIL` is a date where the start is one, and else a time in UTC (RFC 5545, section 3.3.10).
fn with_end_of_kind(rule: Recurrence, slot: &Slot) -> Recurrence {
    let End::Until(until) = rule.end() else { return rule };
    let until = match slot {
        Slot::Days { .. } => Until::Day(match until {
            Until::Day(day) => day,
            Until::Local(time) => time.date(),
            Until::Instant(time) => TimeZone::UTC.to_datetime(time).date(),
        }),
        Slot::Timed { start, .. } => {
            let local = match until {
                Until::Instant(_) => return rule,
                Until::Local(time) => time,
                Until::Day(day) => day.to_datetime(Time::constant(23, 59, 59, 0)),
            };
            let zone = start.time_zone();
            match zone.to_ambiguous_timestamp(local).compatible() {
                Ok(time) => Until::Instant(time),
                Err(_) => until,
            }
        }
    };
    rule.ending(End::Until(until))
}

/// The rule after its start went elsewhere. The days of a week go along; a rule that names days in
/// another way must fall on the new start as it is.
pub(crate) fn moved(text: &str, before: &Slot, after: &Slot) -> Result<String, Fault> {
    let day = |slot: &Slot| match slot {
        Slot::Timed { start, .. } => start.date(),
        Slot::Days { first, .. } => *first,
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
pub(crate) fn parted(text: &str, slot: &Slot, at: &Moment) -> Result<(String, String), Fault> {
    let rule = Recurrence::beside(text, clock(slot)).map_err(|_| {
        invalid(format!("the series repeats by `{text}`, which is not understood here"))
    })?;
    let (before, next, until) = match (slot, at) {
        (Slot::Timed { start, .. }, Moment::At(at)) => {
            if at.with_time_zone(start.time_zone().clone()).time() != start.time() {
                let cure = "begin with the one after it";
                let message = format!("on that day the clocks leave out the time of it: {cure}");
                return Err(invalid(message));
            }
            let before = rule.moments(start).take_while(|time| time < at).count();
            let next = rule.moments(start).nth(before).is_some_and(|time| time == *at);
            let until = at.timestamp().checked_sub(1.second()).unwrap_or(Timestamp::MIN);
            (before, next, Until::Instant(until))
        }
        (Slot::Days { first, .. }, Moment::Day(day)) => {
            let before = rule.dates(*first).take_while(|date| date < day).count();
            let next = rule.dates(*first).nth(before) == Some(*day);
            (before, next, Until::Day(day.yesterday().unwrap_or(*day)))
        }
        (Slot::Timed { .. }, Moment::Day(_)) | (Slot::Days { .. }, Moment::At(_)) => {
            (0, false, Until::Day(at.date()))
        }
    };
    if !next {
        let message = "this repetition was added to the rule of its series by itself: change it \
                       alone";
        return Err(invalid(message));
    }
    let rest = match rule.end() {
        End::Count(all) => {
            End::Count(all.saturating_sub(u32::try_from(before).unwrap_or(u32::MAX)))
        }
        end @ (End::Never | End::Until(_)) => end,
    };
    Ok((rule.clone().ending(End::Until(until)).to_string(), rule.ending(rest).to_string()))
}
