//! A call under a key of its caller: it runs once, and whoever asks again gets the same answer.

use super::guarded;
use super::stored_response;
use crate::call::Call;
use crate::call::arguments::Arguments;
use crate::catalog::CatalogTool;
use crate::gate::batch::Batch;
use crate::gate::batch::pending_call::EndedCall;
use crate::gate::executor::Gate;
use crate::ledger::error::LedgerError;
use crate::ledger::ticket::TicketId;
use crate::ledger::{Checkpoint, IdempotencyKey, KeyResult, KeyState, Ledger};
use crate::observe::failpoint;
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};

/// A call that runs.
#[derive(Default)]
pub(crate) struct BegunCall {
    /// Under which.
    pub(crate) keys: Vec<IdempotencyKey>,
    /// By which a person let it run in a process before.
    pub(crate) ticket: Option<TicketId>,
    /// What that process left.
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// Asks for the key of a call, if it has one. `Err`: the call does not run, and this is its answer.
pub(crate) async fn begin(
    batch: &Batch,
    call: &Call,
    tool: &CatalogTool,
    arguments: &Arguments,
) -> Result<BegunCall, Box<EndedCall>> {
    let Some(key) = &call.key else { return Ok(BegunCall::default()) };
    let caller = batch.plan.caller().as_ref().clone();
    let (name, source) = (tool.spec.name.clone(), Some(tool.spec.origin.source.clone()));
    let key = IdempotencyKey { caller, tool: name, source, key: key.clone() };
    if !key.fits() {
        return Err(refused(ErrorKind::InvalidCall, messages::unfit_key()));
    }
    let gate = &*batch.gate;
    let begun = guarded(async { gate.ledger.begin(&key, arguments.digest()).await }).await;
    let begun = begun.map_err(unrecorded)?;
    if begun == KeyState::New {
        failpoint::reached("key begun");
        return Ok(BegunCall { keys: vec![key], ..BegunCall::default() });
    }
    if begun == KeyState::Running
        && let Some(asks) = asks(gate, &key)
    {
        return Err(asks);
    }
    if tool.tool.resumes()
        && let Some(taken_up) = take_up(gate, &key, &begun).await?
    {
        return Ok(taken_up);
    }
    Err(follow(gate, &key, begun).await)
}

/// Takes up a call that a process before began, by its own key or by the ticket that it ran under.
async fn take_up(
    gate: &Gate,
    key: &IdempotencyKey,
    begun: &KeyState,
) -> Result<Option<BegunCall>, Box<EndedCall>> {
    let (lost, ticket) = match begun {
        KeyState::Unknown => (key.clone(), None),
        KeyState::Ended(answer) => {
            let Some(ticket) = stored_response::ticket(answer) else { return Ok(None) };
            (IdempotencyKey::of_ticket(&key.caller, &ticket), Some(ticket))
        }
        KeyState::New | KeyState::Running | KeyState::Conflict => return Ok(None),
    };
    let checkpoint = guarded(async { gate.ledger.take_up(&lost).await }).await;
    let Some(checkpoint) = checkpoint.map_err(unrecorded)? else { return Ok(None) };
    let of_call = ticket.is_some().then(|| key.clone());
    let keys = [lost].into_iter().chain(of_call).collect();
    Ok(Some(BegunCall { keys, ticket, checkpoint: Some(checkpoint) }))
}

/// What a call that runs under a key asks a person, if it does.
pub(crate) fn asks(gate: &Gate, key: &IdempotencyKey) -> Option<Box<EndedCall>> {
    let pending = ToolOutcome::Pending(gate.asked.under(key)?);
    Some(Box::new(EndedCall { replayed: true, ..EndedCall::unstarted(pending, Vec::new()) }))
}

/// What was answered before; a call that waited for a person may have an end meanwhile.
async fn follow(gate: &Gate, key: &IdempotencyKey, begun: KeyState) -> Box<EndedCall> {
    let (ledger, first) = (&*gate.ledger, answer(gate, begun));
    let ToolOutcome::Pending(pending) = &first.outcome else { return first };
    let of_ticket = IdempotencyKey::of_ticket(&key.caller, &pending.ticket);
    if let Some(decided) = decided(gate, &of_ticket).await {
        return decided;
    }
    match guarded(async { ledger.ticket(&pending.ticket, &key.caller).await }).await {
        Ok(Some(_)) => return first,
        Ok(None) => {}
        Err(error) => return unrecorded(error),
    }
    // Somebody may have taken it between the two questions.
    if let Some(decided) = decided(gate, &of_ticket).await {
        return decided;
    }
    let denied = ToolOutcome::Denied { reason: "nobody decided about it in time".to_owned() };
    Box::new(EndedCall { replayed: true, ..EndedCall::unstarted(denied, Vec::new()) })
}

/// What is on record of a ticket that somebody took.
async fn decided(gate: &Gate, of_ticket: &IdempotencyKey) -> Option<Box<EndedCall>> {
    match guarded(async { gate.ledger.recorded(of_ticket).await }).await {
        Ok(KeyState::New) => None,
        Ok(KeyState::Running) if let Some(asks) = asks(gate, of_ticket) => Some(asks),
        Ok(begun) => Some(answer(gate, begun)),
        Err(error) => Some(unrecorded(error)),
    }
}

/// What is said of a call that was begun before.
pub(crate) fn answer(gate: &Gate, begun: KeyState) -> Box<EndedCall> {
    match begun {
        KeyState::Ended(answer) => Box::new(stored_response::read(answer, gate.marks.hints)),
        KeyState::Unknown => Box::new(stored_response::lost(gate.marks.hints)),
        KeyState::Running | KeyState::New => refused(ErrorKind::Busy, messages::key_runs()),
        KeyState::Conflict => refused(ErrorKind::InvalidCall, messages::key_of_another()),
    }
}

/// Puts what came of a call on record under its keys. A call that certainly did not run frees the
/// key of its caller, unless a person decided about it; a ticket stays used. `was_begun`: by a
/// process before, so that it can be taken up once more if nothing came of it now.
pub(crate) async fn settle(
    ledger: &dyn Ledger,
    (keys, was_begun): (&[IdempotencyKey], bool),
    ended: &EndedCall,
) {
    let decided = keys.iter().any(IdempotencyKey::is_of_ticket);
    for key in keys {
        let end = match stored_response::write(ended) {
            _ if ended.did_not_run() && was_begun => KeyResult::Lost,
            _ if ended.did_not_run() && !decided => KeyResult::Free,
            None => KeyResult::Lost,
            Some(now) if key.is_of_ticket() => {
                KeyResult::Told { now, later: stored_response::brief(ended) }
            }
            Some(answer) if decided => KeyResult::Late(answer),
            Some(answer) => KeyResult::Answered(answer),
        };
        // A ledger that cannot write it now owes it, as it owes the end of the call.
        let _ = guarded(async { ledger.settle(key, end).await }).await;
        failpoint::reached("key settled");
    }
}

fn refused(kind: ErrorKind, message: String) -> Box<EndedCall> {
    let error = ToolError::new(kind, message);
    Box::new(EndedCall::unstarted(ToolOutcome::Failed(error), Vec::new()))
}

pub(crate) fn unrecorded(error: LedgerError) -> Box<EndedCall> {
    let error = ToolError::new(ErrorKind::Unavailable, messages::ledger_down()).because(error);
    Box::new(EndedCall::unstarted(ToolOutcome::Failed(error), Vec::new()))
}
