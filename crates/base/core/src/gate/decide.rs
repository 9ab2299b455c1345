//! Steps 6 to 9 of one call: decide, park, wait for its turn, record, run, govern, record.

mod consent;
pub(crate) mod preview;
mod resource_read;
mod resource_reader;
mod resource_request;
pub(crate) mod trial;
mod undeclared_effect;
mod verdict;

use std::sync::Arc;
use std::time::SystemTime;

use tokio::time::Instant;

use super::batch::Batch;
use super::govern;
use super::observe::DecisionSubject;
use super::record::guarded;
use super::schedule::{self, ScheduledCall};
use crate::call::Call;
use crate::call::arguments::Arguments;
use crate::catalog::CatalogTool;
use crate::gate::batch::pending_call::{EndedCall, PendingCall, failed, not_started, parked};
use crate::gate::run::attempt::{AttemptRunner, AttemptsOutcome};
use crate::gate::run::late_answer::LateAttempt;
use crate::gate::run::lookup::OutcomeLookup;
use crate::gate::run::supervise::Supervision;
use crate::gate::{
    record::{idempotency, unknown_outcome},
    run::late_answer,
};
use crate::ledger::error::LedgerError;
use crate::ledger::ticket::TicketId;
use crate::ledger::{Ending, EndingReport, IdempotencyKey, PlannedCall};
use crate::observe::failpoint;
use crate::observe::observer::Ruling;
use crate::outcome::messages;
use crate::outcome::{ErrorKind, PendingTicket, ToolError, ToolOutcome};
use crate::policy::Verdict;
use crate::tool::effect::Effect;
use verdict::decide_on;

impl PendingCall {
    pub(super) async fn run(mut self, arguments: Arguments, watch: &Arc<Supervision>) -> EndedCall {
        let batch = Arc::clone(&self.batch);
        let Some((call, tool)) = self.subject(&batch) else {
            return self.ended(failed(ErrorKind::Internal, messages::crashed()));
        };
        let of_ticket = std::mem::take(&mut self.keys);
        if of_ticket.is_empty() && call.key.is_none() {
            return self.decided(call, tool, arguments, watch).await;
        }
        let begun = match idempotency::begin(&batch, call, tool, &arguments).await {
            Ok(begun) => begun,
            Err(known) => return EndedCall { place: Some(self.place), ..*known },
        };
        let keys = watch.holds(begun.keys.into_iter().chain(of_ticket).collect());
        self.ticket = self.ticket.or(begun.ticket);
        let was_begun = begun.checkpoint.is_some();
        begun.checkpoint.into_iter().for_each(|checkpoint| watch.takes_up(checkpoint));
        let ended = self.decided(call, tool, arguments, watch).await;
        if !watch.is_given_up() {
            idempotency::settle(&*batch.gate.ledger, (keys, was_begun), &ended).await;
        }
        EndedCall { was_begun, ..ended }
    }

    async fn decided(
        self,
        call: &Call,
        tool: &CatalogTool,
        arguments: Arguments,
        watch: &Arc<Supervision>,
    ) -> EndedCall {
        // What a process before let run goes on, unless it is forbidden by now.
        let approved = self.ticket.is_some() || watch.taken_up().is_some();
        let batch = Arc::clone(&self.batch);
        // A tool that asks for itself is asked about, however lenient the policy is.
        let floor = tool.spec.approval.clone().map_or(Verdict::Allow, Verdict::Ask);
        let decided = tokio::select! {
            biased;
            verdict = decide(&batch, tool, &arguments) => verdict,
            () = batch.cancel.cancelled() => return self.ended(not_started()),
        };
        let verdict = match decided.strictest(floor) {
            Verdict::Ask(_) if approved => Verdict::Allow,
            Verdict::Ask(reason) => match preview::asked(&batch, tool, &arguments, reason).await {
                Ok(question) => Verdict::Ask(question),
                Err(error) => return self.ended(ToolOutcome::Failed(error)),
            },
            verdict @ (Verdict::Allow | Verdict::Deny(_)) => verdict,
        };
        let fresh = matches!(verdict, Verdict::Ask(_)).then(TicketId::unguessable);
        let subject = DecisionSubject {
            key: self.key,
            place: self.place,
            arguments: &arguments,
            ticket: fresh.as_ref().or(self.ticket.as_ref()),
            trace: watch.trace(),
        };
        let ruling = match &verdict {
            Verdict::Allow => Ruling::Allowed,
            Verdict::Ask(reason) => Ruling::Asked(reason),
            Verdict::Deny(reason) => Ruling::Denied(reason),
        };
        match batch.tell_decision(subject, ruling).await {
            Ok(()) => watch.decides(),
            Err(error) if may_change(tool, &verdict) => {
                return self.ended(idempotency::unrecorded(error).outcome);
            }
            // What changes nothing goes on; whoever keeps the record knows what it lacks.
            Err(_) => {}
        }
        match verdict {
            Verdict::Ask(reason) => {
                let ticket = fresh.unwrap_or_else(TicketId::unguessable);
                let waits = (ticket, reason.clone());
                // A key is not free for a second ticket while there is one under it.
                let parked = match self.bind(watch).await {
                    Ok(()) => park(&batch, call, tool, arguments, waits).await,
                    Err(error) => Err(error),
                };
                self.ended(waiting(parked, reason))
            }
            Verdict::Deny(reason) => self.ended(ToolOutcome::Denied { reason }),
            Verdict::Allow => {
                let guarded = !approved && !tool.spec.harmless_to_repeat();
                if let Some(refused) = held_back(&self, call, tool, (&arguments, guarded)).await {
                    return self.ended(refused);
                }
                self.permitted(call, tool, arguments, watch).await
            }
        }
    }

