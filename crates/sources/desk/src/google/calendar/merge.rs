//! Events of several calendars in one order, in pages.
//!
//! A cursor is the place of the last event that was told. What comes after it ends after it
//! begins, so the next page is asked for from there, and whatever came before is left out.

use std::cmp::Ordering;
use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::Deserialize;

use super::event::{GoogleEvent, zone};
use crate::backend::{BackendError, BackendErrorKind, CalendarEvent, EventQuery, EventSlot};
use crate::google::client::{GoogleApi, GoogleClient, GoogleRequest};
use crate::google::error::missing;

/// Pages of one calendar for one page of ours.
const MOST_PAGES: usize = 20;
/// Most events on a page of Google's.
const LARGEST_PAGE: usize = 250;

/// Where an event stands among others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::google) struct EventPosition {
    start: Timestamp,
    id: String,
}

impl Ord for EventPosition {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.start, &self.id).cmp(&(other.start, &other.id))
    }
}

impl PartialOrd for EventPosition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for EventPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(format!("{} {}", self.start, self.id)))
    }
}

impl EventPosition {
    pub(in crate::google) fn read(cursor: &str) -> Result<Self, BackendError> {
        let text = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let key = text
            .as_deref()
            .and_then(|text| text.split_once(' '))
            .and_then(|(start, id)| Some(Self { start: start.parse().ok()?, id: id.to_owned() }));
        let unknown = || {
            BackendError::new(BackendErrorKind::Invalid, "this cursor is none of ours: start anew")
        };
        key.ok_or_else(unknown)
    }

    /// Days begin at the midnight of their calendar.
    fn of(event: &CalendarEvent, zone: &TimeZone) -> Option<Self> {
        let start = match &event.slot {
            EventSlot::Timed { start, .. } => start.timestamp(),
            EventSlot::Days { first, .. } => first.to_zoned(zone.clone()).ok()?.timestamp(),
        };
        Some(Self { start, id: event.id.clone() })
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GoogleEventPage {
    items: Vec<GoogleEvent>,
    time_zone: Option<String>,
    next_page_token: Option<String>,
}

/// The events of one calendar that come after a place: all, or enough for a page of ours.
pub(super) async fn stretch(
    wire: &GoogleClient,
    (calendar, primary): (&str, &str),
    query: &EventQuery,
    after: Option<&EventPosition>,
) -> Result<Vec<(EventPosition, CalendarEvent)>, BackendError> {
    // The bound is exclusive, and an event may have no length: we look again.
    let from = after.map_or(query.from, |key| query.from.max(key.start));
    let from = from.checked_sub(1.second()).unwrap_or(from);
    let text = query.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let size = query.limit.saturating_add(1).clamp(25, LARGEST_PAGE);
    let mut found: Vec<(EventPosition, CalendarEvent)> = Vec::new();
    let mut page: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let ask = GoogleRequest::get(GoogleApi::Calendar, &["calendars", calendar, "events"])
            .with("singleEvents", "true")
            .with("orderBy", "startTime")
            .with("timeMin", from.to_string())
            .with("timeMax", query.until.to_string())
            .with("maxResults", size.to_string())
            .maybe("q", text)
            .maybe("pageToken", page.take());
        let events: Result<GoogleEventPage, BackendError> = wire.ask(ask).await;
        let events = events.map_err(|fault| missing(fault, "calendar", calendar))?;
        let zone = zone(events.time_zone.as_deref()).unwrap_or(TimeZone::UTC);
        for wired in events.items.iter().filter(|it| !it.is_cancelled()) {
            let event = wired.event(calendar, primary, Some(&zone))?;
            let key = EventPosition::of(&event, &zone);
            let key = key.ok_or_else(|| crate::google::error::broken("a day beyond all days"))?;
            let overlaps = key.start >= query.from || ends_after(&event, query.from, &zone);
            if overlaps && after.is_none_or(|after| key > *after) {
                found.push((key, event));
            }
        }
        page = events.next_page_token.filter(|token| !token.is_empty());
        if page.is_none() || is_enough(&mut found, query.limit) {
            return Ok(found);
        }
    }
    Err(BackendError::new(
        BackendErrorKind::Broken,
        format!("Google gives more than {MOST_PAGES} pages of events: ask for a shorter time"),
    ))
}

fn ends_after(event: &CalendarEvent, from: Timestamp, zone: &TimeZone) -> bool {
    match &event.slot {
        EventSlot::Timed { end, .. } => end.timestamp() > from,
        // The last day is part of it.
        EventSlot::Days { last, .. } => {
            let end = last.tomorrow().and_then(|end| end.to_zoned(zone.clone()));
            end.is_ok_and(|end| end.timestamp() > from)
        }
    }
}

/// Whether nothing that is still to come can stand among the first `limit`, nor right after them:
/// what begins at the same moment comes in any order.
fn is_enough(found: &mut [(EventPosition, CalendarEvent)], limit: usize) -> bool {
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    let last = limit.checked_sub(1).and_then(|at| found.get(at));
    match (last, found.last()) {
        (Some((last, _)), Some((newest, _))) => newest.start > last.start,
        _ => false,
    }
}
