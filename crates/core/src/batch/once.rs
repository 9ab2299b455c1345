//! A call under a key of its caller: it runs once, and whoever asks again gets the same answer.

use super::ended::Ended;
use super::executor::Gate;
use super::record::asked;
use super::recorded;
use super::shared::Batch;
use crate::advice;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::catalog::Listed;
use crate::ledger::{Begun, KeyEnd, Ledger, OnceKey};
use crate::ledger_error::LedgerError;
use crate::moment;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};

/// Asks for the key of a call, if it has one. `Err`: the call does not run, and this is its answer.
pub(super) async fn begin(
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
        return Err(refused(ErrorKind::InvalidCall, advice::unfit_key()));
    }
    let ledger = &*batch.gate.ledger;
    match asked(async { ledger.begin(&key, arguments.digest()).await }).await {
        Ok(Begun::New) => {
            moment::reached("key begun");
            Ok(Some(key))
        }
        Ok(Begun::Running) if let Some(asks) = asks(&batch.gate, &key) => Err(asks),
        Ok(begun) => Err(follow(&batch.gate, &key, begun).await),
        Err(error) => Err(unrecorded(error)),
    }
}

/// What a call that runs under a key asks a person, if it does.
pub(super) fn asks(gate: &Gate, key: &OnceKey) -> Option<Box<Ended>> {
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
pub(super) fn answer(begun: Begun) -> Box<Ended> {
    match begun {
        Begun::Ended(answer) => Box::new(recorded::read(answer)),
        Begun::Unknown => Box::new(recorded::lost()),
        Begun::Running | Begun::New => refused(ErrorKind::Busy, advice::key_runs()),
        Begun::Conflict => refused(ErrorKind::InvalidCall, advice::key_of_another()),
    }
}

/// Puts what came of a call on record under its keys. A call that certainly did not run frees the
/// key of its caller, unless a person decided about it; a ticket stays used.
pub(super) async fn settle(ledger: &dyn Ledger, keys: &[OnceKey], ended: &Ended) {
    let decided = keys.iter().any(OnceKey::is_of_ticket);
    for key in keys {
        let end = match recorded::write(ended) {
            _ if ended.did_not_run() && !decided => KeyEnd::Free,
            None => KeyEnd::Lost,
            Some(now) if key.is_of_ticket() => KeyEnd::Told { now, later: recorded::brief(ended) },
            Some(answer) if decided => KeyEnd::Late(answer),
            Some(answer) => KeyEnd::Answered(answer),
        };
        // A ledger that cannot write it now owes it, as it owes the end of the call.
        let _ = asked(async { ledger.settle(key, end).await }).await;
        moment::reached("key settled");
    }
}

fn refused(kind: ErrorKind, message: String) -> Box<Ended> {
    let error = ToolError::new(kind, message);
    Box::new(Ended::unstarted(ToolOutcome::Failed(error), Vec::new()))
}

pub(super) fn unrecorded(error: LedgerError) -> Box<Ended> {
    let error = ToolError::new(ErrorKind::Unavailable, advice::ledger_down()).because(error);
    Box::new(Ended::unstarted(ToolOutcome::Failed(error), Vec::new()))
}
