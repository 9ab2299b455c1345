//! The tools: a row of data and a function for each, and for what is asked about its words.
//!
//! Read `tool` first (how a tool is made), then `times` (how phrases become times), then any of
//! `calendar`, `tasks` and `mail`.

mod calendar;
mod fields;
mod mail;
mod quoting;
mod tasks;
mod times;
mod tool;

pub(crate) use calendar::tools as calendar;
pub(crate) use mail::tools as mail;
pub(crate) use tasks::tools as tasks;