    /// The keys of the call, and that of its batch.
    fn begun_under(&self, watch: &Supervision) -> Vec<IdempotencyKey> {
        watch.keys().iter().chain(&self.batch.key).cloned().collect()
    }

    async fn bind(&self, watch: &Supervision) -> Result<(), LedgerError> {
        let keys = self.begun_under(watch);
        if keys.is_empty() {
            return Ok(());
        }
        guarded(async { self.batch.gate.ledger.bind(&keys).await }).await
    }

    fn subject<'a>(&self, batch: &'a Batch) -> Option<(&'a Call, &'a CatalogTool)> {
        Some((batch.calls.get(self.position)?, batch.plan.at(self.place)?))
    }

    /// Steps 7 to 9.
    async fn permitted(
        self,
        call: &Call,
        tool: &CatalogTool,
        arguments: Arguments,
        watch: &Arc<Supervision>,
    ) -> EndedCall {
        let ledger = &self.batch.gate.ledger;
        let keys = self.begun_under(watch);
        failpoint::reached("admitted");
        let planned = self.planned(call, tool, (&arguments, &keys));
        let turn = self.turn(tool, &arguments, planned).await;
        let ScheduledCall { place, waited, fault: mut ledger_fault, .. } = match turn {
            Ok(turn) => turn,
            Err(unrecorded) => return self.ended(unrecorded),
        };
        let started = Instant::now();
        let sent = SystemTime::now();
        let lookup = OutcomeLookup::of(tool, &arguments);
        failpoint::reached("dispatched");
        let mut tries = match place {
            Ok(_place) => {
                let whereabouts = (self.position, self.place, self.key);
                let mut attempts =
                    AttemptRunner::new(&self.batch, (tool, &arguments), whereabouts, watch);
                attempts.run(arguments).await
            }
            Err(outcome) => AttemptsOutcome::none(outcome),
        };
        failpoint::reached("answered");
        let (ran, ending) = (started.elapsed(), tries.ending);
        let attempts = u32::try_from(tries.attempts.len()).unwrap_or(u32::MAX);
        if let (Ending::Unknown, ToolOutcome::Failed(error)) = (ending, &mut tries.outcome)
            && error.kind == ErrorKind::UnknownOutcome
        {
            let by = govern::looker(&self.batch);
            let at = lookup.as_ref().and_then(|lookup| lookup.shown_in(&self.batch.plan));
            let hints = self.batch.gate.marks.hints;
            unknown_outcome::unknown(error, (self.key, sent), (&tool.spec.name, by), at, hints);
        }
        // Unless the one who waits has given up and recorded the end already.
        if watch.settle() {
            let finish = EndingReport { ending, attempts: tries.attempts };
            if let Err(error) = guarded(async { ledger.ended(self.key, finish).await }).await {
                ledger_fault = Some(error.to_string());
            }
        }
        if let Some(before) = watch.taken_up()
            && !matches!(ending, Ending::Unknown | Ending::NotExecuted)
        {
            // What it could not tell of itself is known by now.
            let _ = guarded(async { ledger.resolved(before.call, ending).await }).await;
        }
        failpoint::reached("end recorded");
        if let (Ending::Unknown, Some(lookup)) = (ending, lookup) {
            lookup.begin(&self.batch, self.key);
        }
        if let (Ending::Unknown, Some((running, repeats_unknown))) = (ending, tries.rest) {
            let (over, keys) = (tries.over, watch.keys().to_vec());
            let rest = LateAttempt { running, repeats_unknown, over, keys };
            late_answer::listen(&self.batch, tool, self.key, rest);
        }
        let governed = govern::govern(&self.batch, tool, tries.outcome).await;
        let (whole, ending) = (governed.whole, Some(ending));
        let ended = self.ended(governed.outcome);
        EndedCall { whole, attempts, ending, waited, ran, ledger_fault, ..ended }
    }

    /// Waits for the turn of the call. One that had to wait may be forbidden by now; whether a
    /// person is to be asked was settled before.
    async fn turn(
        &self,
        tool: &CatalogTool,
        arguments: &Arguments,
        planned: PlannedCall<'_>,
    ) -> Result<ScheduledCall, ToolOutcome> {
        let turn = schedule::taken(self, tool, planned).await?;
        if !turn.was_queued || turn.place.is_err() {
            return Ok(turn);
        }
        match decide(&self.batch, tool, arguments).await {
            Verdict::Deny(reason) => {
                Ok(ScheduledCall { place: Err(ToolOutcome::Denied { reason }), ..turn })
            }
            Verdict::Allow | Verdict::Ask(_) => Ok(turn),
        }
    }

    fn planned<'a>(
        &'a self,
        call: &'a Call,
        tool: &'a CatalogTool,
        (arguments, keys): (&'a Arguments, &'a [IdempotencyKey]),
    ) -> PlannedCall<'a> {
        PlannedCall {
            key: self.key,
            call_id: &call.id,
            caller: self.batch.plan.caller(),
            tool: &tool.spec,
            fingerprint: tool.fingerprint,
            arguments,
            keys,
            decider: self.batch.decider.as_ref(),
        }
    }

    fn ended(self, outcome: ToolOutcome) -> EndedCall {
        EndedCall {
            place: Some(self.place),
            key: Some(self.key),
            ..EndedCall::unstarted(outcome, self.repairs)
        }
    }
}

