//! An event as it is told.

use schemars::JsonSchema;
use serde::Serialize;

use super::scope::Reach;
use crate::backend::{Event, Guest, Reply, Slot, Status};
use crate::tools::quoting::{self, plain};
use crate::tools::times::{Times, iso};

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
    status: Option<StatusView>,
    /// Whether its time is taken.
    busy: bool,
    /// What the user answered, if they were invited.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<ReplyView>,
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
    reply: ReplyView,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StatusView {
    Tentative,
    Cancelled,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReplyView {
    Waiting,
    Accepted,
    Declined,
    Tentative,
}

impl From<Reply> for ReplyView {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Waiting => Self::Waiting,
            Reply::Accepted => Self::Accepted,
            Reply::Declined => Self::Declined,
            Reply::Tentative => Self::Tentative,
        }
    }
}

/// An event whole.
pub(crate) fn event(event: Event, times: &Times) -> EventView {
    let (start, end, zone) = match &event.slot {
        Slot::Timed { start, end } => {
            (iso(&times.here(start)), iso(&times.here(end)), Some(times.zone_name()))
        }
        Slot::Days { first, last } => (first.to_string(), last.to_string(), None),
    };
    EventView {
        when: times.say(&event.slot),
        all_day: zone.is_none(),
        start,
        end,
        zone,
        repeats: event.rule.as_deref().map(|rule| times.say_rule(rule)),
        status: match event.status {
            Status::Confirmed => None,
            Status::Tentative => Some(StatusView::Tentative),
            Status::Cancelled => Some(StatusView::Cancelled),
        },
        guests: event.guests.into_iter().map(guest).collect(),
        more_guests: 0,
        organizer: event.organizer.map(|person| person.address),
        reply: event.reply.map(ReplyView::from),
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
pub(crate) fn short(mut full: Event, times: &Times) -> EventView {
    full.description = full.description.map(|text| plain(&text, EXCERPT));
    let more_guests = full.guests.len().saturating_sub(SHOWN_GUESTS);
    full.guests.truncate(SHOWN_GUESTS);
    EventView { more_guests, ..event(full, times) }
}

fn guest(Guest { person, reply }: Guest) -> GuestView {
    GuestView { address: person.address, name: person.name, reply: reply.into() }
}

/// What an event is to a person who is asked: `*Budget review*, Tue 24 Nov 2026 14:00 to 15:00,
/// 3 guests`.
pub(crate) fn in_words(event: &Event, asked_for: &str, times: &Times) -> String {
    let reach = if is_series(event, asked_for) { Reach::Series } else { Reach::One };
    summed_up(event, reach, times)
}

/// The same of so much of it.
pub(super) fn summed_up(event: &Event, reach: Reach, times: &Times) -> String {
    let rule = event.rule.as_deref().map(|rule| format!(" ({})", times.say_rule(rule)));
    let rule = rule.unwrap_or_default();
    let repeated = match reach {
        Reach::Series => format!(", and all its repetitions{rule}"),
        Reach::Following => format!(", and all its repetitions after it{rule}"),
        Reach::One if event.series.is_some() => " (of its repetitions this one alone)".to_owned(),
        Reach::One => String::new(),
    };
    let guests = match event.guests.len() {
        0 => String::new(),
        number => format!(", {}", quoting::count(number, "guest")),
    };
    format!("{}, {}{repeated}{guests}", quoting::title(&event.title), times.say(&event.slot))
}

/// Whether an id stands for all repetitions of the event that it was answered with.
pub(crate) fn is_series(event: &Event, asked_for: &str) -> bool {
    match &event.series {
        Some(series) => series == asked_for,
        None => event.rule.is_some(),
    }
}
