//! The engine through its door.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod batch;
mod batch_faults;
mod batch_properties;
mod catalog;
mod lock;
mod lock_properties;
mod plan;
mod plan_properties;
mod rules;
mod tickets;
