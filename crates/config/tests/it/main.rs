//! The crate through its doors.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

mod a2a;
mod agents;
mod any;
mod api;
mod assigned;
mod build;
mod builtin;
mod card_keys;
mod cluster;
mod desk;
mod effects;
mod embedder;
mod examine;
mod foreign;
mod front;
mod import;
mod import_notes;
mod limits;
mod live;
mod lookups;
mod options;
mod overlay;
mod owners;
mod read;
mod resend;
mod schema;
mod secrets;
mod shelves;
mod toolsets;
mod workshop;
