//! Calls that wait under a ticket, of clients that cannot be asked: made again, such a call is about
//! its ticket, and gives what came of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use toolcrib_core::{Parked, TicketId};

use super::running::Visit;

/// Tickets that are remembered; of more than these the oldest are forgotten, and their calls wait
/// under new ones when they are made again.
const MOST: usize = 1_000;

#[derive(Default)]
pub(crate) struct Awaited(Mutex<VecDeque<One>>);

#[derive(Clone)]
struct One {
    session: Arc<str>,
    visit: Visit,
    ticket: TicketId,
    /// After that it is not to be decided about any more.
    until: Instant,
}

impl Awaited {
    pub(crate) fn note(&self, session: &Arc<str>, visit: &Visit, parked: &Parked) {
        let until = Instant::now() + parked.lifetime;
        let (session, visit, ticket) = (Arc::clone(session), visit.clone(), parked.ticket.clone());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(One { session, visit, ticket, until });
    }

    /// The ticket of the same call, and whether its time is over.
    pub(crate) fn of(&self, session: &str, visit: &Visit) -> Option<(TicketId, bool)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = all.iter().find(|one| &*one.session == session && one.visit.is(visit))?;
        Some((one.ticket.clone(), one.until <= Instant::now()))
    }

    pub(crate) fn forget(&self, ticket: &TicketId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.ticket != *ticket);
    }
}
