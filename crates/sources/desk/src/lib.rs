//! The desk: calendar, mail and tasks as tools, over backends that keep them.
//!
//! Read [`backend`] first: what keeps a calendar, tasks or mail is behind three traits, and the
//! tools know nothing else of it. Then [`DeskToolSource`], which is what a crib is given.
//!
//! [`embedded`] keeps all three in a file. What keeps them at servers of others is behind features:
//! `caldav`, `google` and `imap`.

pub mod backend;
#[cfg(feature = "caldav")]
pub mod caldav;
mod calendar_object;
pub mod embedded;
#[cfg(feature = "google")]
pub mod google;
pub mod ical;
mod mail;
mod owner;
mod recurrence_rule;
mod source;
mod time_settings;
mod tools;

#[cfg(feature = "imap")]
pub use mail::connection::{MailLogin, MailServer};
#[cfg(feature = "imap")]
pub use mail::imap;
pub use mail::mime;
pub use owner::CalendarOwner;
pub use source::{DeskBackends, DeskToolSource};
pub use time_settings::{DeskClock, DeskTimeSettings};
