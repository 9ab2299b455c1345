//! Calls that wait under a ticket, of clients that cannot be asked: made again, such a call is
//! about its ticket, and gives what came of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use toolcrib_core::{ParkedCall, TicketId};

use super::running::CallIdentity;

/// Tickets that are remembered; of more than these the oldest are forgotten, and their calls wait
/// under new ones when they are made again.
const MOST: usize = 1_000;

#[derive(Default)]
pub(crate) struct PendingApprovals(Mutex<VecDeque<PendingApproval>>);

#[derive(Clone)]
struct PendingApproval {
    session: Arc<str>,
    identity: CallIdentity,
    ticket: TicketId,
    /// After that it is not to be decided about any more.
    until: Instant,
}

impl PendingApprovals {
    pub(crate) fn note(&self, session: &Arc<str>, identity: &CallIdentity, parked: &ParkedCall) {
        let until = Instant::now() + parked.lifetime;
        let (session, identity, ticket) =
            (Arc::clone(session), identity.clone(), parked.ticket.clone());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(PendingApproval { session, identity, ticket, until });
    }

    /// The ticket of the same call, and whether its time is over.
    pub(crate) fn of(&self, session: &str, identity: &CallIdentity) -> Option<(TicketId, bool)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = all.iter().find(|one| &*one.session == session && one.identity.is(identity))?;
        Some((one.ticket.clone(), one.until <= Instant::now()))
    }

    pub(crate) fn forget(&self, ticket: &TicketId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.ticket != *ticket);
    }
}
