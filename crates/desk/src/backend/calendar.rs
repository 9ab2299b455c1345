//! What keeps events.

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use toolcrib_core::BoxFuture;

use super::{Change, Fault, Page, Person};

/// A keeper of events.
///
/// An event that repeats is seen as its occurrences: each has an id of its own, and
/// [`Event::series`] is the id of them all. What is done to an occurrence's id is done to that one,
/// what is done to the id of the series is done to all.
pub trait Calendar: Send + Sync {
    /// The calendars there are, the one that new events go to first.
    fn calendars<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<CalendarInfo>, Fault>>;

    /// The occurrences that overlap a stretch of time, by start and then by id.
    fn events<'a>(
        &'a self,
        owner: &'a str,
        query: EventQuery,
    ) -> BoxFuture<'a, Result<Page<Event>, Fault>>;

    /// One occurrence, or a series as its first.
    fn event<'a>(&'a self, owner: &'a str, id: &'a str) -> BoxFuture<'a, Result<Event, Fault>>;

    /// The event as it is kept.
    fn add<'a>(&'a self, owner: &'a str, event: NewEvent) -> BoxFuture<'a, Result<Event, Fault>>;

    /// The event as it is afterwards.
    fn change<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<Event, Fault>>;

    fn remove<'a>(&'a self, owner: &'a str, id: &'a str) -> BoxFuture<'a, Result<(), Fault>>;

    /// Changes an occurrence and all after it: its series ends before it, and another goes on from
    /// there with ids of its own, as the event says. What is done to the first of a series, or to
    /// an event that does not repeat, is done to all of it.
    fn change_following<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: EventChange,
    ) -> BoxFuture<'a, Result<Event, Fault>>;

    /// Removes an occurrence and all after it.
    fn remove_following<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), Fault>>;

    /// What whoever changes all after an occurrence has to know beforehand.
    fn note_of_following(&self) -> Option<&'static str> {
        None
    }

    /// Answers an invitation; an event that the owner was not invited to is `Invalid`.
    fn respond<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        reply: Reply,
        comment: Option<String>,
    ) -> BoxFuture<'a, Result<Event, Fault>>;
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CalendarInfo {
    pub id: String,
    pub name: String,
    pub can_write: bool,
}

/// When an event is. All-day events are days, and no moments at midnight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// The end is not part of it, and not before the start.
    Timed { start: Zoned, end: Zoned },
    /// Whole days, the last one included.
    Days { first: Date, last: Date },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: String,
    /// The id of all its repetitions, if it is one of several.
    pub series: Option<String>,
    /// The id of its calendar.
    pub calendar: String,
    pub title: String,
    pub slot: Slot,
    pub description: Option<String>,
    pub location: Option<String>,
    pub guests: Vec<Guest>,
    pub organizer: Option<Person>,
    /// The rule of its series, as RFC 5545 writes an RRULE: `FREQ=WEEKLY;BYDAY=MO`.
    pub rule: Option<String>,
    pub status: Status,
    /// Whether its time is taken.
    pub busy: bool,
    /// What the owner answered, if they were invited.
    pub reply: Option<Reply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Confirmed,
    Tentative,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guest {
    #[serde(flatten)]
    pub person: Person,
    pub reply: Reply,
}

/// What somebody says to an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    Waiting,
    Accepted,
    Declined,
    Tentative,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The first of [`Calendar::calendars`] if not set.
    pub calendar: Option<String>,
    pub title: String,
    pub slot: Slot,
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
    pub slot: Option<Slot>,
    pub description: Change<String>,
    pub location: Change<String>,
    /// The whole list; who stays keeps their answer.
    pub guests: Option<Vec<Person>>,
    /// Of a series alone.
    pub rule: Change<String>,
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
