//! What keeps events.

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use toolcrib_core::BoxFuture;

use super::error::BackendError;
use super::field_change::FieldChange;
use super::page::BackendPage;
use super::person::Person;

/// A keeper of events.
///
/// An event that repeats is seen as its occurrences: each has an id of its own, and
/// [`CalendarEvent::series`] is the id of them all. What is done to an occurrence's id is done to
/// that one, what is done to the id of the series is done to all.
pub trait CalendarBackend: Send + Sync {
    /// The calendars there are, the one that new events go to first.
    fn calendars<'a>(
        &'a self,
        owner: &'a str,
    ) -> BoxFuture<'a, Result<Vec<CalendarInfo>, BackendError>>;

    /// The occurrences that overlap a stretch of time, by start and then by id.
    fn events<'a>(
        &'a self,
        owner: &'a str,
        query: EventQuery,
    ) -> BoxFuture<'a, Result<BackendPage<CalendarEvent>, BackendError>>;

    /// One occurrence, or a series as its first.
    fn event<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>>;

    /// The event as it is kept.
    fn add<'a>(
        &'a self,
        owner: &'a str,
        event: NewEvent,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>>;

    /// The event as it is afterwards.
    fn change<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>>;

    fn remove<'a>(&'a self, owner: &'a str, id: &'a str)
    -> BoxFuture<'a, Result<(), BackendError>>;

    /// Changes an occurrence and all after it: its series ends before it, and another goes on from
    /// there with ids of its own, as the event says. What is done to the first of a series, or to
    /// an event that does not repeat, is done to all of it.
    fn change_following<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>>;

    /// Removes an occurrence and all after it.
    fn remove_following<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>>;

    /// What whoever changes all after an occurrence has to know beforehand.
    fn note_of_following(&self) -> Option<&'static str> {
        None
    }

    /// Answers an invitation; an event that the owner was not invited to is `Invalid`.
    fn respond<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        reply: InvitationReply,
        comment: Option<String>,
    ) -> BoxFuture<'a, Result<CalendarEvent, BackendError>>;
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CalendarInfo {
    pub id: String,
    pub name: String,
    pub can_write: bool,
}

/// When an event is. All-day events are days, and no moments at midnight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventSlot {
    /// The end is not part of it, and not before the start.
    Timed { start: Zoned, end: Zoned },
    /// Whole days, the last one included.
    Days { first: Date, last: Date },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarEvent {
    pub id: String,
    /// The id of all its repetitions, if it is one of several.
    pub series: Option<String>,
    /// The id of its calendar.
    pub calendar: String,
    pub title: String,
    pub slot: EventSlot,
    pub description: Option<String>,
    pub location: Option<String>,
    pub guests: Vec<EventGuest>,
    pub organizer: Option<Person>,
    /// The rule of its series, as RFC 5545 writes an RRULE: `FREQ=WEEKLY;BYDAY=MO`.
    pub rule: Option<String>,
    pub status: EventStatus,
    /// Whether its time is taken.
    pub busy: bool,
    /// What the owner answered, if they were invited.
    pub reply: Option<InvitationReply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventStatus {
    Confirmed,
    Tentative,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventGuest {
    #[serde(flatten)]
    pub person: Person,
    pub reply: InvitationReply,
}

/// What somebody says to an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InvitationReply {
    Waiting,
    Accepted,
    Declined,
    Tentative,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The first of [`CalendarBackend::calendars`] if not set.
    pub calendar: Option<String>,
    pub title: String,
    pub slot: EventSlot,
    pub description: Option<String>,
    pub location: Option<String>,
    pub guests: Vec<Person>,
    /// An RRULE, which was read before.
    pub rule: Option<String>,
    pub busy: bool,
}

/// What is not named stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventChange {
    pub title: Option<String>,
    pub slot: Option<EventSlot>,
    pub description: FieldChange<String>,
    pub location: FieldChange<String>,
    /// The whole list; who stays keeps their answer.
    pub guests: Option<Vec<Person>>,
    /// Of a series alone.
    pub rule: FieldChange<String>,
    pub busy: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventQuery {
    /// All calendars if not set.
    pub calendar: Option<String>,
    pub from: Timestamp,
    pub until: Timestamp,
    /// Words that all must stand in title, description, location or guests, case aside.
    pub text: Option<String>,
    pub limit: usize,
    pub cursor: Option<String>,
}
