//! An occurrence and all after it: the series ends before it, and another one goes on, as
//! <https://developers.google.com/workspace/calendar/api/guides/recurringevents> has it.

use http::Method;
use serde_json::{Map, Value, json};

use super::super::Google;
use super::event::Wired;
use super::{Place, after_writing, body};
use crate::backend::{Event, EventChange, Fault, FaultKind, Slot};
use crate::google::client::{Api, Ask};
use crate::google::error::{broken, missing};
use crate::ical::Moment;
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
struct Cut {
    series: Wired,
    /// As Google has it, with what we know nothing of.
    fields: Map<String, Value>,
    /// Where the occurrence is by the series.
    slot: Slot,
    before: String,
    after: String,
}

impl Google {
    pub(super) async fn changed_following(
        &self,
        id: &str,
        change: EventChange,
    ) -> Result<Event, Fault> {
        let place = Place::of(id);
        let occurrence = self.wired(place).await?;
        let Some(series) = occurrence.recurring_event_id.clone() else {
            return self.changed(id, change).await;
        };
        self.primary().await?;
        let is_moved = change.slot.is_some();
        let series = Place { event: &series, ..place };
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
        let ask =
            Ask::post(Api::Calendar, &["calendars", place.calendar, "events"], Value::Object(body));
        let added: Result<Wired, Fault> =
            self.wire().ask(ask.maybe("sendUpdates", guests.then_some("all"))).await;
        let added = added.map_err(|fault| missing(fault, "event", id))?;
        if let Err(fault) = self.end(series, &cut).await {
            return Err(self.taken_back(place, &added.id, fault).await);
        }
        self.read_event(&added, place.calendar, None).await.map_err(after_writing)
    }

    pub(super) async fn removed_following(&self, id: &str) -> Result<(), Fault> {
        let place = Place::of(id);
        let occurrence = self.wired(place).await?;
        let Some(series) = occurrence.recurring_event_id.clone() else {
            return self.removed(id).await;
        };
        let series = Place { event: &series, ..place };
        match self.cut(series, &occurrence, false).await? {
            Some(cut) => self.end(series, &cut).await,
            None => self.removed(&named(series)).await,
        }
    }

    /// `None`: the occurrence is the first.
    async fn cut(
        &self,
        place: Place<'_>,
        occurrence: &Wired,
        is_moved: bool,
    ) -> Result<Option<Cut>, Fault> {
        let found: Result<Value, Fault> =
            self.wire().ask(Ask::get(Api::Calendar, &place.path())).await;
        let found = found.map_err(|fault| missing(fault, "event", place.id))?;
        let odd = || broken("a series that cannot be read");
        let series: Wired =
            serde_json::from_value(found.clone()).map_err(|cause| odd().because(cause))?;
        let Value::Object(fields) = found else { return Err(odd()) };
        let whole = series.slot(None)?;
        let at = occurrence.original().ok_or_else(odd)?;
        let (slot, is_first) = slot_at(&whole, &at).ok_or_else(odd)?;
        if is_moved && occurrence.slot(None)? != slot {
            return Err(Fault::new(
                FaultKind::Invalid,
                "this repetition was moved by itself: move it alone, or begin with another one",
            ));
        }
        if is_first {
            return Ok(None);
        }
        let rule = series.rule().ok_or_else(odd)?;
        let at = match &slot {
            Slot::Timed { start, .. } => Moment::At(start.clone()),
            Slot::Days { first, .. } => Moment::Day(*first),
        };
        let (before, after) = recurrence_rule::parted(&rule, &whole, &at)?;
        Ok(Some(Cut { series, fields, slot, before, after }))
    }

    /// Ends a series before an occurrence, unless somebody changed it meanwhile.
    async fn end(&self, place: Place<'_>, cut: &Cut) -> Result<(), Fault> {
        let others = cut.series.recurrence.iter().filter(|line| !line.starts_with("RRULE:"));
        let lines = [format!("RRULE:{}", cut.before)].into_iter().chain(others.cloned());
        let mut body = Map::new();
        body.insert("recurrence".to_owned(), json!(lines.collect::<Vec<_>>()));
        let has_guests = !cut.series.attendees.is_empty();
        self.patch(place, body, cut.series.etag.clone(), has_guests).await.map(drop)
    }

    /// Takes the series that was to go on back, since the other one could not be ended.
    async fn taken_back(&self, place: Place<'_>, new: &str, fault: Fault) -> Fault {
        let path = ["calendars", place.calendar, "events", new];
        let gone = self.wire().tell(Ask::new(Method::DELETE, Api::Calendar, &path)).await;
        if gone.is_ok() && fault.kind != FaultKind::Unknown {
            return fault;
        }
        let message = "it could not be told whether the series was parted: look at its repetitions \
                       before you repeat it";
        Fault { cause: Some(fault.message.into()), ..Fault::new(FaultKind::Unknown, message) }
    }
}

/// An id as we have it.
fn named(place: Place<'_>) -> String {
    match place.id.rsplit_once('/') {
        Some((calendar, _)) => format!("{calendar}/{}", place.event),
        None => place.event.to_owned(),
    }
}

/// The slot of a series at another start, and whether that is its own.
fn slot_at(whole: &Slot, at: &Moment) -> Option<(Slot, bool)> {
    match (whole, at) {
        (Slot::Timed { start, end }, Moment::At(at)) => {
            let at = at.with_time_zone(start.time_zone().clone());
            let until = at.checked_add(start.duration_until(end)).ok()?;
            let is_first = at == *start;
            Some((Slot::Timed { start: at, end: until }, is_first))
        }
        (Slot::Days { first, last }, Moment::Day(day)) => {
            let slot = Slot::Days { first: *day, last: day.checked_add(*last - *first).ok()? };
            Some((slot, day == first))
        }
        (Slot::Timed { .. }, Moment::Day(_)) | (Slot::Days { .. }, Moment::At(_)) => None,
    }
}
