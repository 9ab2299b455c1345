//! Calls whose time to wait is up: nobody decides about them, so nobody but the clock can tell.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use toolcrib_core::{Caller, ParkedCall, TicketId, ToolName};

/// The calls that wait, as whoever follows the events looked them up last.
#[derive(Default)]
pub(crate) struct TicketExpiries(Mutex<HashMap<TicketId, ExpiringTicket>>);

/// A call that waits, and how long it may.
pub(crate) struct ExpiringTicket {
    until: Instant,
    pub(crate) caller: Arc<Caller>,
    pub(crate) tool: ToolName,
}

impl TicketExpiries {
    /// These wait now. Of those before them only such are still to be told whose time is up.
    pub(super) fn waiting(&self, open: Vec<ParkedCall>, now: Instant) {
        let mut known = self.known();
        known.retain(|_, ticket| ticket.until <= now);
        for parked in open {
            let until = now.checked_add(parked.lifetime).unwrap_or(now);
            let (caller, tool) = (Arc::new(parked.caller), parked.tool);
            let ticket = ExpiringTicket { until, caller, tool };
            known.entry(parked.ticket).or_insert(ticket);
        }
    }

    /// When the next one is over.
    pub(super) fn next(&self) -> Option<Instant> {
        self.known().values().map(|ticket| ticket.until).min()
    }

    /// Those that are over, each of them once.
    pub(super) fn over(&self, now: Instant) -> Vec<(TicketId, ExpiringTicket)> {
        self.known().extract_if(|_, ticket| ticket.until <= now).collect()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<TicketId, ExpiringTicket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
