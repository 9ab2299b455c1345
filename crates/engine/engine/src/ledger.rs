//! Ledgers in memory: truthful while the process lives, and bounded.

mod calls;
mod keys;
mod results;
mod runs;
mod sessions;
mod tickets;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolcrib_core::{
    BoxFuture, CallKey, CallLedger, Caller, Content, Ending, EndingReport, Fingerprint,
    IdempotencyKey, KeyLedger, KeyResult, KeyState, LedgerError, OpenTickets, ParkedCall,
    PlannedCall, ResultHandle, ResultLedger, TicketBounds, TicketError, TicketId, TicketLedger,
    UncertainCall,
};

pub use calls::CallRow;
use calls::CallRows;
use keys::KeyRows;
use results::StoredResults;
pub use runs::MemoryRuns;
pub use sessions::MemorySessions;
use tickets::TicketRows;

/// Keeps the last 10,000 calls, the open tickets that its bounds allow, 10,000 keys, and 64 MiB
/// each of cut results and of answers under keys.
///
/// A call that is still running is never forgotten.
pub struct MemoryLedger {
    rows: Mutex<CallRows>,
    tickets: Mutex<TicketRows>,
    kept: Mutex<StoredResults>,
    keys: Mutex<KeyRows>,
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
            tickets: Mutex::new(TicketRows::within(tickets)),
            kept: Mutex::default(),
            keys: Mutex::default(),
        }
    }

    /// The same with room for so many keys of callers, if they are more than usual.
    #[must_use]
    pub fn with_keys(self, most: usize) -> Self {
        locked(&self.keys).make_room(most);
        self
    }

    /// Forgets the keys that a run gave its calls: it is over, and makes none of them again.
    pub fn forget_run(&self, run: &str) {
        locked(&self.keys).forget(&format!("run:{run}:"));
    }

    /// The calls, oldest first.
    pub fn rows(&self) -> Vec<CallRow> {
        locked(&self.rows).all()
    }
}

impl CallLedger for MemoryLedger {
    fn queued<'a>(&'a self, call: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        self.planned(call)
    }

    fn planned<'a>(&'a self, call: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        let row = CallRow::of(call);
        locked(&self.rows).plan(row);
        ready(Ok(()))
    }

    fn finished(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.ended(call, ending.into())
    }

    fn ended(&self, call: CallKey, finish: EndingReport) -> BoxFuture<'_, Result<(), LedgerError>> {
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
        call: PlannedCall<'a>,
        window: Duration,
    ) -> BoxFuture<'a, Result<Option<UncertainCall>, LedgerError>> {
        ready(Ok(locked(&self.rows).unknown_like(call, window)))
    }
}

impl KeyLedger for MemoryLedger {
    fn begin<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        arguments: Fingerprint,
    ) -> BoxFuture<'a, Result<KeyState, LedgerError>> {
        ready(locked(&self.keys).begin(key, Some(arguments)))
    }

    fn settle<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        end: KeyResult,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        locked(&self.keys).settle(key, end);
        ready(Ok(()))
    }

    fn recorded<'a>(
        &'a self,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<KeyState, LedgerError>> {
        ready(Ok(locked(&self.keys).recorded(key)))
    }
}

impl TicketLedger for MemoryLedger {
    fn park(&self, parked: ParkedCall) -> BoxFuture<'_, Result<(), LedgerError>> {
        ready(locked(&self.tickets).park(parked))
    }

    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<ParkedCall, TicketError>> {
        let claimed = locked(&self.tickets).claim(ticket, caller);
        if claimed.is_ok() {
            // Without room for its key the ticket is still used, and what came of it is not kept.
            let _ = locked(&self.keys).begin(&IdempotencyKey::of_ticket(caller, ticket), None);
        }
        ready(claimed)
    }

    fn parked<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Vec<ParkedCall>, LedgerError>> {
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
}

impl ResultLedger for MemoryLedger {
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
