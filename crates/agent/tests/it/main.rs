//! Agents through their door: real sockets to a scripted model, real cribs.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod budget;
mod cancelled;
mod checks;
mod compaction;
mod connections;
mod drawn_threads;
mod fallback;
mod fixture;
mod guided;
mod model;
mod replay;
mod replay_properties;
mod resumed;
mod runs;
mod team;
mod team_bounds;
mod team_sizes;
mod text_call_formats;
mod text_calls;
mod thread_rules;
mod traced;
