//! Parked calls: claimed once, by their own caller, within their time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use tokio::time::Instant;
use toolcrib_core::{
    Caller, LedgerError, OpenTickets, ParkedCall, TicketBounds, TicketError, TicketId,
};

/// A ticket that is to live longer lives so long: a clock can add it.
const LONGEST: Duration = Duration::from_hours(24 * 365);

pub(super) struct TicketRows {
    bounds: TicketBounds,
    all: HashMap<TicketId, TicketRow>,
    issued: u64,
}

struct TicketRow {
    /// `None` once it was claimed; it stays for a while so that a second claim is told why not.
    parked: Option<ParkedCall>,
    caller: Caller,
    /// Of its arguments.
    bytes: usize,
    expires: Instant,
    number: u64,
}

impl TicketRows {
    pub(super) fn within(bounds: TicketBounds) -> Self {
        Self { bounds, all: HashMap::new(), issued: 0 }
    }

    pub(super) fn park(&mut self, parked: ParkedCall) -> Result<(), LedgerError> {
        let now = Instant::now();
        let TicketBounds { open, of_tenant, bytes_of_tenant } = self.bounds;
        if self.all.len() >= open {
            // An expired ticket is told apart from an unknown one as long as there is room.
            self.all.retain(|_, ticket| ticket.expires > now && ticket.parked.is_some());
        }
        if self.all.len() >= open {
            return Err(LedgerError::new(format!("{open} calls wait for approval already")));
        }
        let tenant = &parked.caller.tenant;
        let theirs = self.all.values().filter(|ticket| {
            &ticket.caller.tenant == tenant && ticket.parked.is_some() && ticket.expires > now
        });
        let (count, held) = theirs.fold((0, 0), |(count, sum), own| (count + 1, sum + own.bytes));
        if count >= of_tenant {
            let full = format!("{of_tenant} calls of `{tenant}` wait for approval already");
            return Err(LedgerError::new(full));
        }
        let text = serde_json::to_string(parked.arguments.fields()).map_err(LedgerError::new)?;
        let bytes = text.len();
        if held + bytes > bytes_of_tenant {
            let full = format!("calls of `{tenant}` with {held} bytes wait for approval already");
            return Err(LedgerError::new(full));
        }
        self.issued += 1;
        let ticket = TicketRow {
            caller: parked.caller.clone(),
            bytes,
            expires: now + parked.lifetime.min(LONGEST),
            number: self.issued,
            parked: Some(parked.clone()),
        };
        self.all.insert(parked.ticket, ticket);
        Ok(())
    }

    pub(super) fn claim(
        &mut self,
        id: &TicketId,
        caller: &Caller,
    ) -> Result<ParkedCall, TicketError> {
        let known = self.all.get_mut(id).filter(|ticket| ticket.caller.is(caller));
        let ticket = known.ok_or(TicketError::Unknown)?;
        if ticket.parked.is_none() {
            return Err(TicketError::Used);
        }
        if ticket.expires <= Instant::now() {
            return Err(TicketError::Expired);
        }
        ticket.parked.take().ok_or(TicketError::Used)
    }

    /// Open ones of all callers.
    pub(super) fn count(&self) -> u64 {
        let now = Instant::now();
        let is_open = |ticket: &&TicketRow| ticket.expires > now && ticket.parked.is_some();
        u64::try_from(self.all.values().filter(is_open).count()).unwrap_or(u64::MAX)
    }

    pub(super) fn open(&self, caller: &Caller) -> Vec<ParkedCall> {
        self.numbered(Some(caller), 0).into_iter().filter_map(WaitingTicket::parked).collect()
    }

    /// A page of those of a caller, or of all, behind this number.
    pub(super) fn page(&self, of: Option<&Caller>, after: u64, limit: usize) -> OpenTickets {
        // Their arguments are copied one by one, as far as the page goes.
        let numbered = self.numbered(of, after).into_iter();
        let numbered = numbered.filter_map(|open| Some(Ok((open.ticket.number, open.parked()?))));
        OpenTickets::of::<Infallible>(numbered, limit).unwrap_or_default()
    }

    pub(super) fn owner(&self, id: &TicketId) -> Option<Caller> {
        self.all.get(id).map(|ticket| ticket.caller.clone())
    }

    fn numbered(&self, of: Option<&Caller>, after: u64) -> Vec<WaitingTicket<'_>> {
        let now = Instant::now();
        let is_meant = |ticket: &&TicketRow| {
            of.is_none_or(|caller| ticket.caller.is(caller))
                && ticket.number > after
                && ticket.expires > now
                && ticket.parked.is_some()
        };
        let meant = self.all.values().filter(is_meant);
        let mut open: Vec<_> = meant.map(|ticket| WaitingTicket { ticket, now }).collect();
        open.sort_by_key(|open| open.ticket.number);
        open
    }
}

/// A ticket that waits.
struct WaitingTicket<'a> {
    ticket: &'a TicketRow,
    now: Instant,
}

impl WaitingTicket<'_> {
    /// With what is left of its time.
    fn parked(self) -> Option<ParkedCall> {
        let lifetime = self.ticket.expires.duration_since(self.now);
        Some(ParkedCall { lifetime, ..self.ticket.parked.clone()? })
    }
}
