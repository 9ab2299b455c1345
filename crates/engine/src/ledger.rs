//! A ledger in memory: truthful while the process lives, and bounded.

mod kept;
mod rows;
mod tickets;

use std::sync::{Arc, Mutex, PoisonError};

use toolcrib_core::{
    BoxFuture, CallKey, Caller, Content, Ending, Ledger, LedgerError, Parked, Planned,
    ResultHandle, TicketError, TicketId,
};

use kept::KeptResults;
pub use rows::Row;
use rows::Rows;
use tickets::Tickets;

/// Keeps the last 10,000 calls, 10,000 open tickets and 64 MiB of cut results.
///
/// A call that is still running is never forgotten.
#[derive(Default)]
pub struct MemoryLedger {
    rows: Mutex<Rows>,
    tickets: Mutex<Tickets>,
    kept: Mutex<KeptResults>,
}

fn locked<T>(room: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What a panic left behind is whole: every change is one insertion or removal.
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl MemoryLedger {
    /// The calls, oldest first.
    pub fn rows(&self) -> Vec<Row> {
        locked(&self.rows).all()
    }
}

impl Ledger for MemoryLedger {
    fn planned<'a>(&'a self, call: Planned<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        let row = Row::of(call);
        locked(&self.rows).plan(row);
        ready(Ok(()))
    }

    fn finished(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        let forgotten = locked(&self.rows).finish(call, ending);
        drop(forgotten);
        ready(Ok(()))
    }

    fn park(&self, parked: Parked) -> BoxFuture<'_, Result<(), LedgerError>> {
        ready(locked(&self.tickets).park(parked))
    }

    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Parked, TicketError>> {
        ready(locked(&self.tickets).claim(ticket, caller))
    }

    fn parked<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<Parked>, LedgerError>> {
        ready(Ok(locked(&self.tickets).open(caller)))
    }

    fn keep<'a>(
        &'a self,
        caller: &'a Caller,
        content: Arc<Content>,
    ) -> BoxFuture<'a, Option<ResultHandle>> {
        ready(locked(&self.kept).keep(caller, content))
    }

    fn kept<'a>(
        &'a self,
        caller: &'a Caller,
        handle: &'a ResultHandle,
    ) -> BoxFuture<'a, Option<Arc<Content>>> {
        ready(locked(&self.kept).get(caller, handle))
    }
}
