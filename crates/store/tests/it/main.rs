//! The store through the door: cribs whose ledger it is.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the lints' leave for tests does not reach the helpers of tests"
)]

mod faults;
mod file;
mod full;
mod history;
mod keys;
mod killed;
mod machine;
mod migration;
mod record;
mod restart;
mod results;
mod scratch;
mod taken;
/// The engine's own tests of tickets: a ledger on disk is no other ledger.
#[path = "../../../engine/tests/it/tickets.rs"]
mod tickets;

use scratch::Scratch;
use toolcrib_core::TicketBounds;
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_store::{Options, Store};

thread_local! {
    // Removed when the thread of the test ends.
    static SCRATCHES: std::cell::RefCell<Vec<Scratch>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// The beginning of a crib with a new store.
fn builder() -> CribBuilder {
    builder_within(TicketBounds::default())
}

fn builder_within(tickets: TicketBounds) -> CribBuilder {
    let scratch = Scratch::new();
    let options = Options { tickets, ..Options::default() };
    let store = Store::open(&scratch.file(), options).unwrap();
    SCRATCHES.with_borrow_mut(|all| all.push(scratch));
    Crib::builder().ledger(std::sync::Arc::new(store))
}
