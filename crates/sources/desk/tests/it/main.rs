//! What the desk does, through the doors that its tools take and through the tools.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

mod agenda;
mod bodies;
mod calendar;
mod dovecot;
mod embedded_agenda;
mod foreign;
mod forwarding;
mod free_slots;
mod google;
mod icalendar;
mod imap_mail;
mod local_mail;
mod mail;
mod mailbox;
mod mbox;
mod mime;
mod odd_server;
mod previews;
mod radicale;
mod random_calls;
mod room;
mod sink;
mod smtp;
mod specs;
mod tasks;
mod updates;
