//! What a component says, as a value of ours.

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::series::{Occurrence, Series};
use super::times::length_of;
use super::{Key, Place};
use crate::backend::{Event, Guest, Person, Reply, Slot, Status};
use crate::ical::{Component, Moment, Property, Zones};

impl Series<'_> {
    /// One occurrence as an event.
    pub(super) fn event(&self, it: Occurrence<'_>, place: Place<'_>) -> Event {
        let series = self.repeats().then(|| place.id.to_owned());
        let id = match &series {
            Some(series) => format!("{series}@{}", it.key),
            None => place.id.to_owned(),
        };
        self.described(it, id, series, place)
    }

    /// All of it, as its first.
    pub(super) fn whole(&self, place: Place<'_>) -> Event {
        let series = self.repeats().then(|| place.id.to_owned());
        let first = self.first();
        let (key, slot) = (Key::of(&first), self.slot_at(&first));
        let it = Occurrence { key, part: self.master, slot };
        self.described(it, place.id.to_owned(), series, place)
    }

    fn described(
        &self,
        it: Occurrence<'_>,
        id: String,
        series: Option<String>,
        place: Place<'_>,
    ) -> Event {
        let part = it.part;
        let guests: Vec<Guest> = part.all("ATTENDEE").filter_map(guest).collect();
        let status = status(part);
        let is_free = part.get("TRANSP").is_some_and(|it| it.value.trim() == "TRANSPARENT");
        let own = guests.iter().find(|guest| place.home.is_own(&guest.person.address));
        let rule = self.master.get("RRULE").filter(|rule| !rule.value.trim().is_empty());
        Event {
            id,
            series,
            calendar: place.collection.to_owned(),
            title: part.text("SUMMARY").unwrap_or_default(),
            slot: at_home(it.slot, &place.home.zone),
            description: part.text("DESCRIPTION"),
            location: part.text("LOCATION"),
            reply: own.map(|own| own.reply),
            guests,
            organizer: part.get("ORGANIZER").and_then(person),
            rule: rule.map(|rule| rule.value.clone()),
            status,
            busy: !is_free && status != Status::Cancelled,
        }
    }
}

/// When a component is, or why that cannot be told.
pub(super) fn slot(zones: Zones<'_>, part: &Component) -> Result<Slot, String> {
    let start = part.get("DTSTART").ok_or_else(|| "it has no DTSTART".to_owned())?;
    let start = zones.one(start)?;
    let end = part.get("DTEND").map(|end| zones.one(end)).transpose()?;
    let length = length_of(part)?;
    match (start, end) {
        (Moment::At(_), Some(Moment::Day(_))) => {
            Err("it starts at a time, and ends with a whole day".to_owned())
        }
        (Moment::Day(_), Some(Moment::At(_))) => {
            Err("it starts with a whole day, and ends at a time".to_owned())
        }
        (Moment::At(start), Some(Moment::At(end))) if end < start => {
            Err(format!("it ends at {end}, before its start at {start}"))
        }
        (Moment::Day(start), Some(Moment::Day(end))) if end < start => {
            Err(format!("it ends on {end}, before its start on {start}"))
        }
        (Moment::At(start), end) => {
            let end = match (end, length) {
                (Some(Moment::At(end)), _) => Some(end),
                (Some(Moment::Day(_)) | None, Some(length)) => length.after(&start),
                (Some(Moment::Day(_)) | None, None) => None,
            };
            Ok(Slot::Timed { end: end.unwrap_or_else(|| start.clone()), start })
        }
        (Moment::Day(first), end) => {
            let last = match (end, length) {
                (Some(end), _) => end.date().yesterday().ok(),
                (None, Some(length)) => {
                    let days = i64::from(length.whole_days()) - 1;
                    first.checked_add(SignedDuration::from_hours(24 * days.max(0))).ok()
                }
                (None, None) => None,
            };
            Ok(Slot::Days { first, last: last.unwrap_or(first).max(first) })
        }
    }
}

/// A time in UTC says nothing of a place, so it is shown as of home.
fn at_home(slot: Slot, home: &TimeZone) -> Slot {
    let shown = |time: jiff::Zoned| {
        if time.time_zone() == &TimeZone::UTC { time.with_time_zone(home.clone()) } else { time }
    };
    match slot {
        Slot::Timed { start, end } => Slot::Timed { start: shown(start), end: shown(end) },
        days @ Slot::Days { .. } => days,
    }
}

fn status(part: &Component) -> Status {
    match part.get("STATUS").map(|it| it.value.trim().to_ascii_uppercase()).as_deref() {
        Some("TENTATIVE") => Status::Tentative,
        Some("CANCELLED") => Status::Cancelled,
        _ => Status::Confirmed,
    }
}

fn guest(property: &Property) -> Option<Guest> {
    let reply = match property.parameter("PARTSTAT").map(str::to_ascii_uppercase).as_deref() {
        Some("ACCEPTED") => Reply::Accepted,
        Some("DECLINED") => Reply::Declined,
        Some("TENTATIVE") => Reply::Tentative,
        _ => Reply::Waiting,
    };
    person(property).map(|person| Guest { person, reply })
}

fn person(property: &Property) -> Option<Person> {
    let address = address(property)?.to_owned();
    let name = property.parameter("CN").map(str::trim).filter(|name| !name.is_empty());
    let name = name.filter(|name| *name != address).map(str::to_owned);
    Some(Person { address, name })
}

/// The address of mail of an ATTENDEE or ORGANIZER.
pub(super) fn address(property: &Property) -> Option<&str> {
    let value = property.value.trim();
    let is_mail = value.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("mailto:"));
    let mail = if is_mail { value.get(7..) } else { property.parameter("EMAIL") };
    mail.or(Some(value)).map(str::trim).filter(|address| !address.is_empty())
}
