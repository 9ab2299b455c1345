//! A call that was admitted, and how it ended.

use std::sync::Arc;
use std::time::Duration;

use super::shared::Batch;
use crate::advice;
use crate::arguments::Arguments;
use crate::call::{Call, CallKey};
use crate::catalog::Listed;
use crate::ledger::{Ending, OnceKey, ResultHandle};
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::ticket::{Parked, TicketId};

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
    /// What was recorded of it; `None`: it was not planned.
    pub(super) ending: Option<Ending>,
    /// It is an answer of before.
    pub(super) replayed: bool,
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
            ending: None,
            replayed: false,
            waited: Duration::ZERO,
            ran: Duration::ZERO,
            ledger_fault: None,
        }
    }

    pub(super) fn copy(of: usize) -> Self {
        let outcome = ToolOutcome::Denied { reason: String::new() };
        Self { copy_of: Some(of), ..Self::unstarted(outcome, Vec::new()) }
    }

    /// Whether the call goes on after this answer: it waits for somebody to answer what it asks.
    pub(super) fn goes_on(&self) -> bool {
        matches!(&self.outcome, ToolOutcome::Pending(pending) if pending.question.is_some())
    }

    /// Whether the call certainly had no effect and waits for nobody.
    pub(super) fn did_not_run(&self) -> bool {
        let waits = matches!(self.outcome, ToolOutcome::Pending(_));
        !waits && self.ending.is_none_or(|ending| ending == Ending::NotExecuted)
    }
}

/// A call that was admitted.
pub(super) struct OneCall {
    pub(super) batch: Arc<Batch>,
    pub(super) position: usize,
    pub(super) place: u32,
    pub(super) key: CallKey,
    pub(super) repairs: Vec<String>,
    /// The ticket by which it comes back: a person has said yes to what had to be asked. A policy
    /// that says no still has its way.
    pub(super) ticket: Option<TicketId>,
    /// Under which what comes of the ticket is recorded.
    pub(super) keys: Vec<OnceKey>,
}

pub(super) fn failed(kind: ErrorKind, message: String) -> ToolOutcome {
    ToolOutcome::Failed(ToolError::new(kind, message))
}

pub(super) fn not_started() -> ToolOutcome {
    failed(ErrorKind::Cancelled, advice::not_started())
}

/// A call as it is kept under a ticket.
pub(super) fn parked(
    batch: &Batch,
    call: &Call,
    tool: &Listed,
    arguments: Arguments,
    (ticket, reason): (TicketId, String),
) -> Parked {
    Parked {
        ticket,
        caller: batch.plan.caller().as_ref().clone(),
        tool: tool.spec.name.clone(),
        source: tool.spec.origin.source.clone(),
        fingerprint: tool.fingerprint,
        arguments,
        session: batch.plan.session().cloned(),
        profile: batch.gate.marks.profile.clone(),
        key: call.key.clone(),
        mark: batch.mark.clone(),
        reason,
        lifetime: batch.gate.limits.ticket_lifetime,
        call_id: call.id.clone(),
        wire: call.wire.clone(),
        question: None,
    }
}
