//! What is said to SQLite, by the kind of row.
pub(crate) mod calls;
pub(crate) mod claimed_tickets;
mod columns;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod results;
mod run_items;
pub(crate) mod run_notes;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod tickets;
