//! A call under a key of its caller: it runs once, and whoever asks again gets the same answer.

use super::asked;
use super::stored_response;
use crate::call::Call;
use crate::call::arguments::Arguments;
use crate::catalog::Listed;
use crate::gate::batch::Batch;
use crate::gate::batch::pending_call::Ended;
use crate::gate::executor::Gate;
use crate::ledger::error::LedgerError;
use crate::ledger::{Begun, KeyEnd, Ledger, OnceKey};
use crate::observe::failpoint;
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};

/// Asks for the key of a call, if it has one. `Err`: the call does not run, and this is its answer.
pub(crate) async fn begin(
    batch: &Batch,
    call: &Call,
    tool: &Listed,
    arguments: &Arguments,
) -> Result<Option<OnceKey>, Box<Ended>> {
    let Some(key) = &call.key else { return Ok(None) };
    let caller = batch.plan.caller().as_ref().clone();
    let (name, source) = (tool.spec.name.clone(), Some(tool.spec.origin.source.clone()));
    let key = OnceKey { caller, tool: name, source, key: key.clone() };
    if !key.fits() {
        return Err(refused(ErrorKind::InvalidCall, messages::unfit_key()));
    }
    let ledger = &*batch.gate.ledger;
    match asked(async { ledger.begin(&key, arguments.digest()).await }).await {
        Ok(Begun::New) => {
            failpoint::reached("key begun");
            Ok(Some(key))
        }
        Ok(Begun::Running) if let Some(asks) = asks(&batch.gate, &key) => Err(asks),
        Ok(begun) => Err(follow(&batch.gate, &key, begun).await),
        Err(error) => Err(unrecorded(error)),
    }
}

/// What a call that runs under a key asks a person, if it does.
pub(crate) fn asks(gate: &Gate, key: &OnceKey) -> Option<Box<Ended>> {
    let pending = ToolOutcome::Pending(gate.asked.under(key)?);
    Some(Box::new(Ended { replayed: true, ..Ended::unstarted(pending, Vec::new()) }))
}

/// What was answered before; a call that waited for a person may have an end meanwhile.
async fn follow(gate: &Gate, key: &OnceKey, begun: Begun) -> Box<Ended> {
    let (ledger, first) = (&*gate.ledger, answer(begun));
    let ToolOutcome::Pending(pending) = &first.outcome else { return first };
    let of_ticket = OnceKey::of_ticket(&key.caller, &pending.ticket);
    if let Some(decided) = decided(gate, &of_ticket).await {
        return decided;
    }
    match asked(async { ledger.ticket(&pending.ticket, &key.caller).await }).await {
        Ok(Some(_)) => return first,
        Ok(None) => {}
        Err(error) => return unrecorded(error),
    }
    // Somebody may have taken it between the two questions.
    if let Some(decided) = decided(gate, &of_ticket).await {
        return decided;
    }
    let denied = ToolOutcome::Denied { reason: "nobody decided about it in time".to_owned() };
    Box::new(Ended { replayed: true, ..Ended::unstarted(denied, Vec::new()) })
}

/// What is on record of a ticket that somebody took.
async fn decided(gate: &Gate, of_ticket: &OnceKey) -> Option<Box<Ended>> {
    match asked(async { gate.ledger.recorded(of_ticket).await }).await {
        Ok(Begun::New) => None,
        Ok(Begun::Running) if let Some(asks) = asks(gate, of_ticket) => Some(asks),
        Ok(begun) => Some(answer(begun)),
        Err(error) => Some(unrecorded(error)),
    }
}

/// What is said of a call that was begun before.
pub(crate) fn answer(begun: Begun) -> Box<Ended> {
    match begun {
        Begun::Ended(answer) => Box::new(stored_response::read(answer)),
        Begun::Unknown => Box::new(stored_response::lost()),
        Begun::Running | Begun::New => refused(ErrorKind::Busy, messages::key_runs()),
        Begun::Conflict => refused(ErrorKind::InvalidCall, messages::key_of_another()),
    }
}

/// Puts what came of a call on record under its keys. A call that certainly did not run frees the
/// key of its caller, unless a person decided about it; a ticket stays used.
pub(crate) async fn settle(ledger: &dyn Ledger, keys: &[OnceKey], ended: &Ended) {
    let decided = keys.iter().any(OnceKey::is_of_ticket);
    for key in keys {
        let end = match stored_response::write(ended) {
            _ if ended.did_not_run() && !decided => KeyEnd::Free,
            None => KeyEnd::Lost,
            Some(now) if key.is_of_ticket() => {
                KeyEnd::Told { now, later: stored_response::brief(ended) }
            }
            Some(answer) if decided => KeyEnd::Late(answer),
            Some(answer) => KeyEnd::Answered(answer),
        };
        // A ledger that cannot write it now owes it, as it owes the end of the call.
        let _ = asked(async { ledger.settle(key, end).await }).await;
        failpoint::reached("key settled");
    }
}

fn refused(kind: ErrorKind, message: String) -> Box<Ended> {
    let error = ToolError::new(kind, message);
    Box::new(Ended::unstarted(ToolOutcome::Failed(error), Vec::new()))
}

pub(crate) fn unrecorded(error: LedgerError) -> Box<Ended> {
    let error = ToolError::new(ErrorKind::Unavailable, messages::ledger_down()).because(error);
    Box::new(Ended::unstarted(ToolOutcome::Failed(error), Vec::new()))
}
