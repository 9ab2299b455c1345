//! When a component is: its slot, read and measured.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::backend::EventSlot;
use crate::ical::{DateOrTime, IcalComponent, IcalDuration, ObjectZones};

/// When a component is, or why that cannot be told.
pub(super) fn slot(zones: ObjectZones<'_>, part: &IcalComponent) -> Result<EventSlot, String> {
    let start = part.get("DTSTART").ok_or_else(|| "it has no DTSTART".to_owned())?;
    let start = zones.one(start)?;
    let end = part.get("DTEND").map(|end| zones.one(end)).transpose()?;
    let length = length_of(part)?;
    match (start, end) {
        (DateOrTime::At(_), Some(DateOrTime::Day(_))) => {
            Err("it starts at a time, and ends with a whole day".to_owned())
        }
        (DateOrTime::Day(_), Some(DateOrTime::At(_))) => {
            Err("it starts with a whole day, and ends at a time".to_owned())
        }
        (DateOrTime::At(start), Some(DateOrTime::At(end))) if end < start => {
            Err(format!("it ends at {end}, before its start at {start}"))
        }
        (DateOrTime::Day(start), Some(DateOrTime::Day(end))) if end < start => {
            Err(format!("it ends on {end}, before its start on {start}"))
        }
        (DateOrTime::At(start), end) => {
            let end = match (end, length) {
                (Some(DateOrTime::At(end)), _) => Some(end),
                (Some(DateOrTime::Day(_)) | None, Some(length)) => length.after(&start),
                (Some(DateOrTime::Day(_)) | None, None) => None,
            };
            Ok(EventSlot::Timed { end: end.unwrap_or_else(|| start.clone()), start })
        }
        (DateOrTime::Day(first), end) => {
            let last = match (end, length) {
                (Some(end), _) => end.date().yesterday().ok(),
                (None, Some(length)) => {
                    let days = i64::from(length.whole_days()) - 1;
                    first.checked_add(SignedDuration::from_hours(24 * days.max(0))).ok()
                }
                (None, None) => None,
            };
            Ok(EventSlot::Days { first, last: last.unwrap_or(first).max(first) })
        }
    }
}

/// The DURATION of a component.
pub(super) fn length_of(part: &IcalComponent) -> Result<Option<IcalDuration>, String> {
    let Some(length) = part.get("DURATION") else { return Ok(None) };
    let read = IcalDuration::read(&length.value).filter(|it| it.days >= 0 && it.seconds >= 0);
    read.map(Some).ok_or_else(|| format!("its DURATION `{}` is no length of time", length.value))
}

/// The start of a slot.
pub(super) fn start_of(slot: &EventSlot) -> DateOrTime {
    match slot {
        EventSlot::Timed { start, .. } => DateOrTime::At(start.clone()),
        EventSlot::Days { first, .. } => DateOrTime::Day(*first),
    }
}

/// A slot as long as another, from a start on.
pub(crate) fn placed(model: &EventSlot, start: &DateOrTime) -> EventSlot {
    match (model, start) {
        (EventSlot::Timed { start: from, end }, DateOrTime::At(start)) => {
            let moved = start.checked_add(from.duration_until(end));
            let moved = moved.unwrap_or_else(|_| start.clone());
            EventSlot::Timed {
                start: start.clone(),
                end: moved.with_time_zone(end.time_zone().clone()),
            }
        }
        (EventSlot::Days { first, last }, DateOrTime::Day(day)) => {
            EventSlot::Days { first: *day, last: day.checked_add(*last - *first).unwrap_or(*day) }
        }
        (EventSlot::Timed { .. }, DateOrTime::Day(_))
        | (EventSlot::Days { .. }, DateOrTime::At(_)) => model.clone(),
    }
}

/// From when until when, a day being one at home.
pub(crate) fn bounds(slot: &EventSlot, zone: &TimeZone) -> (Timestamp, Timestamp) {
    match slot {
        EventSlot::Timed { start, end } => (start.timestamp(), end.timestamp()),
        EventSlot::Days { first, last } => {
            let after = last.tomorrow().unwrap_or(*last);
            (DateOrTime::Day(*first).instant(zone), DateOrTime::Day(after).instant(zone))
        }
    }
}
