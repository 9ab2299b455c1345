//! The store through the door: cribs whose ledger it is.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

/// What every ledger does with sessions of clients.
#[path = "../../../engine/tests/it/client_sessions.rs"]
mod client_sessions;
mod faults;
mod file;
mod full;
mod history;
mod kept_runs;
mod keys;
mod killed;
mod killed_child;
mod killed_runs;
/// What every ledger does.
#[path = "../../../engine/tests/it/ledger.rs"]
mod ledger;
mod machine;
mod migration;
#[path = "../../../engine/tests/it/of_one_source.rs"]
mod of_one_source;
mod record;
mod restart;
mod results;
mod run_room;
/// What every ledger does with runs.
#[path = "../../../engine/tests/it/runs.rs"]
mod runs;
mod scratch;
mod taken;
/// The engine's own tests of tickets: a ledger on disk is no other ledger.
#[path = "../../../engine/tests/it/tickets.rs"]
mod tickets;

use std::sync::Arc;

use scratch::Scratch;
use toolcrib_core::{Ledger, RunLedger, SessionLedger, TicketBounds};
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_store::{Store, StoreOptions};

thread_local! {
    // Removed when the thread of the test ends.
    static SCRATCHES: std::cell::RefCell<Vec<Scratch>> = const { std::cell::RefCell::new(Vec::new()) };
}

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
    let scratch = Scratch::new();
    let options = StoreOptions { tickets, ..StoreOptions::default() };
    let store = Store::open(&scratch.file(), options).unwrap();
    SCRATCHES.with_borrow_mut(|all| all.push(scratch));
    store
}

/// The beginning of a crib with a new store.
fn builder() -> CribBuilder {
    Crib::builder().ledger(ledger())
}

fn builder_within(tickets: TicketBounds) -> CribBuilder {
    Crib::builder().ledger(ledger_within(tickets))
}
