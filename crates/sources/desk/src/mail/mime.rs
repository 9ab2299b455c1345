//! Mail as it travels (RFC 5322 and MIME): read into values, and written from them.
//!
//! Reading is `mail-parser`'s work within bounds of ours, and writing `mail-builder`'s: what we
//! write is plain text, and files beside it.

mod address;
mod body;
mod decode;
mod format_flowed;
mod header;
mod html;
mod multipart;
mod read;
mod write;
mod write_error;

pub use address::{NotAnAddress, is_address};
pub(crate) use multipart::{BYTES, MOST_BYTES, MOST_FILES, is_media};
pub use read::{MAX_MESSAGE, MimeMessage, MimeReadError, files, read};
pub use write::{BccHandling, MessageStamp, for_sending, write};
pub use write_error::MimeWriteError;
