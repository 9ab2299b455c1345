//! Mail over IMAP and SMTP, and messages as they travel.
#[cfg(feature = "imap")]
pub(crate) mod connection;
#[cfg(feature = "imap")]
pub mod imap;
pub mod mime;
#[cfg(feature = "imap")]
mod smtp;
