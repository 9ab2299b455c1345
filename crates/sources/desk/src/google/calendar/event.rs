//! An event as Google writes it, and what it says.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::backend::{
    BackendError, CalendarEvent, EventGuest, EventSlot, EventStatus, InvitationReply, Person,
};
use crate::google::error::broken;
use crate::ical::DateOrTime;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::google) struct GoogleEvent {
    pub(super) id: String,
    pub(super) etag: Option<String>,
    status: Option<String>,
    summary: Option<String>,
    description: Option<String>,
    location: Option<String>,
    start: Option<GoogleEventTime>,
    end: Option<GoogleEventTime>,
    pub(super) recurrence: Vec<String>,
    pub(super) recurring_event_id: Option<String>,
    /// Of an occurrence: when its series has it, whatever was changed of it.
    original_start_time: Option<GoogleEventTime>,
    /// As they came: who stays is sent back with all that Google knows of them.
    pub(super) attendees: Vec<Map<String, Value>>,
    organizer: Option<GoogleOrganizer>,
    transparency: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GoogleEventTime {
    date: Option<String>,
    date_time: Option<String>,
    time_zone: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GoogleOrganizer {
    email: Option<String>,
    display_name: Option<String>,
}

/// A text of an object that came.
pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

/// Of letters that names of zones have: others would be looked for in files.
pub(super) fn zone(name: Option<&str>) -> Option<TimeZone> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    let name = name.filter(|name| name.len() <= 64 && name.bytes().all(is_plain))?;
    TimeZone::get(name).ok()
}

impl GoogleEventTime {
    fn day(&self) -> Option<Date> {
        self.date.as_deref()?.parse().ok()
    }

    /// In the zone that it names, else in that of the calendar, else at the offset it is written
    /// with.
    fn moment(&self, calendar: Option<&TimeZone>) -> Option<Zoned> {
        let text = self.date_time.as_deref()?;
        let moment: Timestamp = text.parse().ok()?;
        let zone = zone(self.time_zone.as_deref()).or_else(|| calendar.cloned());
        let zone = zone.or_else(|| {
            let offset = text.get(text.len().checked_sub(6)?..)?;
            let at: jiff::civil::Time = offset.get(1..)?.parse().ok()?;
            let seconds = (i32::from(at.hour()) * 60 + i32::from(at.minute())) * 60;
            let sign = if offset.starts_with('-') { -1 } else { 1 };
            jiff::tz::Offset::from_seconds(sign * seconds).ok().map(TimeZone::fixed)
        });
        Some(moment.to_zoned(zone.unwrap_or(TimeZone::UTC)))
    }
}

impl GoogleEvent {
    pub(super) fn is_cancelled(&self) -> bool {
        self.status.as_deref() == Some("cancelled")
    }

    /// The rule of a series; an occurrence has none of its own.
    pub(super) fn rule(&self) -> Option<String> {
        self.recurrence.iter().find_map(|line| line.strip_prefix("RRULE:")).map(str::to_owned)
    }

    /// The owner's address, if they were invited.
    pub(super) fn own_address(&self) -> Option<&str> {
        text(self.own()?, "email")
    }

    fn own(&self) -> Option<&Map<String, Value>> {
        self.attendees.iter().find(|it| it.get("self") == Some(&Value::Bool(true)))
    }

    /// When an occurrence is by its series.
    pub(super) fn original(&self) -> Option<DateOrTime> {
        let original = self.original_start_time.as_ref()?;
        original.day().map(DateOrTime::Day).or_else(|| original.moment(None).map(DateOrTime::At))
    }

    /// `zone`: that of its calendar, if it is known.
    pub(super) fn slot(&self, zone: Option<&TimeZone>) -> Result<EventSlot, BackendError> {
        let odd = || broken("an event without a time");
        let start = self.start.as_ref().ok_or_else(odd)?;
        let end = self.end.as_ref();
        if let Some(first) = start.day() {
            // The day after the last one.
            let last =
                end.and_then(GoogleEventTime::day).and_then(|day| day.checked_sub(1.day()).ok());
            return Ok(EventSlot::Days { first, last: last.map_or(first, |last| last.max(first)) });
        }
        let start = start.moment(zone).ok_or_else(odd)?;
        let end = end.and_then(|end| end.moment(zone)).filter(|end| *end >= start);
        Ok(EventSlot::Timed { end: end.unwrap_or_else(|| start.clone()), start })
    }

    /// The event as we tell of it. `primary`: whose events need no calendar in their ids.
    pub(in crate::google) fn event(
        &self,
        calendar: &str,
        primary: &str,
        zone: Option<&TimeZone>,
    ) -> Result<CalendarEvent, BackendError> {
        if self.id.is_empty() || self.id.contains('/') {
            return Err(broken("an event without an id"));
        }
        let named = |id: &str| {
            if calendar == primary { id.to_owned() } else { format!("{calendar}/{id}") }
        };
        let is_series = !self.recurrence.is_empty();
        let series = self.recurring_event_id.as_deref();
        let series = series.or_else(|| is_series.then_some(self.id.as_str()));
        Ok(CalendarEvent {
            id: named(&self.id),
            series: series.map(named),
            calendar: calendar.to_owned(),
            title: self.summary.clone().unwrap_or_default(),
            slot: self.slot(zone)?,
            description: self.description.clone().filter(|it| !it.is_empty()),
            location: self.location.clone().filter(|it| !it.is_empty()),
            guests: self.attendees.iter().filter_map(guest).collect(),
            organizer: self.organizer.as_ref().and_then(|it| {
                Some(Person { address: it.email.clone()?, name: it.display_name.clone() })
            }),
            rule: self.rule(),
            status: match self.status.as_deref() {
                Some("tentative") => EventStatus::Tentative,
                Some("cancelled") => EventStatus::Cancelled,
                _ => EventStatus::Confirmed,
            },
            busy: self.transparency.as_deref() != Some("transparent"),
            reply: self.own().map(reply),
        })
    }
}

fn guest(attendee: &Map<String, Value>) -> Option<EventGuest> {
    let address = text(attendee, "email")?.to_owned();
    let name = text(attendee, "displayName").map(str::to_owned);
    Some(EventGuest { person: Person { address, name }, reply: reply(attendee) })
}

fn reply(attendee: &Map<String, Value>) -> InvitationReply {
    match text(attendee, "responseStatus") {
        Some("accepted") => InvitationReply::Accepted,
        Some("declined") => InvitationReply::Declined,
        Some("tentative") => InvitationReply::Tentative,
        _ => InvitationReply::Waiting,
    }
}

/// The same the other way round.
pub(super) fn status_of(reply: InvitationReply) -> &'static str {
    match reply {
        InvitationReply::Waiting => "needsAction",
        InvitationReply::Accepted => "accepted",
        InvitationReply::Declined => "declined",
        InvitationReply::Tentative => "tentative",
    }
}