/// What a parked call answers at first.
fn waiting(parked: Result<TicketId, LedgerError>, reason: String) -> ToolOutcome {
    match parked {
        Ok(ticket) => ToolOutcome::Pending(PendingTicket { ticket, reason, question: None }),
        Err(error) => idempotency::unrecorded(error).outcome,
    }
}

/// Whether something would be done, now or after an approval, that is no mere reading.
fn may_change(tool: &CatalogTool, verdict: &Verdict) -> bool {
    tool.spec.effect != Effect::Read && !matches!(verdict, Verdict::Deny(_))
}

/// Step 6: the policy's own word. A policy that panics, or takes longer than a call, denies.
async fn decide(batch: &Batch, tool: &CatalogTool, arguments: &Arguments) -> Verdict {
    // It tells what the plan shows, and what it brings about is decided on by itself.
    if batch.plan.is_beside(tool) {
        return Verdict::Allow;
    }
    decide_on(batch, batch.reading.as_ref().unwrap_or(&tool.spec), arguments).await
}

/// A call like one whose outcome nobody knows is held back for a while: it may be the second time.
async fn held_back(
    one: &PendingCall,
    call: &Call,
    tool: &CatalogTool,
    (arguments, is_guarded): (&Arguments, bool),
) -> Option<ToolOutcome> {
    let window = one.batch.gate.limits.guard;
    if !is_guarded || (window.is_zero() && !call.again) {
        return None;
    }
    let ledger = &one.batch.gate.ledger;
    let planned = one.planned(call, tool, (arguments, &[]));
    // Under a name of its own a call is meant to run, whatever became of one before it.
    let is_meant = call.anew || call.key.is_some() || one.batch.key.is_some();
    let like = match guarded(async { ledger.unknown_like(planned, window).await }).await {
        Ok(None) if !call.again => return None,
        Ok(Some(like)) if like.was_cancelled && is_meant && !call.again => return None,
        Ok(like) => like,
        Err(error) => return Some(idempotency::unrecorded(error).outcome),
    };
    let was_cancelled = like.as_ref().is_some_and(|like| like.was_cancelled);
    let of = like.map(|like| like.call);
    let which = of.as_ref().map_or_else(String::new, |of| format!(" (`{of}`)"));
    let reason = format!("duplicate_of_unknown: the same call{which} may have taken effect");
    let words = preview::words(&one.batch, tool, arguments).await.ok().flatten();
    let waits = (TicketId::unguessable(), preview::question(words, &reason));
    let ticket = park(&one.batch, call, tool, arguments.clone(), waits).await.ok();
    // Nobody redeems a reading.
    let ticket = ticket.filter(|_| one.batch.reading.is_none());
    let of = of.as_deref().map(|of| (of, was_cancelled));
    let hints = one.batch.gate.marks.hints;
    let message = messages::duplicate_of_unknown(of, ticket.as_ref(), hints.call_again);
    let mut error = ToolError::new(ErrorKind::DuplicateOfUnknown, message);
    let by = govern::looker(&one.batch);
    unknown_outcome::duplicate(&mut error, of, (&tool.spec.name, by), ticket.as_ref(), hints);
    Some(ToolOutcome::Failed(error))
}

/// Keeps a call until a person has decided about it.
async fn park(
    batch: &Batch,
    call: &Call,
    tool: &CatalogTool,
    arguments: Arguments,
    (ticket, reason): (TicketId, String),
) -> Result<TicketId, LedgerError> {
    if batch.reading.is_some() {
        // Whoever inquires waits with it.
        return Ok(ticket);
    }
    let parked = parked(batch, call, tool, arguments, (ticket.clone(), reason));
    guarded(async { batch.gate.ledger.park(parked).await }).await.map(|()| ticket)
}
