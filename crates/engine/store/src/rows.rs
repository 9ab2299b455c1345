//! The rows of the store as data: calls, tickets, kept results, keys and runs of agents. No SQL
//! stands in here.
pub mod call_state;
pub mod calls;
pub mod history;
pub mod keys;
pub mod results;
pub mod runs;
pub mod tickets;
