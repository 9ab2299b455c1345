//! What a running call has asked a person and has no answer to: meanwhile its time stands still,
//! and whoever waits for the call is told so instead.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::ledger::ticket::TicketId;
use crate::outcome::PendingTicket;

#[derive(Default)]
pub(crate) struct PausedDeadline {
    state: Mutex<PauseState>,
    bell: Notify,
}

#[derive(Default)]
struct PauseState {
    /// What waits, the oldest first.
    open: Vec<PendingTicket>,
    /// All that was ever asked.
    tickets: Vec<TicketId>,
    /// When the time began to stand still.
    since: Option<Instant>,
    /// For how long it stood still before.
    stood: Duration,
    /// How the call ended, as it is recorded.
    end: Option<Value>,
}

/// What comes of a call that a person answered.
pub(crate) enum ResumedCall {
    Asks(PendingTicket),
    Ended(Value),
}

impl PausedDeadline {
    fn state(&self) -> MutexGuard<'_, PauseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn asks(&self, pending: PendingTicket) {
        let mut state = self.state();
        state.since.get_or_insert_with(Instant::now);
        state.tickets.push(pending.ticket.clone());
        state.open.push(pending);
        drop(state);
        self.bell.notify_waiters();
    }

    /// Nobody is asked this any more.
    pub(crate) fn closes(&self, ticket: &TicketId) {
        let mut state = self.state();
        state.open.retain(|open| &open.ticket != ticket);
        if state.open.is_empty()
            && let Some(since) = state.since.take()
        {
            state.stood += since.elapsed();
        }
        drop(state);
        self.bell.notify_waiters();
    }

    /// The first to say how the call ended is believed.
    pub(crate) fn ends(&self, end: Value) {
        self.state().end.get_or_insert(end);
        self.bell.notify_waiters();
    }

    /// All that was ever asked.
    pub(crate) fn tickets(&self) -> Vec<TicketId> {
        self.state().tickets.clone()
    }

    /// What waits for an answer, if anything does.
    pub(crate) fn open(&self) -> Option<PendingTicket> {
        self.state().open.first().cloned()
    }

    /// For how long the time stood still; `None`: it stands still now.
    pub(crate) fn stood(&self) -> Option<Duration> {
        let state = self.state();
        state.since.is_none().then_some(state.stood)
    }

    /// Resolves when a person is asked.
    pub(crate) async fn asking(&self) -> PendingTicket {
        self.until(|state| state.open.first().cloned()).await
    }

    /// Resolves when the time goes on.
    pub(crate) async fn goes_on(&self) {
        self.until(|state| state.since.is_none().then_some(())).await;
    }

    /// What comes next: its end, or another question.
    pub(crate) async fn next(&self) -> ResumedCall {
        let next = |state: &PauseState| match &state.end {
            Some(end) => Some(ResumedCall::Ended(end.clone())),
            None => state.open.first().cloned().map(ResumedCall::Asks),
        };
        self.until(next).await
    }

    async fn until<T>(&self, look: impl Fn(&PauseState) -> Option<T>) -> T {
        loop {
            let mut rung = pin!(self.bell.notified());
            // Before the look, so that nothing falls between the two.
            rung.as_mut().enable();
            let seen = look(&self.state());
            if let Some(seen) = seen {
                return seen;
            }
            rung.await;
        }
    }
}
