//! The binary as a person or a script uses it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod chance;
mod chat;
mod commands;
mod deployed;
mod effects;
mod embedded;
mod fleet;
mod keep;
mod load;
mod manual;
mod peers;
#[cfg(target_os = "linux")]
mod person;
mod process;
mod random;
mod rollout;
mod secrets;
mod serve;
mod sources;
mod supervised;
mod trust;
