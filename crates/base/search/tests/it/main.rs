//! The search through its door.

#![expect(
    clippy::indexing_slicing,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod answers;
mod anything;
mod facets;
mod partition;
mod sample;
mod vectors;
