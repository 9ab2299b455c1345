//! What waits for a person: the calls that a ledger keeps, and the questions of running ones.

pub(crate) mod redeem;

use super::executor::Executor;
use crate::call::caller::Caller;
use crate::gate::question::registry::FIRST;
use crate::ledger::OpenTickets;
use crate::ledger::error::LedgerError;
use crate::ledger::ticket::{ParkedCall, TicketId};

impl Executor {
    /// The open tickets of a caller, oldest first, those with questions last.
    pub async fn tickets(&self, caller: &Caller) -> Result<Vec<ParkedCall>, LedgerError> {
        let mut open = self.0.ledger.parked(caller).await?;
        open.extend(self.0.asked.waiting(Some(caller), 0).into_iter().map(|(_, parked)| parked));
        Ok(open)
    }

    /// One open ticket of a caller.
    pub async fn ticket(
        &self,
        ticket: &TicketId,
        caller: &Caller,
    ) -> Result<Option<ParkedCall>, LedgerError> {
        let mut asked = self.0.asked.waiting(Some(caller), 0).into_iter();
        match asked.find(|(_, parked)| &parked.ticket == ticket) {
            Some((_, parked)) => Ok(Some(parked)),
            None => self.0.ledger.ticket(ticket, caller).await,
        }
    }

    /// A page of the open tickets of one caller, or of all: see `Ledger::open_tickets`. Those with
    /// questions come last.
    pub async fn open_tickets(
        &self,
        of: Option<&Caller>,
        after: u64,
        limit: usize,
    ) -> Result<OpenTickets, LedgerError> {
        let mut page = OpenTickets::default();
        if after < FIRST {
            page = self.0.ledger.open_tickets(of, after, limit).await?;
        }
        if page.next.is_some() {
            return Ok(page);
        }
        let mut last = after.max(FIRST);
        for (number, parked) in self.0.asked.waiting(of, last) {
            if page.tickets.len() >= limit.max(1) {
                page.next = Some(last);
                break;
            }
            last = number;
            page.tickets.push(parked);
        }
        Ok(page)
    }

    /// Whose ticket it is, as far as that is known: for whoever runs the crib.
    pub async fn owner(&self, ticket: &TicketId) -> Result<Option<Caller>, LedgerError> {
        match self.0.asked.owner(ticket) {
            Some(owner) => Ok(Some(owner)),
            None => self.0.ledger.owner(ticket).await,
        }
    }

    /// How many tickets of all callers are open; `None`: the ledger cannot tell.
    pub async fn waiting(&self) -> Option<u64> {
        let asked = u64::try_from(self.0.asked.count()).unwrap_or(u64::MAX);
        Some(self.0.ledger.waiting().await?.saturating_add(asked))
    }
}
