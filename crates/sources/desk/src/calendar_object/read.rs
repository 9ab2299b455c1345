//! What a component says, as a value of ours.

use jiff::tz::TimeZone;

use super::series::{Occurrence, Series};
use super::{ObjectLocation, OccurrenceKey};
use crate::backend::{CalendarEvent, EventGuest, EventSlot, EventStatus, InvitationReply, Person};
use crate::ical::{IcalComponent, IcalProperty};

impl Series<'_> {
    /// One occurrence as an event.
    pub(super) fn event(&self, it: Occurrence<'_>, place: ObjectLocation<'_>) -> CalendarEvent {
        let series = self.repeats().then(|| place.id.to_owned());
        let id = match &series {
            Some(series) => format!("{series}@{}", it.key),
            None => place.id.to_owned(),
        };
        self.described(it, id, series, place)
    }

    /// All of it, as its first.
    pub(super) fn whole(&self, place: ObjectLocation<'_>) -> CalendarEvent {
        let series = self.repeats().then(|| place.id.to_owned());
        let first = self.first();
        let (key, slot) = (OccurrenceKey::of(&first), self.slot_at(&first));
        let it = Occurrence { key, part: self.master, slot };
        self.described(it, place.id.to_owned(), series, place)
    }

    fn described(
        &self,
        it: Occurrence<'_>,
        id: String,
        series: Option<String>,
        place: ObjectLocation<'_>,
    ) -> CalendarEvent {
        let part = it.part;
        let guests: Vec<EventGuest> = part.all("ATTENDEE").filter_map(guest).collect();
        let status = status(part);
        let is_free = part.get("TRANSP").is_some_and(|it| it.value.trim() == "TRANSPARENT");
        let own = guests.iter().find(|guest| place.home.is_own(&guest.person.address));
        let rule = self.master.get("RRULE").filter(|rule| !rule.value.trim().is_empty());
        CalendarEvent {
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
            busy: !is_free && status != EventStatus::Cancelled,
        }
    }
}

/// A time in UTC says nothing of a place, so it is shown as of home.
fn at_home(slot: EventSlot, home: &TimeZone) -> EventSlot {
    let shown = |time: jiff::Zoned| {
        if time.time_zone() == &TimeZone::UTC { time.with_time_zone(home.clone()) } else { time }
    };
    match slot {
        EventSlot::Timed { start, end } => {
            EventSlot::Timed { start: shown(start), end: shown(end) }
        }
        days @ EventSlot::Days { .. } => days,
    }
}

fn status(part: &IcalComponent) -> EventStatus {
    match part.get("STATUS").map(|it| it.value.trim().to_ascii_uppercase()).as_deref() {
        Some("TENTATIVE") => EventStatus::Tentative,
        Some("CANCELLED") => EventStatus::Cancelled,
        _ => EventStatus::Confirmed,
    }
}

fn guest(property: &IcalProperty) -> Option<EventGuest> {
    let reply = match property.parameter("PARTSTAT").map(str::to_ascii_uppercase).as_deref() {
        Some("ACCEPTED") => InvitationReply::Accepted,
        Some("DECLINED") => InvitationReply::Declined,
        Some("TENTATIVE") => InvitationReply::Tentative,
        _ => InvitationReply::Waiting,
    };
    person(property).map(|person| EventGuest { person, reply })
}

fn person(property: &IcalProperty) -> Option<Person> {
    let address = address(property)?.to_owned();
    let name = property.parameter("CN").map(str::trim).filter(|name| !name.is_empty());
    let name = name.filter(|name| *name != address).map(str::to_owned);
    Some(Person { address, name })
}

/// The address of mail of an ATTENDEE or ORGANIZER.
pub(super) fn address(property: &IcalProperty) -> Option<&str> {
    let value = property.value.trim();
    let is_mail = value.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("mailto:"));
    let mail = if is_mail { value.get(7..) } else { property.parameter("EMAIL") };
    mail.or(Some(value)).map(str::trim).filter(|address| !address.is_empty())
}
