//! What is written for a zone that events name: a VTIMEZONE with the rules of today.
//!
//! Every program of note goes by the name; the standard wants the rules beside it, and old servers
//! go by them.

use jiff::civil::{Date, Weekday};
use jiff::tz::{Dst, Offset, TimeZone};
use jiff::{Timestamp, ToSpan};

use super::component::IcalComponent;
use super::content_line::IcalProperty;
use super::time::clock_text;
use super::zone::is_utc;

/// Years that are told change by change where no rule says them all.
const YEARS_TOLD: i32 = 10;

/// One change of the clocks.
struct ClockChange {
    from: Offset,
    to: Offset,
    is_dst: bool,
    name: String,
    /// On the clock before the change.
    at: jiff::civil::DateTime,
}

/// The VTIMEZONE of an IANA name as it is around a time, or nothing for UTC and names of nothing.
pub(crate) fn vtimezone(id: &str, around: Timestamp) -> Option<IcalComponent> {
    let zone = TimeZone::get(id).ok().filter(|_| !is_utc(id))?;
    let mut whole = IcalComponent::new("VTIMEZONE");
    whole.push(IcalProperty::text("TZID", id));
    whole.push(IcalProperty::text("X-LIC-LOCATION", id));
    let from = around.checked_sub((24 * 366).hours()).unwrap_or(around);
    let turns = turns(&zone, from);
    if turns.is_empty() {
        let now = zone.to_offset_info(around);
        let start = Date::new(1970, 1, 1).ok()?.at(0, 0, 0, 0);
        let turn = ClockChange {
            from: now.offset(),
            to: now.offset(),
            is_dst: false,
            name: now.abbreviation().to_owned(),
            at: start,
        };
        whole.components.push(part(&turn));
        return Some(whole);
    }
    match yearly(&turns) {
        Some(parts) => whole.components = parts,
        None => whole.components = turns.iter().map(part).collect(),
    }
    Some(whole)
}

fn turns(zone: &TimeZone, from: Timestamp) -> Vec<ClockChange> {
    let last = zone.to_datetime(from).year() + i16::try_from(YEARS_TOLD).unwrap_or_default();
    let all = zone.following(from).map(|change| {
        let before = change.timestamp().checked_sub(1.second()).unwrap_or(change.timestamp());
        let from = zone.to_offset(before);
        ClockChange {
            from,
            to: change.offset(),
            is_dst: change.dst() == Dst::Yes,
            name: change.abbreviation().to_owned(),
            at: from.to_datetime(change.timestamp()),
        }
    });
    all.take_while(|turn| turn.at.year() <= last).collect()
}

/// Two parts with a rule each, if the clocks change twice a year on the same weekdays.
fn yearly(turns: &[ClockChange]) -> Option<Vec<IcalComponent>> {
    let mut parts = Vec::new();
    for is_dst in [false, true] {
        let same: Vec<&ClockChange> = turns.iter().filter(|turn| turn.is_dst == is_dst).collect();
        let first = *same.first()?;
        let is_alike = |turn: &&&ClockChange| {
            (turn.from, turn.to, turn.at.time()) == (first.from, first.to, first.at.time())
                && turn.at.month() == first.at.month()
                && turn.at.weekday() == first.at.weekday()
        };
        let follow = same.windows(2).all(|two| match two {
            [one, next] => next.at.year() == one.at.year() + 1,
            _ => false,
        });
        if same.len() < 5 || !follow || same.iter().filter(is_alike).count() != same.len() {
            return None;
        }
        let is_last = same.iter().all(|turn| turn.at.day() + 7 > turn.at.date().days_in_month());
        let nth = (first.at.day() - 1) / 7 + 1;
        let nth = if is_last {
            -1
        } else {
            same.iter().all(|turn| (turn.at.day() - 1) / 7 + 1 == nth).then_some(nth)?
        };
        let mut part = part(first);
        let (month, day) = (first.at.month(), letters(first.at.weekday()));
        let rule = format!("FREQ=YEARLY;BYMONTH={month};BYDAY={nth}{day}");
        part.push(IcalProperty::new("RRULE", rule));
        parts.push(part);
    }
    Some(parts)
}

fn part(turn: &ClockChange) -> IcalComponent {
    let mut part = IcalComponent::new(if turn.is_dst { "DAYLIGHT" } else { "STANDARD" });
    part.push(IcalProperty::new("DTSTART", clock_text(turn.at)));
    part.push(IcalProperty::new("TZOFFSETFROM", offset_text(turn.from)));
    part.push(IcalProperty::new("TZOFFSETTO", offset_text(turn.to)));
    part.push(IcalProperty::text("TZNAME", &turn.name));
    part
}

fn offset_text(offset: Offset) -> String {
    let (sign, all) = (if offset.is_negative() { '-' } else { '+' }, offset.seconds().abs());
    let seconds = if all % 60 == 0 { String::new() } else { format!("{:02}", all % 60) };
    format!("{sign}{:02}{:02}{seconds}", all / 3600, all / 60 % 60)
}

/// A weekday as rules name it.
fn letters(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "MO",
        Weekday::Tuesday => "TU",
        Weekday::Wednesday => "WE",
        Weekday::Thursday => "TH",
        Weekday::Friday => "FR",
        Weekday::Saturday => "SA",
        Weekday::Sunday => "SU",
    }
}
