//! Steps 6 to 9 of one call: decide, park, record, wait for its turn, run, govern, record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, timeout};

use super::attempt::{Attempts, Tries};
use super::bounds::Place;
use super::record::asked;
use super::watch::Watch;
use super::{Batch, govern};
use crate::advice;
use crate::call::{Call, CallKey};
use crate::catalog::Listed;
use crate::effect::Effect;
use crate::ledger::{Ending, Planned, ResultHandle};
use crate::outcome::{ErrorKind, Pending, ToolError, ToolOutcome};
use crate::policy::{Intent, Verdict};
use crate::ticket::{Parked, TicketId};
use crate::tool::Arguments;

/// How the call at one position of a batch ended.
pub(super) struct Ended {
    pub(super) outcome: ToolOutcome,
    /// The call ended as the one at this position did; `outcome` says nothing then.
    pub(super) copy_of: Option<usize>,
    pub(super) place: Option<u32>,
    pub(super) key: Option<CallKey>,
    pub(super) repairs: Vec<String>,
    pub(super) whole: Option<ResultHandle>,
    pub(super) attempts: u32,
    pub(super) waited: Duration,
    pub(super) ran: Duration,
    pub(super) ledger_fault: Option<String>,
}

impl Ended {
    pub(super) fn unstarted(outcome: ToolOutcome, repairs: Vec<String>) -> Self {
        Self {
            outcome,
            copy_of: None,
            place: None,
            key: None,
            repairs,
            whole: None,
            attempts: 0,
            waited: Duration::ZERO,
            ran: Duration::ZERO,
            ledger_fault: None,
        }
    }

    pub(super) fn copy(of: usize) -> Self {
        let outcome = ToolOutcome::Denied { reason: String::new() };
        Self { copy_of: Some(of), ..Self::unstarted(outcome, Vec::new()) }
    }
}

/// A call that was admitted.
pub(super) struct OneCall {
    pub(super) batch: Arc<Batch>,
    pub(super) position: usize,
    pub(super) place: u32,
    pub(super) key: CallKey,
    pub(super) repairs: Vec<String>,
}

impl OneCall {
    /// `approved`: a person has said yes to what had to be asked; a policy that says no still has
    /// its way.
    pub(super) async fn run(self, arguments: Arguments, approved: bool, watch: &Watch) -> Ended {
        let batch = Arc::clone(&self.batch);
        let Some((call, tool)) = self.subject(&batch) else {
            return self.ended(failed(ErrorKind::Internal, advice::crashed()));
        };
        // A tool that asks for itself is asked about, however lenient the policy is.
        let floor = tool.spec.approval.clone().map_or(Verdict::Allow, Verdict::Ask);
        let decided = tokio::select! {
            biased;
            verdict = decide(&batch, tool, &arguments) => verdict,
            () = batch.cancel.cancelled() => return self.ended(not_started()),
        };
        match decided.strictest(floor) {
            Verdict::Ask(reason) if !approved => {
                let outcome = park(&batch, call, tool, arguments, reason).await;
                self.ended(outcome)
            }
            Verdict::Deny(reason) => self.ended(ToolOutcome::Denied { reason }),
            Verdict::Allow | Verdict::Ask(_) => self.permitted(call, tool, arguments, watch).await,
        }
    }

