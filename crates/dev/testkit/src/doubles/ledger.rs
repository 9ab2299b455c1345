//! A ledger that cannot be written.

use std::sync::Arc;

use toolcrib_core::{
    BoxFuture, CallKey, CallLedger, Caller, Content, Ending, KeyLedger, LedgerError, ParkedCall,
    PlannedCall, ResultHandle, ResultLedger, TicketError, TicketId, TicketLedger,
};

/// Refuses everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct BrokenLedger;

fn full() -> LedgerError {
    LedgerError::new("the disk is full")
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl CallLedger for BrokenLedger {
    fn planned<'a>(&'a self, _: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        ready(Err(full()))
    }

    fn finished(&self, _: CallKey, _: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        ready(Err(full()))
    }
}

impl KeyLedger for BrokenLedger {}

impl TicketLedger for BrokenLedger {
    fn park(&self, _: ParkedCall) -> BoxFuture<'_, Result<(), LedgerError>> {
        ready(Err(full()))
    }

    fn claim<'a>(
        &'a self,
        _: &'a TicketId,
        _: &'a Caller,
    ) -> BoxFuture<'a, Result<ParkedCall, TicketError>> {
        ready(Err(TicketError::Ledger(full())))
    }

    fn parked<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<Vec<ParkedCall>, LedgerError>> {
        ready(Err(full()))
    }
}

impl ResultLedger for BrokenLedger {
    fn keep<'a>(&'a self, _: &'a Caller, _: Arc<Content>) -> BoxFuture<'a, Option<ResultHandle>> {
        ready(None)
    }

    fn kept<'a>(
        &'a self,
        _: &'a Caller,
        _: &'a ResultHandle,
    ) -> BoxFuture<'a, Option<Arc<Content>>> {
        ready(None)
    }
}
