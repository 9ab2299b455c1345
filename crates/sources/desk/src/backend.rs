//! What keeps a calendar, tasks and mail: three traits, so that each may have its own keeper.
//!
//! `owner` is whose data it is where a backend keeps several people's: the tenant of the caller.
//! A backend that speaks for one account, as its credentials say, ignores it.
//!
//! Every method is one attempt with a bounded time; the gate repeats what is harmless to repeat.

mod calendar;
mod error;
mod mail;
mod tasks;

pub use calendar::{
    CalendarBackend, CalendarEvent, CalendarInfo, EventChange, EventGuest, EventQuery, EventSlot,
    EventStatus, InvitationReply, NewEvent,
};
pub use error::{BackendError, BackendErrorKind};
pub use mail::{
    Attachment, MailBackend, MailFile, MailLabel, MailMessage, MailQuery, MessageHead,
    MessageMarks, NewMessage, ReplyContext,
};
use serde::Serialize;
pub use tasks::{NewTask, Task, TaskChange, TaskDue, TaskList, TaskQuery, TasksBackend};

/// One page of a list. `next` is what the following query takes as its `cursor`; it is opaque.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendPage<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
    /// What is kept and cannot be read, each with its id and the reason, and with no more of them
    /// than a person reads.
    pub unread: Vec<String>,
}

/// What an update does to a field: an absent field and an explicit null are two things.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldChange<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> FieldChange<T> {
    /// What the field is afterwards.
    pub fn over(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Keep => before,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

/// Somebody with an address of mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Person {
    pub address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
