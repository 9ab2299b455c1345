//! An event as it is told.

use schemars::JsonSchema;
use serde::Serialize;

use super::series_reach::SeriesReach;
use crate::backend::{CalendarEvent, EventGuest, EventSlot, EventStatus, InvitationReply};
use crate::tools::quoting::{self, plain};
use crate::tools::times::{CallClock, iso};

/// Characters of a description in a list.
const EXCERPT: usize = 200;
/// Guests in a list.
const SHOWN_GUESTS: usize = 20;

#[derive(Serialize, JsonSchema)]
pub(crate) struct EventView {
    id: String,
    /// The id of all repetitions, of which this is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<String>,
    title: String,
    /// For people: `Tue 24 Nov 2026 14:00 to 14:30`.
    when: String,
    /// ISO 8601 with offset; the day of an all-day event.
    start: String,
    /// The same; the last day, inclusive, of an all-day event.
    end: String,
    /// The zone of `start` and `end`; all-day events have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    all_day: bool,
    /// The id of its calendar.
    calendar: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guests: Vec<GuestView>,
    /// Guests that are not listed here.
    #[serde(skip_serializing_if = "is_zero")]
    more_guests: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    organizer: Option<String>,
    /// For people: `every Monday`.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<String>,
    /// `tentative` or `cancelled`; confirmed if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<EventStatusView>,
    /// Whether its time is taken.
    busy: bool,
    /// What the user answered, if they were invited.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<InvitationReplyView>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Serialize, JsonSchema)]
struct GuestView {
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    reply: InvitationReplyView,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EventStatusView {
    Tentative,
    Cancelled,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum InvitationReplyView {
    Waiting,
    Accepted,
    Declined,
    Tentative,
}

impl From<InvitationReply> for InvitationReplyView {
    fn from(reply: InvitationReply) -> Self {
        match reply {
            InvitationReply::Waiting => Self::Waiting,
            InvitationReply::Accepted => Self::Accepted,
            InvitationReply::Declined => Self::Declined,
            InvitationReply::Tentative => Self::Tentative,
        }
    }
}

/// An event whole.
pub(crate) fn event(event: CalendarEvent, times: &CallClock) -> EventView {
    let (start, end, zone) = match &event.slot {
        EventSlot::Timed { start, end } => {
            (iso(&times.here(start)), iso(&times.here(end)), Some(times.zone_name()))
        }
        EventSlot::Days { first, last } => (first.to_string(), last.to_string(), None),
    };
    EventView {
        when: times.say(&event.slot),
        all_day: zone.is_none(),
        start,
        end,
        zone,
        repeats: event.rule.as_deref().map(|rule| times.say_rule(rule)),
        status: match event.status {
            EventStatus::Confirmed => None,
            EventStatus::Tentative => Some(EventStatusView::Tentative),
            EventStatus::Cancelled => Some(EventStatusView::Cancelled),
        },
        guests: event.guests.into_iter().map(guest).collect(),
        more_guests: 0,
        organizer: event.organizer.map(|person| person.address),
        reply: event.reply.map(InvitationReplyView::from),
        id: event.id,
        series: event.series,
        title: event.title,
        calendar: event.calendar,
        location: event.location,
        description: event.description,
        busy: event.busy,
    }
}

/// An event in a list: what may be long is shortened.
pub(crate) fn short(mut full: CalendarEvent, times: &CallClock) -> EventView {
    full.description = full.description.map(|text| plain(&text, EXCERPT));
    let more_guests = full.guests.len().saturating_sub(SHOWN_GUESTS);
    full.guests.truncate(SHOWN_GUESTS);
    EventView { more_guests, ..event(full, times) }
}

fn guest(EventGuest { person, reply }: EventGuest) -> GuestView {
    GuestView { address: person.address, name: person.name, reply: reply.into() }
}

/// What an event is to a person who is asked: `*Budget review*, Tue 24 Nov 2026 14:00 to 15:00,
/// 3 guests`.
pub(crate) fn in_words(event: &CalendarEvent, asked_for: &str, times: &CallClock) -> String {
    let reach = if is_series(event, asked_for) { SeriesReach::Series } else { SeriesReach::One };
    summed_up(event, reach, times)
}

/// The same of so much of it.
pub(super) fn summed_up(event: &CalendarEvent, reach: SeriesReach, times: &CallClock) -> String {
    let rule = event.rule.as_deref().map(|rule| format!(" ({})", times.say_rule(rule)));
    let rule = rule.unwrap_or_default();
    let repeated = match reach {
        SeriesReach::Series => format!(", and all its repetitions{rule}"),
        SeriesReach::Following => format!(", and all its repetitions after it{rule}"),
        SeriesReach::One if event.series.is_some() => {
            " (of its repetitions this one alone)".to_owned()
        }
        SeriesReach::One => String::new(),
    };
    let guests = match event.guests.len() {
        0 => String::new(),
        number => format!(", {}", quoting::count(number, "guest")),
    };
    format!("{}, {}{repeated}{guests}", quoting::title(&event.title), times.say(&event.slot))
}

/// Whether an id stands for all repetitions of the event that it was answered with.
pub(crate) fn is_series(event: &CalendarEvent, asked_for: &str) -> bool {
    match &event.series {
        Some(series) => series == asked_for,
        None => event.rule.is_some(),
    }
}
