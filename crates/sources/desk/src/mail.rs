//! Mail over IMAP and SMTP, and messages as they travel.
pub(crate) mod connection;
pub mod imap;
pub mod mime;
mod smtp;
