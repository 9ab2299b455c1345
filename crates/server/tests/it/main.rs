//! The binary as a person or a script uses it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod commands;
mod manual;
#[cfg(target_os = "linux")]
mod person;
mod process;
mod random;
