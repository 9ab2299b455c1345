//! The rows of the store as data: calls, tickets, kept results, keys and runs of agents. No SQL
//! stands in here.
pub(crate) mod call_state;
pub(crate) mod calls;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod results;
pub(crate) mod runs;
pub(crate) mod tickets;