    fn subject<'a>(&self, batch: &'a Batch) -> Option<(&'a Call, &'a Listed)> {
        Some((batch.calls.get(self.position)?, batch.plan.at(self.place)?))
    }

    /// Steps 7 to 9.
    async fn permitted(
        self,
        call: &Call,
        tool: &Listed,
        arguments: Arguments,
        watch: &Watch,
    ) -> Ended {
        let ledger = &self.batch.gate.ledger;
        let planned = Planned {
            key: self.key,
            call_id: &call.id,
            caller: self.batch.plan.caller(),
            tool: &tool.spec,
            fingerprint: tool.fingerprint,
            arguments: &arguments,
        };
        let mut ledger_fault = None;
        if let Err(error) = asked(async { ledger.planned(planned).await }).await {
            if tool.spec.effect != Effect::Read {
                // The row may be there all the same, if only the answer was missing.
                let ending = Ending::NotExecuted;
                let _ = asked(async { ledger.finished(self.key, ending).await }).await;
                let error = ToolError::new(ErrorKind::Busy, advice::ledger_down()).because(error);
                return self.ended(ToolOutcome::Failed(error));
            }
            // Reading is harmless: it goes on without its row, and the operator is told.
            ledger_fault = Some(error.to_string());
        }
        let queued = Instant::now();
        let turn = self.turn(tool).await;
        let started = Instant::now();
        let (tries, ending) = match turn {
            Ok(_place) => Attempts::new(&self.batch, tool, self.key, watch).run(arguments).await,
            Err(outcome) => (Tries { outcome, attempts: 0 }, Ending::NotExecuted),
        };
        let (waited, ran) = (started - queued, started.elapsed());
        // Unless the one who waits has given up and recorded the end already.
        if watch.settle()
            && let Err(error) = asked(async { ledger.finished(self.key, ending).await }).await
        {
            ledger_fault = Some(error.to_string());
        }
        let governed = govern::govern(&self.batch, tool, tries.outcome).await;
        let (whole, attempts) = (governed.whole, tries.attempts);
        Ended { whole, attempts, waited, ran, ledger_fault, ..self.ended(governed.outcome) }
    }

    /// Waits for the calls before it and for a free place.
    async fn turn(&self, tool: &Listed) -> Result<Place, ToolOutcome> {
        let cancel = &self.batch.cancel;
        for end in self.batch.order.before(self.position) {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(not_started()),
                () = end.cancelled() => {}
            }
        }
        if cancel.is_cancelled() {
            return Err(not_started());
        }
        tokio::select! {
            biased;
            place = self.batch.bounds.place(&self.batch.gate.bounds, &tool.spec.origin.source) => {
                place.ok_or_else(|| failed(ErrorKind::Busy, advice::busy()))
            }
            () = cancel.cancelled() => Err(not_started()),
        }
    }

    fn ended(self, outcome: ToolOutcome) -> Ended {
        Ended {
            place: Some(self.place),
            key: Some(self.key),
            ..Ended::unstarted(outcome, self.repairs)
        }
    }
}

fn failed(kind: ErrorKind, message: String) -> ToolOutcome {
    ToolOutcome::Failed(ToolError::new(kind, message))
}

fn not_started() -> ToolOutcome {
    failed(ErrorKind::Cancelled, advice::not_started())
}

/// Step 6: the policy's own word. A policy that panics, or takes longer than a call, denies.
async fn decide(batch: &Batch, tool: &Listed, arguments: &Arguments) -> Verdict {
    let intent = Intent { caller: batch.plan.caller(), tool: &tool.spec, arguments };
    let deciding = async { batch.gate.policy.decide(intent).await };
    let deciding = AssertUnwindSafe(deciding).catch_unwind();
    match timeout(batch.gate.limits.timeout, deciding).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(_)) | Err(_) => Verdict::Deny("the policy could not decide".to_owned()),
    }
}

async fn park(
    batch: &Batch,
    call: &Call,
    tool: &Listed,
    arguments: Arguments,
    reason: String,
) -> ToolOutcome {
    let ticket = TicketId::unguessable();
    let parked = Parked {
        ticket: ticket.clone(),
        caller: batch.plan.caller().as_ref().clone(),
        tool: tool.spec.name.clone(),
        source: tool.spec.origin.source.clone(),
        fingerprint: tool.fingerprint,
        arguments,
        reason: reason.clone(),
        lifetime: batch.gate.limits.ticket_lifetime,
        call_id: call.id.clone(),
        wire: call.wire.clone(),
    };
    match asked(async { batch.gate.ledger.park(parked).await }).await {
        Ok(()) => ToolOutcome::Pending(Pending { ticket, reason }),
        Err(error) => {
            let error = ToolError::new(ErrorKind::Busy, advice::ledger_down()).because(error);
            ToolOutcome::Failed(error)
        }
    }
}
