//! Sources over real connections: a child process or a port of this machine.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stop where something is not as it should be"
)]

mod bounds;
mod calls;
mod conformance;
mod crossed;
mod door;
#[path = "../../examples/fixture/server.rs"]
mod fixture;
mod healing;
mod hostile;
mod hosts;
mod library;
mod lists;
mod oldest;
mod over_http;
mod peers;
mod questions;
mod sharing;
mod spellings;
mod support;
mod tasks;
mod unreadable;
