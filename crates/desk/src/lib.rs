//! The desk: calendar, mail and tasks as tools, over backends that keep them.
//!
//! Read [`backend`] first: what keeps a calendar, tasks or mail is behind three traits, and the
//! tools know nothing else of it. Then [`Desk`], which is what a crib is given.

pub mod backend;
pub mod caldav;
mod desk;
pub mod embedded;
pub mod google;
mod home;
pub mod ical;
pub mod imap;
pub mod mime;
mod resource;
mod rule;
mod smtp;
mod tools;
mod wire;

pub use desk::{Backends, Clock, Desk, Settings};
pub use home::Home;
pub use wire::{Login, MailServer};
