//! What keeps a calendar, tasks and mail: three traits, so that each may have its own keeper.
//!
//! `owner` is whose data it is where a backend keeps several people's: the tenant of the caller.
//! A backend that speaks for one account, as its credentials say, ignores it.
//!
//! Every method is one attempt with a bounded time; the gate repeats what is harmless to repeat.

mod calendar;
mod error;
mod field_change;
mod mail;
mod page;
mod person;
mod tasks;

pub use calendar::{
    CalendarBackend, CalendarEvent, CalendarInfo, EventChange, EventGuest, EventQuery, EventSlot,
    EventStatus, InvitationReply, NewEvent,
};
pub use error::{BackendError, BackendErrorKind};
pub use field_change::FieldChange;
pub use mail::{
    Attachment, MailBackend, MailFile, MailLabel, MailMessage, MailQuery, MessageHead,
    MessageMarks, NewMessage, ReplyContext,
};
pub use page::BackendPage;
pub use person::Person;
pub use tasks::{NewTask, Task, TaskChange, TaskDue, TaskList, TaskQuery, TasksBackend};
