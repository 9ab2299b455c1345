//! What a server keeps: calls, keys, tickets and results, through both of its doors, over real
//! upstreams that count.

mod approvals;
mod cluster_of_two;
pub(crate) mod doors;
mod faults;
mod forms;
mod keys;
pub(crate) mod kills;
mod looked_up;
mod piped;
pub(crate) mod postgres;
mod queued;
mod replicas;
mod resent;
mod resolved;
mod results;
mod resumed;
mod run_kills;
mod sessions;
mod synced;
mod tickets;
mod unknown;
pub(crate) mod upstream;
mod verified;

pub(crate) use keys::killed;
