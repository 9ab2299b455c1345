//! Tells the witness of a gate, if there is one, what becomes of the calls of a batch.

use std::panic::AssertUnwindSafe;

use super::batch::Batch;
use super::record::asked;
use crate::call::CallKey;
use crate::call::arguments::Arguments;
use crate::call::trace::Trace;
use crate::catalog::Listed;
use crate::gate::batch::pending_call::Ended;
use crate::ledger::error::LedgerError;
use crate::ledger::ticket::TicketId;
use crate::observe::observer::{Decided, Over, Ruling};

/// A call with all that is known when it is decided on.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) key: CallKey,
    pub(super) place: u32,
    pub(super) arguments: &'a Arguments,
    pub(super) ticket: Option<&'a TicketId>,
    pub(super) trace: Option<Trace>,
}

impl Batch {
    pub(super) async fn tell_decision(
        &self,
        subject: Subject<'_>,
        ruling: Ruling<'_>,
    ) -> Result<(), LedgerError> {
        let Subject { key, place, arguments, ticket, trace } = subject;
        let (Some(witness), Some(tool)) = (&self.gate.marks.witness, self.plan.at(place)) else {
            return Ok(());
        };
        let policy = self.gate.policy.version();
        let caller = self.plan.caller();
        let decider = self.decider.as_ref();
        let call = Decided {
            key,
            caller,
            tool: tool.identity(),
            arguments,
            ruling,
            ticket,
            decider,
            policy,
            trace,
        };
        asked(async { witness.decided(call).await }).await
    }

    /// `place`: position and key of the call in the batch.
    pub(super) fn tell_end(
        &self,
        (position, key): (usize, CallKey),
        ended: &Ended,
        was_decided: bool,
        trace: Option<Trace>,
    ) {
        let Some(witness) = &self.gate.marks.witness else { return };
        let call = self.calls.get(position);
        let over = Over {
            key,
            caller: self.plan.caller(),
            name: call.map_or("", |call| call.name.as_str()),
            call_id: call.filter(|call| call.named).map(|call| call.id.as_str()),
            tool: ended.place.and_then(|place| self.plan.at(place)).map(Listed::identity),
            outcome: &ended.outcome,
            was_decided,
            attempts: ended.attempts,
            waited: ended.waited,
            ran: ended.ran,
            trace,
        };
        // A witness that breaks costs its own record and no call.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| witness.ended(over)));
    }
}
