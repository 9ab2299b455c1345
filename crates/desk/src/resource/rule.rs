//! The rule of a series, and whether it fits its start.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use toolcrib_when::{End, Recurrence, Until};

use super::invalid;
use crate::backend::{Fault, Slot};

/// The rule as it is written beside such a start.
pub(super) fn fitted(rule: &str, slot: &Slot) -> Result<String, Fault> {
    let rule: Recurrence = rule.parse().map_err(|unread: toolcrib_when::Unread| {
        invalid(format!("the rule cannot be used: {unread}"))
    })?;
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

/// Whether the start is the first of its rule.
pub(super) fn falls_on_start(rule: &Recurrence, slot: &Slot) -> bool {
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

/// The rule after its start moved by so many days, if it is plain what it becomes: the days of a
/// week move along. `None` if it names days in another way.
pub(super) fn moved(rule: &str, days: i64) -> Option<String> {
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
