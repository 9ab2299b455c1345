//! Calendar v3: <https://developers.google.com/workspace/calendar/api/v3/reference>.
//!
//! An id of ours is Google's id of the event, after that of its calendar and a `/` unless it is
//! the account's first one.

mod body;
mod event;
mod merge;
mod series_split;

use std::collections::HashMap;

use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolcrib_core::BoxFuture;

use super::client::{GoogleApi, GoogleRequest};
use super::error::missing;
use super::{GoogleBackend, GoogleOperationEffect, few};
use crate::backend::{
    BackendError, BackendErrorKind, BackendPage, CalendarBackend, CalendarEvent, CalendarInfo,
    EventChange, EventQuery, InvitationReply, NewEvent,
};
pub(super) use event::GoogleEvent;
pub(super) use merge::EventPosition;

/// Google's name for the account's first calendar.
const PRIMARY: &str = "primary";
/// Calendars of one account, in pages of 250.
const MOST_PAGES: usize = 4;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct CalendarListPage {
    items: Vec<CalendarListEntry>,
    next_page_token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct CalendarListEntry {
    id: String,
    summary: Option<String>,
    summary_override: Option<String>,
    access_role: Option<String>,
    primary: bool,
    deleted: bool,
}

/// An id of ours, taken apart.
#[derive(Clone, Copy)]
struct GoogleEventId<'a> {
    id: &'a str,
    /// As it stands in a path.
    calendar: &'a str,
    event: &'a str,
}

impl<'a> GoogleEventId<'a> {
    fn of(id: &'a str) -> Self {
        let (calendar, event) = id.rsplit_once('/').unwrap_or((PRIMARY, id));
        Self { id, calendar, event }
    }

    fn path(self) -> [&'a str; 4] {
        ["calendars", self.calendar, "events", self.event]
    }
}

