//! The store in Postgres: what every store does, and what is of a database alone.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod away;
mod back_in_time;
mod bounded;
/// What every ledger does with sessions of clients.
#[path = "../../../engine/tests/it/client_sessions.rs"]
mod client_sessions;
mod cluster;
mod copied;
mod cut;
mod encrypted;
/// What every store does with its record of calls.
#[path = "../../../store/tests/it/history.rs"]
mod history;
/// What every store does with runs.
#[path = "../../../store/tests/it/kept_runs.rs"]
mod kept_runs;
/// What every store does with keys.
#[path = "../../../store/tests/it/keys.rs"]
mod keys;
/// Processes that are killed while they write.
#[path = "../../../store/tests/it/killed.rs"]
mod killed;
#[path = "../../../store/tests/it/killed_child.rs"]
mod killed_child;
#[path = "../../../store/tests/it/killed_runs.rs"]
mod killed_runs;
/// What every ledger does.
#[path = "../../../engine/tests/it/ledger.rs"]
mod ledger;
/// Approvals as a machine.
#[path = "../../../store/tests/it/machine.rs"]
mod machine;
#[path = "../../../engine/tests/it/of_one_source.rs"]
mod of_one_source;
mod owned;
mod pressed;
mod proxy;
#[path = "../../../store/tests/it/record.rs"]
mod record;
mod replicas;
/// What outlives the process that wrote it.
#[path = "../../../store/tests/it/restart.rs"]
mod restart;
/// What every store does with results that were cut.
#[path = "../../../store/tests/it/results.rs"]
mod results;
/// What every ledger does with runs.
#[path = "../../../engine/tests/it/runs.rs"]
mod runs;
mod scratch;
mod standby;
#[path = "../../../store/tests/it/taken.rs"]
mod taken;
/// What every ledger does with tickets.
#[path = "../../../engine/tests/it/tickets.rs"]
mod tickets;
mod unfit;

use std::sync::Arc;

use scratch::Scratch;
use toolcrib_core::{Ledger, RunLedger, SessionLedger, TicketBounds};
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_store::{Store, StoreOptions};

/// A new store.
fn ledger() -> Arc<dyn Ledger> {
    ledger_within(TicketBounds::default())
}

fn ledger_within(tickets: TicketBounds) -> Arc<dyn Ledger> {
    Arc::new(store_within(tickets))
}

/// A new store that has no runs.
fn runs() -> Arc<dyn RunLedger> {
    Arc::new(store_within(TicketBounds::default()))
}

/// A new store that has no sessions.
fn client_sessions() -> Arc<dyn SessionLedger> {
    Arc::new(store_within(TicketBounds::default()))
}

fn store_within(tickets: TicketBounds) -> Store {
    Scratch::new().open(StoreOptions { tickets, ..StoreOptions::default() }).unwrap()
}

/// The beginning of a crib with a new store.
fn builder() -> CribBuilder {
    Crib::builder().ledger(ledger())
}

fn builder_within(tickets: TicketBounds) -> CribBuilder {
    Crib::builder().ledger(ledger_within(tickets))
}
