//! An occurrence and all after it: the series ends before it, and another one goes on, as
//! <https://developers.google.com/workspace/calendar/api/guides/recurringevents> has it.

use http::Method;
use serde_json::{Map, Value, json};

use super::super::GoogleBackend;
use super::event::GoogleEvent;
use super::{GoogleEventId, after_writing, body};
use crate::backend::{BackendError, BackendErrorKind, CalendarEvent, EventChange, EventSlot};
use crate::google::client::{GoogleApi, GoogleRequest};
use crate::google::error::{broken, missing};
use crate::ical::DateOrTime;
use crate::recurrence_rule;

/// What goes along into the series that goes on; its times, rule and guests are written anew.
const COPIED: [&str; 11] = [
    "summary",
    "description",
    "location",
    "colorId",
    "transparency",
    "visibility",
    "reminders",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
    "extendedProperties",
];

/// A series at one of its occurrences.
struct GoogleSeriesSplit {
    series: GoogleEvent,
    /// As Google has it, with what we know nothing of.
    fields: Map<String, Value>,
    /// Where the occurrence is by the series.
    slot: EventSlot,
    before: String,
    after: String,
}

impl GoogleBackend {
    pub(super) async fn changed_following(
        &self,
        id: &str,
        change: EventChange,
    ) -> Result<CalendarEvent, BackendError> {
        let place = GoogleEventId::of(id);
        let occurrence = self.wired(place).await?;
        let Some(series) = occurrence.recurring_event_id.clone() else {
            return self.changed(id, change).await;
        };
        self.primary().await?;
        let is_moved = change.slot.is_some();
        let series = GoogleEventId { event: &series, ..place };
        let Some(cut) = self.cut(series, &occurrence, is_moved).await? else {
            return self.changed(&named(series), change).await;
        };
        let guests = !cut.series.attendees.is_empty()
            || change.guests.as_ref().is_some_and(|guests| !guests.is_empty());
        let fresh = body::following(&cut.series, &cut.slot, &cut.after, change)?;
        let copied = cut.fields.iter().filter(|(name, _)| COPIED.contains(&name.as_str()));
        let mut body: Map<String, Value> =
            copied.map(|(name, value)| (name.clone(), value.clone())).collect();
        body.extend(fresh);
        body.retain(|_, value| !value.is_null());
        // First the new one: what fails after it leaves something twice, and nothing out.
        let ask = GoogleRequest::post(
            GoogleApi::Calendar,
            &["calendars", place.calendar, "events"],
            Value::Object(body),
        );
        let added: Result<GoogleEvent, BackendError> =
            self.wire().ask(ask.maybe("sendUpdates", guests.then_some("all"))).await;
        let added = added.map_err(|fault| missing(fault, "event", id))?;
        if let Err(fault) = self.end(series, &cut).await {
            return Err(self.taken_back(place, &added.id, fault).await);
        }
        self.read_event(&added, place.calendar, None).await.map_err(after_writing)
    }

    pub(super) async fn removed_following(&self, id: &str) -> Result<(), BackendError> {
        let place = GoogleEventId::of(id);
        let occurrence = self.wired(place).await?;
        let Some(series) = occurrence.recurring_event_id.clone() else {
            return self.removed(id).await;
        };
        let series = GoogleEventId { event: &series, ..place };
        match self.cut(series, &occurrence, false).await? {
            Some(cut) => self.end(series, &cut).await,
            None => self.removed(&named(series)).await,
        }
    }

    /// `None`: the occurrence is the first.
    async fn cut(
        &self,
        place: GoogleEventId<'_>,
        occurrence: &GoogleEvent,
        is_moved: bool,
    ) -> Result<Option<GoogleSeriesSplit>, BackendError> {
        let found: Result<Value, BackendError> =
            self.wire().ask(GoogleRequest::get(GoogleApi::Calendar, &place.path())).await;
        let found = found.map_err(|fault| missing(fault, "event", place.id))?;
        let odd = || broken("a series that cannot be read");
        let series: GoogleEvent =
            serde_json::from_value(found.clone()).map_err(|cause| odd().because(cause))?;
        let Value::Object(fields) = found else { return Err(odd()) };
        let whole = series.slot(None)?;
        let at = occurrence.original().ok_or_else(odd)?;
        let (slot, is_first) = slot_at(&whole, &at).ok_or_else(odd)?;
        if is_moved && occurrence.slot(None)? != slot {
            return Err(BackendError::new(
                BackendErrorKind::Invalid,
                "this repetition was moved by itself: move it alone, or begin with another one",
            ));
        }
        if is_first {
            return Ok(None);
        }
        let rule = series.rule().ok_or_else(odd)?;
        let at = match &slot {
            EventSlot::Timed { start, .. } => DateOrTime::At(start.clone()),
            EventSlot::Days { first, .. } => DateOrTime::Day(*first),
        };
        let (before, after) = recurrence_rule::parted(&rule, &whole, &at)?;
        Ok(Some(GoogleSeriesSplit { series, fields, slot, before, after }))
    }

    /// Ends a series before an occurrence, unless somebody changed it meanwhile.
    async fn end(
        &self,
        place: GoogleEventId<'_>,
        cut: &GoogleSeriesSplit,
    ) -> Result<(), BackendError> {
        let others = cut.series.recurrence.iter().filter(|line| !line.starts_with("RRULE:"));
        let lines = [format!("RRULE:{}", cut.before)].into_iter().chain(others.cloned());
        let mut body = Map::new();
        body.insert("recurrence".to_owned(), json!(lines.collect::<Vec<_>>()));
        let has_guests = !cut.series.attendees.is_empty();
        self.patch(place, body, cut.series.etag.clone(), has_guests).await.map(drop)
    }

    /// Takes the series that was to go on back, since the other one could not be ended.
    async fn taken_back(
        &self,
        place: GoogleEventId<'_>,
        new: &str,
        fault: BackendError,
    ) -> BackendError {
        let path = ["calendars", place.calendar, "events", new];
        let gone =
            self.wire().tell(GoogleRequest::new(Method::DELETE, GoogleApi::Calendar, &path)).await;
        if gone.is_ok() && fault.kind != BackendErrorKind::Unknown {
            return fault;
        }
        let message = "it could not be told whether the series was parted: look at its repetitions \
                       before you repeat it";
        BackendError {
            cause: Some(fault.message.into()),
            ..BackendError::new(BackendErrorKind::Unknown, message)
        }
    }
}

/// An id as we have it.
fn named(place: GoogleEventId<'_>) -> String {
    match place.id.rsplit_once('/') {
        Some((calendar, _)) => format!("{calendar}/{}", place.event),
        None => place.event.to_owned(),
    }
}

/// The slot of a series at another start, and whether that is its own.
fn slot_at(whole: &EventSlot, at: &DateOrTime) -> Option<(EventSlot, bool)> {
    match (whole, at) {
        (EventSlot::Timed { start, end }, DateOrTime::At(at)) => {
            let at = at.with_time_zone(start.time_zone().clone());
            let until = at.checked_add(start.duration_until(end)).ok()?;
            let is_first = at == *start;
            Some((EventSlot::Timed { start: at, end: until }, is_first))
        }
        (EventSlot::Days { first, last }, DateOrTime::Day(day)) => {
            let slot = EventSlot::Days { first: *day, last: day.checked_add(*last - *first).ok()? };
            Some((slot, day == first))
        }
        (EventSlot::Timed { .. }, DateOrTime::Day(_))
        | (EventSlot::Days { .. }, DateOrTime::At(_)) => None,
    }
}
