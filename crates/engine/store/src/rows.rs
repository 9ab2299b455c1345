//! The rows of the store: calls, tickets, kept results and keys.
pub(crate) mod call_state;
pub(crate) mod calls;
pub(crate) mod claimed_tickets;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod results;
pub(crate) mod tickets;
