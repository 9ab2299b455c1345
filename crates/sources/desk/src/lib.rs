//! The desk: calendar, mail and tasks as tools, over backends that keep them.
//!
//! Read [`backend`] first: what keeps a calendar, tasks or mail is behind three traits, and the
//! tools know nothing else of it. Then [`DeskToolSource`], which is what a crib is given.

pub mod backend;
pub mod caldav;
mod calendar_object;
pub mod embedded;
pub mod google;
pub mod ical;
mod mail;
mod owner;
mod recurrence_rule;
mod source;
mod time_settings;
mod tools;

pub use mail::connection::{MailLogin, MailServer};
pub use mail::{imap, mime};
pub use owner::CalendarOwner;
pub use source::{DeskBackends, DeskToolSource};
pub use time_settings::{DeskClock, DeskTimeSettings};
