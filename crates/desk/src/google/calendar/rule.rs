//! Rules of series: whether they fit their start, and what they become when it moves.
//!
//! Google takes a rule that does not fall on its start, and then shows one day more than anybody
//! asked for.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use toolcrib_when::{End, Recurrence, Until};

use crate::backend::{Fault, FaultKind, Slot};

fn invalid(message: String) -> Fault {
    Fault::new(FaultKind::Invalid, message)
}

/// The rule as it is written beside such a start.
pub(super) fn fitted(rule: &str, slot: &Slot) -> Result<String, Fault> {
    let read: Result<Recurrence, _> = rule.parse();
    let read = read.map_err(|unread| invalid(format!("the rule cannot be used: {unread}")))?;
    let rule = with_end(read, slot);
    if !falls_on(&rule, slot) {
        let message = format!("the rule `{rule}` does not fall on the start: change one of them");
        return Err(invalid(message));
    }
    Ok(rule.to_string())
}

fn falls_on(rule: &Recurrence, slot: &Slot) -> bool {
    match slot {
        Slot::Timed { start, .. } => rule.moments(start).next().is_some_and(|it| it == *start),
        Slot::Days { first, .. } => rule.dates(*first).next() == Some(*first),
    }
}

/// `UNTIL` is a day beside days, and else an instant (RFC 5545, 3.3.10).
fn with_end(rule: Recurrence, slot: &Slot) -> Recurrence {
    let until = match (rule.end(), slot) {
        (End::Until(Until::Instant(at)), Slot::Days { .. }) => {
            Until::Day(TimeZone::UTC.to_datetime(at).date())
        }
        (End::Until(Until::Local(at)), Slot::Days { .. }) => Until::Day(at.date()),
        (End::Until(until @ (Until::Local(_) | Until::Day(_))), Slot::Timed { start, .. }) => {
            let local = match until {
                Until::Day(day) => day.to_datetime(Time::constant(23, 59, 59, 0)),
                Until::Local(at) => at,
                Until::Instant(_) => return rule,
            };
            let at = start.time_zone().to_ambiguous_timestamp(local).compatible();
            at.map_or(until, Until::Instant)
        }
        (End::Never | End::Count(_) | End::Until(_), _) => return rule,
    };
    rule.ending(End::Until(until))
}

/// The rule after its start went to another day. The days of a week go along; a rule that names
/// days in another way must fall on the new start as it is.
pub(super) fn moved(rule: &str, before: &Slot, after: &Slot) -> Result<String, Fault> {
    let day = |slot: &Slot| match slot {
        Slot::Timed { start, .. } => start.date(),
        Slot::Days { first, .. } => *first,
    };
    let days = i64::from((day(after) - day(before)).get_days());
    let read: Option<Recurrence> = rule.parse().ok();
    // One that others wrote and that does not fall on its start is not made right here.
    let Some(read) = read.filter(|read| falls_on(read, before)) else { return Ok(rule.to_owned()) };
    let text = read.to_string();
    let shifted = text.contains("FREQ=WEEKLY").then(|| shifted(&text, days)).flatten();
    fitted(&shifted.unwrap_or(text), after).map_err(|_| {
        let message =
            format!("the series repeats by `{rule}`: say the rule that it shall have too");
        invalid(message)
    })
}

/// `None`: it names no days of a week.
fn shifted(rule: &str, days: i64) -> Option<String> {
    const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    let (before, rest) = rule.split_once("BYDAY=")?;
    let (named, after) = rest.split_once(';').map_or((rest, None), |(it, after)| (it, Some(after)));
    let shift = |day: &str| {
        let place = i64::try_from(DAYS.iter().position(|known| *known == day)?).ok()?;
        DAYS.get(usize::try_from((place + days).rem_euclid(7)).ok()?).copied()
    };
    let named: Option<Vec<&str>> = named.split(',').map(shift).collect();
    let after = after.map_or_else(String::new, |after| format!(";{after}"));
    Some(format!("{before}BYDAY={}{after}", named?.join(",")))
}