impl GoogleBackend {
    async fn listed(&self) -> Result<Vec<CalendarListEntry>, BackendError> {
        let mut all = Vec::new();
        let mut page: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let ask = GoogleRequest::get(GoogleApi::Calendar, &["users", "me", "calendarList"])
                .with("maxResults", "250")
                .maybe("pageToken", page.take());
            let listed: CalendarListPage = self.wire().ask(ask).await?;
            all.extend(listed.items.into_iter().filter(|it| !it.deleted && !it.id.is_empty()));
            page = listed.next_page_token.filter(|token| !token.is_empty());
            if page.is_none() {
                break;
            }
        }
        // The sort is stable: beside this the order is the account's own.
        all.sort_by_key(|it| (!it.primary, !it.can_write()));
        Ok(all)
    }

    /// The id of the account's first calendar.
    async fn primary(&self) -> Result<&str, BackendError> {
        let find = || async {
            let ask =
                GoogleRequest::get(GoogleApi::Calendar, &["users", "me", "calendarList", PRIMARY]);
            let listed: CalendarListEntry = self.wire().ask(ask).await?;
            Ok(listed.id)
        };
        self.shared.primary.get_or_try_init(find).await.map(String::as_str)
    }

    /// The id of a calendar as Google's answers name it.
    async fn named<'a>(&'a self, calendar: &'a str) -> Result<&'a str, BackendError> {
        if calendar == PRIMARY { self.primary().await } else { Ok(calendar) }
    }

    async fn wired(&self, place: GoogleEventId<'_>) -> Result<GoogleEvent, BackendError> {
        let found: Result<GoogleEvent, BackendError> =
            self.wire().ask(GoogleRequest::get(GoogleApi::Calendar, &place.path())).await;
        let found = found.map_err(|fault| missing(fault, "event", place.id))?;
        // What was deleted can still be read.
        if found.is_cancelled() { Err(BackendError::no("event", place.id)) } else { Ok(found) }
    }

    /// An event as we tell of it. `series_rule`: what it repeats by, if it is one of several.
    async fn read_event(
        &self,
        wired: &GoogleEvent,
        calendar: &str,
        series_rule: Option<String>,
    ) -> Result<CalendarEvent, BackendError> {
        let primary = self.primary().await?;
        let calendar = if calendar == PRIMARY { primary } else { calendar };
        let mut event = wired.event(calendar, primary, None)?;
        event.rule = event.rule.or(series_rule);
        Ok(event)
    }

    /// What an occurrence repeats by, if it is one.
    async fn series_rule(
        &self,
        wired: &GoogleEvent,
        calendar: &str,
    ) -> Result<Option<String>, BackendError> {
        match wired.recurring_event_id.as_deref() {
            Some(series) => self.rule(calendar, series).await,
            None => Ok(None),
        }
    }

    /// What an occurrence repeats by: only the series says it.
    async fn rule(&self, calendar: &str, series: &str) -> Result<Option<String>, BackendError> {
        let ask =
            GoogleRequest::get(GoogleApi::Calendar, &["calendars", calendar, "events", series]);
        match self.wire().ask::<GoogleEvent>(ask).await {
            Ok(series) => Ok(series.rule()),
            // It went away just now, or is not ours to see.
            Err(fault) if fault.kind == BackendErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    async fn found(&self, query: EventQuery) -> Result<BackendPage<CalendarEvent>, BackendError> {
        let none = BackendPage { items: Vec::new(), next: None, unread: Vec::new() };
        if query.from >= query.until || query.limit == 0 {
            return Ok(none);
        }
        let after = query.cursor.as_deref().map(EventPosition::read).transpose()?;
        let calendars = if let Some(calendar) = &query.calendar {
            vec![self.named(calendar).await?.to_owned()]
        } else {
            // Of some calendars others show only when somebody is busy.
            let readable = self.listed().await?.into_iter().filter(CalendarListEntry::can_read);
            readable.map(|it| it.id).collect()
        };
        let primary = self.primary().await?;
        let stretches = calendars.iter().map(|calendar| {
            merge::stretch(self.wire(), (calendar, primary), &query, after.as_ref())
        });
        let mut all: Vec<_> = few(stretches.collect()).await?.into_iter().flatten().collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        let is_more = all.len() > query.limit;
        all.truncate(query.limit);
        let next = all.last().filter(|_| is_more).map(|(key, _)| key.to_string());
        let mut items: Vec<CalendarEvent> = all.into_iter().map(|(_, event)| event).collect();
        self.fill_in_rules(&mut items).await?;
        Ok(BackendPage { items, next, unread: Vec::new() })
    }

    async fn fill_in_rules(&self, events: &mut [CalendarEvent]) -> Result<(), BackendError> {
        let mut rules: HashMap<String, Option<String>> = HashMap::new();
        let mut asked = Vec::new();
        for event in events.iter() {
            let Some(series) = event.series.as_deref() else { continue };
            if rules.insert(series.to_owned(), None).is_none() {
                let (id, calendar) = (series.to_owned(), event.calendar.clone());
                asked.push(async move {
                    let place = GoogleEventId::of(&id);
                    self.rule(&calendar, place.event).await.map(|rule| (id, rule))
                });
            }
        }
        rules.extend(few(asked).await?);
        for event in events {
            let rule = event.series.as_ref().and_then(|series| rules.get(series));
            event.rule = rule.cloned().flatten();
        }
        Ok(())
    }

    async fn added(&self, event: NewEvent) -> Result<CalendarEvent, BackendError> {
        let calendar = event.calendar.as_deref().unwrap_or(PRIMARY);
        // Before it is written, so that no failure comes after.
        self.primary().await?;
        let notify = (!event.guests.is_empty()).then_some("all");
        let body = body::new_event(&event)?;
        let ask = GoogleRequest::post(
            GoogleApi::Calendar,
            &["calendars", calendar, "events"],
            Value::Object(body),
        )
        .maybe("sendUpdates", notify);
        let added: Result<GoogleEvent, BackendError> = self.wire().ask(ask).await;
        let added = added.map_err(|fault| missing(fault, "calendar", calendar))?;
        self.read_event(&added, calendar, None).await.map_err(after_writing)
    }

    async fn changed(&self, id: &str, change: EventChange) -> Result<CalendarEvent, BackendError> {
        let place = GoogleEventId::of(id);
        self.primary().await?;
        let before = self.wired(place).await?;
        // Before it is written, so that no failure comes after.
        let rule = self.series_rule(&before, place.calendar).await?;
        let has_guests = !before.attendees.is_empty()
            || change.guests.as_ref().is_some_and(|guests| !guests.is_empty());
        let etag = before.etag.clone();
        let body = body::change(&before, change)?;
        let changed = self.patch(place, body, etag, has_guests).await?;
        self.read_event(&changed, place.calendar, rule).await.map_err(after_writing)
    }

    async fn responded(
        &self,
        id: &str,
        reply: InvitationReply,
        comment: Option<String>,
    ) -> Result<CalendarEvent, BackendError> {
        let place = GoogleEventId::of(id);
        self.primary().await?;
        let before = self.wired(place).await?;
        let rule = self.series_rule(&before, place.calendar).await?;
        let Some(own) = before.own_address() else {
            return Err(BackendError::new(
                BackendErrorKind::Invalid,
                "the user is not a guest of this event, so there is nothing to answer",
            ));
        };
        let mut guest = Map::new();
        guest.insert("email".to_owned(), json!(own));
        guest.insert("responseStatus".to_owned(), json!(event::status_of(reply)));
        if let Some(comment) = comment {
            guest.insert("comment".to_owned(), json!(comment));
        }
        // The others stay as they are, as the document says of `attendeesOmitted`.
        let mut body = Map::new();
        body.insert("attendeesOmitted".to_owned(), json!(true));
        body.insert("attendees".to_owned(), json!([guest]));
        let changed = self.patch(place, body, None, true).await?;
        self.read_event(&changed, place.calendar, rule).await.map_err(after_writing)
    }

    async fn patch(
        &self,
        place: GoogleEventId<'_>,
        body: Map<String, Value>,
        etag: Option<String>,
        has_guests: bool,
    ) -> Result<GoogleEvent, BackendError> {
        let ask = GoogleRequest::patch(GoogleApi::Calendar, &place.path(), Value::Object(body))
            .unless_changed(etag)
            .maybe("sendUpdates", has_guests.then_some("all"));
        self.wire().ask(ask).await.map_err(|fault| missing(fault, "event", place.id))
    }

    async fn removed(&self, id: &str) -> Result<(), BackendError> {
        let place = GoogleEventId::of(id);
        let before = self.wired(place).await?;
        let notify = (!before.attendees.is_empty()).then_some("all");
        let ask = GoogleRequest::new(Method::DELETE, GoogleApi::Calendar, &place.path())
            .maybe("sendUpdates", notify);
        self.wire().tell(ask).await.map_err(|fault| missing(fault, "event", place.id))
    }
}

/// It was written, and what is said of it cannot be read.
fn after_writing(fault: BackendError) -> BackendError {
    let message = "Google did it, and cannot tell how it is now: look before you repeat it";
    let kind = BackendErrorKind::Unknown;
    BackendError { cause: Some(fault.message.into()), ..BackendError::new(kind, message) }
}

impl CalendarListEntry {
    fn can_read(&self) -> bool {
        self.can_write() || self.access_role.as_deref() == Some("reader")
    }

    fn can_write(&self) -> bool {
        matches!(self.access_role.as_deref(), Some("owner" | "writer"))
    }
}

impl CalendarBackend for GoogleBackend {
    fn calendars<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Vec<CalendarInfo>, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, async {
            let info = |it: CalendarListEntry| CalendarInfo {
                can_write: it.can_write(),
                name: it.summary_override.or(it.summary).unwrap_or_else(|| it.id.clone()),
                id: it.id,
            };
            Ok(self.listed().await?.into_iter().map(info).collect())
        }))
    }

    fn events<'a>(
        &'a self,
        _: &'a str,
        query: EventQuery,
    ) -> BoxFuture<'a, Result<BackendPage<CalendarEvent>, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, self.found(query)))
    }

    fn event<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Reading, async move {
            let place = GoogleEventId::of(id);
            let wired = self.wired(place).await?;
            let rule = self.series_rule(&wired, place.calendar).await?;
            self.read_event(&wired, place.calendar, rule).await
        }))
    }

    fn add<'a>(
        &'a self,
        _: &'a str,
        event: NewEvent,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.added(event)))
    }

    fn change<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.changed(id, change)))
    }

    fn remove<'a>(&'a self, _: &'a str, id: &'a str) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.removed(id)))
    }

    fn change_following<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.changed_following(id, change)))
    }

    fn remove_following<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.removed_following(id)))
    }

    fn note_of_following(&self) -> Option<&'static str> {
        Some("repetitions after it that were changed or deleted by themselves are as the others")
    }

    fn respond<'a>(
        &'a self,
        _: &'a str,
        id: &'a str,
        reply: InvitationReply,
        comment: Option<String>,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>> {
        Box::pin(self.within(GoogleOperationEffect::Writing, self.responded(id, reply, comment)))
    }
}
