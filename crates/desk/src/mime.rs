//! Mail as it travels (RFC 5322 and MIME): read into values, and written from them.
//!
//! Reading is `mail-parser`'s work within bounds of ours; what we write is plain text alone, so the
//! writer is ours and small.

mod address;
mod html;
mod read;
mod write;

pub use address::{NotAnAddress, is_address};
pub use read::{Letter, MAX_MESSAGE, NotRead, read};
pub use write::{Hidden, Stamp, Unfit, for_sending, write};
