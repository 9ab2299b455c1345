//! The embedded backend: calendar, tasks and mail of each tenant in one file of SQLite.
//!
//! The file is apart from the record of calls: that one is pruned, owned by one process and may
//! be thrown away, and none of it holds for somebody's calendar.

mod calendar;
mod database;
mod mail;
mod tasks;

pub use calendar::Agenda;
pub use calendar::import::CalendarImportReport;
pub use database::{DeskDatabase, DeskDatabaseError};
pub use mail::LocalMail;
pub use mail::import::{MailImportReport, SkippedMessage};
