//! Objects made of values of ours, and the properties that both making and changing write.

use jiff::{Timestamp, Zoned};

use super::{Kind, Resource, invalid};
use crate::backend::{Fault, NewEvent, Person, Slot};
use crate::ical::{Component, Moment, Property, iana_name, utc_text, vtimezone, written};
use crate::owner::Home;
use crate::recurrence_rule::fitted;

/// Most guests of one event.
const MOST_GUESTS: usize = 500;

/// An empty calendar of ours.
pub(super) fn calendar() -> Component {
    let mut calendar = Component::new("VCALENDAR");
    calendar.push(Property::new("VERSION", "2.0"));
    calendar.push(Property::new("PRODID", "-//toolcrib//desk//EN"));
    calendar
}

impl Resource {
    /// A new event.
    pub(crate) fn new_event(
        new: &NewEvent,
        uid: &str,
        home: &Home,
        now: Timestamp,
    ) -> Result<Self, Fault> {
        let slot = settled(&new.slot, home, new.rule.is_some())?;
        let mut event = Component::new(Kind::Event.component());
        stamps(&mut event, uid, now);
        event.push(Property::new("SEQUENCE", "0"));
        event.push(Property::text("SUMMARY", &new.title));
        put_text(&mut event, "DESCRIPTION", new.description.as_deref());
        put_text(&mut event, "LOCATION", new.location.as_deref());
        event.push(Property::new("STATUS", "CONFIRMED"));
        put_busy(&mut event, new.busy);
        put_guests(&mut event, &new.guests, home)?;
        if let Some(rule) = &new.rule {
            event.push(Property::new("RRULE", fitted(rule, &slot)?));
        }
        put_slot(&mut event, &slot);
        let mut made = Self { kind: Kind::Event, calendar: calendar() };
        made.calendar.components.push(event);
        made.add_zones(now);
        Ok(made)
    }

    /// Gives every zone that is named, and that the object does not tell of, its VTIMEZONE.
    pub(super) fn add_zones(&mut self, around: Timestamp) {
        let mut missing: Vec<String> = Vec::new();
        for part in self.parts() {
            for id in part.properties.iter().filter_map(|it| it.parameter("TZID")) {
                let is_told = self.calendar.components.iter().any(|it| {
                    it.name == "VTIMEZONE" && it.get("TZID").is_some_and(|it| it.as_text() == id)
                });
                if !is_told && !missing.iter().any(|known| known == id) {
                    missing.push(id.to_owned());
                }
            }
        }
        // They stand before what names them, where simple readers look for them.
        for id in missing {
            if let Some(zone) = vtimezone(&id, around) {
                self.calendar.components.insert(0, zone);
            }
        }
    }
}

pub(super) fn stamps(part: &mut Component, uid: &str, now: Timestamp) {
    part.push(Property::new("UID", uid));
    for name in ["DTSTAMP", "CREATED", "LAST-MODIFIED"] {
        part.push(Property::new(name, utc_text(now)));
    }
}

/// A slot with times that can be written: of zones that have names, where they repeat.
pub(super) fn settled(slot: &Slot, home: &Home, repeats: bool) -> Result<Slot, Fault> {
    let named = |time: &Zoned| {
        if repeats && iana_name(time.time_zone()).is_none() {
            time.with_time_zone(home.zone.clone())
        } else {
            time.clone()
        }
    };
    match slot {
        Slot::Timed { start, end } if end >= start => {
            Ok(Slot::Timed { start: named(start), end: named(end) })
        }
        Slot::Days { first, last } if last >= first => Ok(slot.clone()),
        Slot::Timed { .. } | Slot::Days { .. } => {
            Err(invalid("it would end before it starts: say an end after the start"))
        }
    }
}

/// Writes the start and the end.
pub(super) fn put_slot(part: &mut Component, slot: &Slot) {
    let (start, end) = match slot {
        Slot::Timed { start, end } => (Moment::At(start.clone()), Moment::At(end.clone())),
        Slot::Days { first, last } => {
            (Moment::Day(*first), Moment::Day(last.tomorrow().unwrap_or(*last)))
        }
    };
    part.remove("DURATION");
    part.set(written("DTSTART", &start));
    part.set(written("DTEND", &end));
}

pub(super) fn put_text(part: &mut Component, name: &str, text: Option<&str>) {
    match text.filter(|text| !text.is_empty()) {
        Some(text) => {
            // What another program says of the text, such as its language, stays with it.
            let parameters = part.get(name).map(|it| it.parameters.clone()).unwrap_or_default();
            let parameters = parameters.into_iter().filter(|(name, _)| name != "ALTREP").collect();
            part.set(Property { parameters, ..Property::text(name, text) });
        }
        None => part.remove(name),
    }
}

pub(super) fn put_busy(part: &mut Component, busy: bool) {
    part.set(Property::new("TRANSP", if busy { "OPAQUE" } else { "TRANSPARENT" }));
}

/// Writes the list of guests; who stays keeps what is known of them.
pub(super) fn put_guests(
    part: &mut Component,
    guests: &[Person],
    home: &Home,
) -> Result<(), Fault> {
    if guests.len() > MOST_GUESTS {
        return Err(invalid(format!("an event has {MOST_GUESTS} guests at the most")));
    }
    let before: Vec<Property> = part.all("ATTENDEE").cloned().collect();
    part.remove("ATTENDEE");
    for person in guests {
        let address = person.address.trim();
        if !address.contains('@') || address.contains(|it: char| it.is_whitespace()) {
            let message = format!("`{address}` is no address of mail: say it as `name@host`");
            return Err(invalid(message));
        }
        let known = before.iter().find(|it| {
            super::read::address(it).is_some_and(|known| known.eq_ignore_ascii_case(address))
        });
        let fresh = || {
            let property = Property::new("ATTENDEE", format!("mailto:{address}"))
                .with("ROLE", "REQ-PARTICIPANT")
                .with("PARTSTAT", "NEEDS-ACTION")
                .with("RSVP", "TRUE");
            match &person.name {
                Some(name) => property.with("CN", name),
                None => property,
            }
        };
        part.push(known.cloned().unwrap_or_else(fresh));
    }
    // A meeting has somebody who calls it (RFC 5545, section 3.8.4.3).
    if let (false, None, Some(own)) =
        (guests.is_empty(), part.get("ORGANIZER"), home.addresses.first())
    {
        part.push(Property::new("ORGANIZER", format!("mailto:{own}")));
    }
    Ok(())
}
