//! Tells the observer of a gate, if there is one, what becomes of the calls of a batch.

use std::panic::AssertUnwindSafe;

use super::batch::Batch;
use super::record::guarded;
use crate::call::CallKey;
use crate::call::arguments::Arguments;
use crate::call::trace::Trace;
use crate::catalog::CatalogTool;
use crate::gate::batch::pending_call::EndedCall;
use crate::gate::executor::Executor;
use crate::ledger::error::LedgerError;
use crate::ledger::ticket::TicketId;
use crate::observe::observer::{CallDecided, CallFinished, LookupFinished, Ruling};

/// A call with all that is known when it is decided on.
#[derive(Clone, Copy)]
pub(super) struct DecisionSubject<'a> {
    pub(super) key: CallKey,
    pub(super) place: u32,
    pub(super) arguments: &'a Arguments,
    pub(super) ticket: Option<&'a TicketId>,
    pub(super) trace: Option<Trace>,
}

impl Batch {
    pub(super) async fn tell_decision(
        &self,
        subject: DecisionSubject<'_>,
        ruling: Ruling<'_>,
    ) -> Result<(), LedgerError> {
        let DecisionSubject { key, place, arguments, ticket, trace } = subject;
        let (Some(observer), Some(tool)) = (&self.gate.marks.observer, self.plan.at(place)) else {
            return Ok(());
        };
        let policy = self.gate.policy.version();
        let caller = self.plan.caller();
        let decider = self.decider.as_ref();
        let call = CallDecided {
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
        guarded(async { observer.decided(call).await }).await
    }

    /// `place`: position and key of the call in the batch.
    pub(super) fn tell_end(
        &self,
        (position, key): (usize, CallKey),
        ended: &EndedCall,
        was_decided: bool,
        trace: Option<Trace>,
    ) {
        let Some(observer) = &self.gate.marks.observer else { return };
        let call = self.calls.get(position);
        let over = CallFinished {
            key,
            caller: self.plan.caller(),
            name: call.map_or("", |call| call.name.as_str()),
            call_id: call.filter(|call| call.named).map(|call| call.id.as_str()),
            tool: ended.place.and_then(|place| self.plan.at(place)).map(CatalogTool::identity),
            outcome: &ended.outcome,
            was_decided,
            attempts: ended.attempts,
            waited: ended.waited,
            ran: ended.ran,
            trace,
        };
        // An observer that breaks costs its own record and no call.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| observer.ended(over)));
    }
}

impl Executor {
    pub(super) fn tell_lookup(&self, lookup: LookupFinished) {
        let Some(observer) = &self.0.marks.observer else { return };
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| observer.looked_up(lookup)));
    }
}
