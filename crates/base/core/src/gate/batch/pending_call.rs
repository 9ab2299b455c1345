//! A call that was admitted, and how it ended.

use std::sync::Arc;
use std::time::Duration;

use super::Batch;
use crate::call::arguments::Arguments;
use crate::call::{Call, CallKey};
use crate::catalog::CatalogTool;
use crate::ledger::ticket::{ParkedCall, TicketId};
use crate::ledger::{Ending, IdempotencyKey, ResultHandle};
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};

/// How the call at one position of a batch ended.
pub(crate) struct EndedCall {
    pub(crate) outcome: ToolOutcome,
    /// The call ended as the one at this position did; `outcome` says nothing then.
    pub(crate) copy_of: Option<usize>,
    pub(crate) place: Option<u32>,
    pub(crate) key: Option<CallKey>,
    pub(crate) repairs: Vec<String>,
    pub(crate) whole: Option<ResultHandle>,
    pub(crate) attempts: u32,
    /// What was recorded of it; `None`: it was not planned.
    pub(crate) ending: Option<Ending>,
    /// It is an answer of before.
    pub(crate) replayed: bool,
    /// A process before began it.
    pub(crate) was_begun: bool,
    pub(crate) waited: Duration,
    pub(crate) ran: Duration,
    pub(crate) ledger_fault: Option<String>,
}

impl EndedCall {
    pub(crate) fn unstarted(outcome: ToolOutcome, repairs: Vec<String>) -> Self {
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
            was_begun: false,
            waited: Duration::ZERO,
            ran: Duration::ZERO,
            ledger_fault: None,
        }
    }

    pub(crate) fn copy(of: usize) -> Self {
        let outcome = ToolOutcome::Denied { reason: String::new() };
        Self { copy_of: Some(of), ..Self::unstarted(outcome, Vec::new()) }
    }

    /// Whether the call goes on after this answer: it waits for somebody to answer what it asks.
    pub(crate) fn goes_on(&self) -> bool {
        matches!(&self.outcome, ToolOutcome::Pending(pending) if pending.question.is_some())
    }

    /// Whether the call certainly had no effect and waits for nobody.
    pub(crate) fn did_not_run(&self) -> bool {
        let waits = matches!(self.outcome, ToolOutcome::Pending(_));
        !waits && self.ending.is_none_or(|ending| ending == Ending::NotExecuted)
    }
}

/// A call that was admitted.
pub(crate) struct PendingCall {
    pub(crate) batch: Arc<Batch>,
    pub(crate) position: usize,
    pub(crate) place: u32,
    pub(crate) key: CallKey,
    pub(crate) repairs: Vec<String>,
    /// The ticket by which it comes back: a person has said yes to what had to be asked. A policy
    /// that says no still has its way.
    pub(crate) ticket: Option<TicketId>,
    /// Under which what comes of the ticket is recorded.
    pub(crate) keys: Vec<IdempotencyKey>,
}

pub(crate) fn failed(kind: ErrorKind, message: String) -> ToolOutcome {
    ToolOutcome::Failed(ToolError::new(kind, message))
}

pub(crate) fn not_started() -> ToolOutcome {
    failed(ErrorKind::Cancelled, messages::not_started())
}

/// A call as it is kept under a ticket.
pub(crate) fn parked(
    batch: &Batch,
    call: &Call,
    tool: &CatalogTool,
    arguments: Arguments,
    (ticket, reason): (TicketId, String),
) -> ParkedCall {
    ParkedCall {
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
