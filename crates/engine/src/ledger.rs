//! A ledger in memory: truthful while the process lives, and bounded.

mod calls;
mod keys;
mod results;
mod tickets;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolcrib_core::{
    Begun, BoxFuture, CallKey, Caller, Content, Doubtful, Ending, Fingerprint, Finish, KeyEnd,
    Ledger, LedgerError, OnceKey, OpenTickets, Parked, Planned, ResultHandle, TicketBounds,
    TicketError, TicketId,
};

pub use calls::Row;
use calls::Rows;
use keys::Keys;
use results::KeptResults;
use tickets::Tickets;

/// Keeps the last 10,000 calls, the open tickets that its bounds allow, 10,000 keys, and 64 MiB each of cut results and
/// of answers under keys.
///
/// A call that is still running is never forgotten.
pub struct MemoryLedger {
    rows: Mutex<Rows>,
    tickets: Mutex<Tickets>,
    kept: Mutex<KeptResults>,
    keys: Mutex<Keys>,
}

fn locked<T>(room: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What a panic left behind is whole: every change is one insertion or removal.
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Default for MemoryLedger {
    fn default() -> Self {
        Self::within(TicketBounds::default())
    }
}

impl MemoryLedger {
    /// One in which so much may wait for a person.
    pub fn within(tickets: TicketBounds) -> Self {
        Self {
            rows: Mutex::default(),
            tickets: Mutex::new(Tickets::within(tickets)),
            kept: Mutex::default(),
            keys: Mutex::default(),
        }
    }

    /// The calls, oldest first.
    pub fn rows(&self) -> Vec<Row> {
        locked(&self.rows).all()
    }
}

impl Ledger for MemoryLedger {
    fn queued<'a>(&'a self, call: Planned<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        self.planned(call)
    }

    fn planned<'a>(&'a self, call: Planned<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        let row = Row::of(call);
        locked(&self.rows).plan(row);
        ready(Ok(()))
    }

    fn finished(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.ended(call, ending.into())
    }

    fn ended(&self, call: CallKey, finish: Finish) -> BoxFuture<'_, Result<(), LedgerError>> {
        let forgotten = locked(&self.rows).finish(call, finish);
        drop(forgotten);
        ready(Ok(()))
    }

    fn resolved(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        locked(&self.rows).resolve(call, ending);
        ready(Ok(()))
    }

    fn unknown_like<'a>(
        &'a self,
        call: Planned<'a>,
        window: Duration,
    ) -> BoxFuture<'a, Result<Option<Doubtful>, LedgerError>> {
        ready(Ok(locked(&self.rows).unknown_like(call, window)))
    }

    fn begin<'a>(
        &'a self,
        key: &'a OnceKey,
        arguments: Fingerprint,
    ) -> BoxFuture<'a, Result<Begun, LedgerError>> {
        ready(locked(&self.keys).begin(key, Some(arguments)))
    }

    fn settle<'a>(
        &'a self,
        key: &'a OnceKey,
        end: KeyEnd,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        locked(&self.keys).settle(key, end);
        ready(Ok(()))
    }

    fn recorded<'a>(&'a self, key: &'a OnceKey) -> BoxFuture<'a, Result<Begun, LedgerError>> {
        ready(Ok(locked(&self.keys).recorded(key)))
    }

    fn park(&self, parked: Parked) -> BoxFuture<'_, Result<(), LedgerError>> {
        ready(locked(&self.tickets).park(parked))
    }

    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Parked, TicketError>> {
        let claimed = locked(&self.tickets).claim(ticket, caller);
        if claimed.is_ok() {
            // Without room for its key the ticket is still used, and what came of it is not kept.
            let _ = locked(&self.keys).begin(&OnceKey::of_ticket(caller, ticket), None);
        }
        ready(claimed)
    }

    fn parked<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<Parked>, LedgerError>> {
        ready(Ok(locked(&self.tickets).open(caller)))
    }

    fn open_tickets<'a>(
        &'a self,
        of: Option<&'a Caller>,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<OpenTickets, LedgerError>> {
        ready(Ok(locked(&self.tickets).page(of, after, limit)))
    }

    fn owner<'a>(
        &'a self,
        ticket: &'a TicketId,
    ) -> BoxFuture<'a, Result<Option<Caller>, LedgerError>> {
        ready(Ok(locked(&self.tickets).owner(ticket)))
    }

    fn waiting(&self) -> BoxFuture<'_, Option<u64>> {
        ready(Some(locked(&self.tickets).count()))
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

    fn keeps_for(&self, caller: &Caller) -> bool {
        locked(&self.kept).has(caller)
    }
}
