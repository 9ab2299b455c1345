//! Objects made of values of ours, and the properties that both making and changing write.

use jiff::{Timestamp, Zoned};

use super::{CalendarObject, CalendarObjectKind, invalid};
use crate::backend::{BackendError, EventSlot, NewEvent, Person};
use crate::ical::{
    DateOrTime, IcalComponent, IcalProperty, iana_name, utc_text, vtimezone, written,
};
use crate::owner::CalendarOwner;
use crate::recurrence_rule::fitted;

/// Most guests of one event.
const MOST_GUESTS: usize = 500;

/// An empty calendar of ours.
pub(super) fn calendar() -> IcalComponent {
    let mut calendar = IcalComponent::new("VCALENDAR");
    calendar.push(IcalProperty::new("VERSION", "2.0"));
    calendar.push(IcalProperty::new("PRODID", "-//toolcrib//desk//EN"));
    calendar
}

impl CalendarObject {
    /// A new event.
    pub(crate) fn new_event(
        new: &NewEvent,
        uid: &str,
        home: &CalendarOwner,
        now: Timestamp,
    ) -> Result<Self, BackendError> {
        let slot = settled(&new.slot, home, new.rule.is_some())?;
        let mut event = IcalComponent::new(CalendarObjectKind::Event.component());
        stamps(&mut event, uid, now);
        event.push(IcalProperty::new("SEQUENCE", "0"));
        event.push(IcalProperty::text("SUMMARY", &new.title));
        put_text(&mut event, "DESCRIPTION", new.description.as_deref());
        put_text(&mut event, "LOCATION", new.location.as_deref());
        event.push(IcalProperty::new("STATUS", "CONFIRMED"));
        put_busy(&mut event, new.busy);
        put_guests(&mut event, &new.guests, home)?;
        if let Some(rule) = &new.rule {
            event.push(IcalProperty::new("RRULE", fitted(rule, &slot)?));
        }
        put_slot(&mut event, &slot);
        let mut made = Self { kind: CalendarObjectKind::Event, calendar: calendar() };
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

pub(super) fn stamps(part: &mut IcalComponent, uid: &str, now: Timestamp) {
    part.push(IcalProperty::new("UID", uid));
    for name in ["DTSTAMP", "CREATED", "LAST-MODIFIED"] {
        part.push(IcalProperty::new(name, utc_text(now)));
    }
}

/// A slot with times that can be written: of zones that have names, where they repeat.
pub(super) fn settled(
    slot: &EventSlot,
    home: &CalendarOwner,
    repeats: bool,
) -> Result<EventSlot, BackendError> {
    let named = |time: &Zoned| {
        if repeats && iana_name(time.time_zone()).is_none() {
            time.with_time_zone(home.zone.clone())
        } else {
            time.clone()
        }
    };
    match slot {
        EventSlot::Timed { start, end } if end >= start => {
            Ok(EventSlot::Timed { start: named(start), end: named(end) })
        }
        EventSlot::Days { first, last } if last >= first => Ok(slot.clone()),
        EventSlot::Timed { .. } | EventSlot::Days { .. } => {
            Err(invalid("it would end before it starts: say an end after the start"))
        }
    }
}

/// Writes the start and the end.
pub(super) fn put_slot(part: &mut IcalComponent, slot: &EventSlot) {
    let (start, end) = match slot {
        EventSlot::Timed { start, end } => {
            (DateOrTime::At(start.clone()), DateOrTime::At(end.clone()))
        }
        EventSlot::Days { first, last } => {
            (DateOrTime::Day(*first), DateOrTime::Day(last.tomorrow().unwrap_or(*last)))
        }
    };
    part.remove("DURATION");
    part.set(written("DTSTART", &start));
    part.set(written("DTEND", &end));
}

pub(super) fn put_text(part: &mut IcalComponent, name: &str, text: Option<&str>) {
    match text.filter(|text| !text.is_empty()) {
        Some(text) => {
            // What another program says of the text, such as its language, stays with it.
            let parameters = part.get(name).map(|it| it.parameters.clone()).unwrap_or_default();
            let parameters = parameters.into_iter().filter(|(name, _)| name != "ALTREP").collect();
            part.set(IcalProperty { parameters, ..IcalProperty::text(name, text) });
        }
        None => part.remove(name),
    }
}

pub(super) fn put_busy(part: &mut IcalComponent, busy: bool) {
    part.set(IcalProperty::new("TRANSP", if busy { "OPAQUE" } else { "TRANSPARENT" }));
}

/// Writes the list of guests; who stays keeps what is known of them.
pub(super) fn put_guests(
    part: &mut IcalComponent,
    guests: &[Person],
    home: &CalendarOwner,
) -> Result<(), BackendError> {
    if guests.len() > MOST_GUESTS {
        return Err(invalid(format!("an event has {MOST_GUESTS} guests at the most")));
    }
    let before: Vec<IcalProperty> = part.all("ATTENDEE").cloned().collect();
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
            let property = IcalProperty::new("ATTENDEE", format!("mailto:{address}"))
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
        part.push(IcalProperty::new("ORGANIZER", format!("mailto:{own}")));
    }
    Ok(())
}
