//! The rows of the store: calls, tickets, kept results, keys and runs of agents.
pub(crate) mod call_state;
pub(crate) mod calls;
pub(crate) mod claimed_tickets;
pub(crate) mod history;
mod json_column;
pub(crate) mod keys;
pub(crate) mod results;
mod run_items;
pub(crate) mod run_notes;
pub(crate) mod runs;
pub(crate) mod tickets;
