//! What is true of the whole repository: its floors, its sizes, its words and its paths.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it cannot read"
)]

mod circles;
mod dist;
mod documents;
mod floors;
mod page;
mod sources;
mod tree;
mod words;
