//! Embedders through the door: texts go in, vectors come out.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod cached;
mod endpoint;
mod minilm;
mod tiny;
