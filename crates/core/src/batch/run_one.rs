//! Steps 6 to 9 of one call: decide, park, record, wait for its turn, run, govern, record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempts, Tries};
use super::bounds::{BatchBounds, Place};
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
    pub(super) outcome: Option<ToolOutcome>,
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
            outcome: Some(outcome),
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
        let outcome = ToolOutcome::Denied {
            reason: String::new(),
        };
        Self {
            outcome: None,
            copy_of: Some(of),
            ..Self::unstarted(outcome, Vec::new())
        }
    }
}

/// A call that was admitted.
pub(super) struct OneCall<'a> {
    pub(super) batch: &'a Batch,
    pub(super) call: &'a Call,
    pub(super) place: u32,
    pub(super) key: CallKey,
    pub(super) repairs: Vec<String>,
}

impl OneCall<'_> {
    pub(super) async fn run(
        self,
        arguments: Arguments,
        before: &[CancellationToken],
        bounds: &BatchBounds<'_>,
    ) -> Ended {
        let plan = self.batch.plan.clone();
        let Some(tool) = plan.at(self.place) else {
            return Ended::unstarted(failed(ErrorKind::Internal, advice::crashed()), self.repairs);
        };
        match self.decide(tool, &arguments).await {
            Verdict::Allow => self.permitted(tool, arguments, before, bounds).await,
            Verdict::Deny(reason) => self.ended(ToolOutcome::Denied { reason }),
            Verdict::Ask(reason) => {
                let outcome = self.park(tool, arguments, reason).await;
                self.ended(outcome)
            }
        }
    }

    /// Step 6. A policy that panics denies.
    async fn decide(&self, tool: &Listed, arguments: &Arguments) -> Verdict {
        let floor = tool
            .spec
            .approval
            .clone()
            .map_or(Verdict::Allow, Verdict::Ask);
        decide(self.batch, tool, arguments).await.strictest(floor)
    }

    async fn park(&self, tool: &Listed, arguments: Arguments, reason: String) -> ToolOutcome {
        let ticket = TicketId::unguessable();
        let parked = Parked {
            ticket: ticket.clone(),
            caller: self.batch.plan.caller().as_ref().clone(),
            tool: tool.spec.name.clone(),
            fingerprint: tool.fingerprint,
            arguments,
            reason: reason.clone(),
            lifetime: self.batch.gate.limits.ticket_lifetime,
            call_id: self.call.id.clone(),
            wire: self.call.wire.clone(),
        };
        match self.batch.gate.ledger.park(parked).await {
            Ok(()) => ToolOutcome::Pending(Pending { ticket, reason }),
            Err(error) => {
                let error = ToolError::new(ErrorKind::Busy, advice::ledger_down()).because(error);
                ToolOutcome::Failed(error)
            }
        }
    }

    /// Steps 7 to 9.
    pub(super) async fn permitted(
        self,
        tool: &Listed,
        arguments: Arguments,
        before: &[CancellationToken],
        bounds: &BatchBounds<'_>,
    ) -> Ended {
        let ledger = &self.batch.gate.ledger;
        let planned = Planned {
            key: self.key,
            call_id: &self.call.id,
            caller: self.batch.plan.caller(),
            tool: &tool.spec,
            fingerprint: tool.fingerprint,
            arguments: &arguments,
        };
        let mut ledger_fault = None;
        if let Err(error) = ledger.planned(planned).await {
            if tool.spec.effect != Effect::Read {
                let error = ToolError::new(ErrorKind::Busy, advice::ledger_down()).because(error);
                return self.ended(ToolOutcome::Failed(error));
            }
            // Reading is harmless: it goes on without its row, and the operator is told.
            ledger_fault = Some(error.to_string());
        }
        let queued = Instant::now();
        let turn = self.turn(tool, before, bounds).await;
        let waited = queued.elapsed();
        let started = Instant::now();
        let (tries, ending) = match turn {
            Ok(_place) => Attempts::new(&self, tool).run(arguments).await,
            Err(outcome) => (
                Tries {
                    outcome,
                    attempts: 0,
                },
                Ending::NotExecuted,
            ),
        };
        if let Err(error) = ledger.finished(self.key, ending).await {
            ledger_fault = Some(error.to_string());
        }
        let ran = started.elapsed();
        let governed = govern::govern(self.batch, tool, tries.outcome).await;
        let (whole, attempts) = (governed.whole, tries.attempts);
        Ended {
            whole,
            attempts,
            waited,
            ran,
            ledger_fault,
            ..self.ended(governed.outcome)
        }
    }

    /// Waits for the calls before it and for a free place.
    async fn turn(
        &self,
        tool: &Listed,
        before: &[CancellationToken],
        bounds: &BatchBounds<'_>,
    ) -> Result<Place, ToolOutcome> {
        let cancel = &self.batch.cancel;
        let not_started = || failed(ErrorKind::Cancelled, advice::not_started());
        for end in before {
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
            place = bounds.place(&tool.spec.origin.source) => {
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

/// The policy's own word, without the tool's floor.
pub(super) async fn decide(batch: &Batch, tool: &Listed, arguments: &Arguments) -> Verdict {
    let caller = batch.plan.caller();
    let intent = Intent {
        caller,
        tool: &tool.spec,
        arguments,
    };
    let policy = Arc::clone(&batch.gate.policy);
    let decided = AssertUnwindSafe(async { policy.decide(intent).await })
        .catch_unwind()
        .await;
    decided.unwrap_or_else(|_| Verdict::Deny("the policy could not decide".to_owned()))
}

fn failed(kind: ErrorKind, message: String) -> ToolOutcome {
    ToolOutcome::Failed(ToolError::new(kind, message))
}
