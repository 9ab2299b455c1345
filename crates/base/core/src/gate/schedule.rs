//! Step 7: a call has its turn and its place, and is on record before anything of it is sent.

pub(crate) mod order;
pub(crate) mod places;

use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::record::guarded;
use crate::catalog::CatalogTool;
use crate::gate::batch::pending_call::{PendingCall, failed, not_started};
use crate::gate::record::idempotency;
use crate::ledger::error::LedgerError;
use crate::ledger::{Ending, PlannedCall};
use crate::observe::failpoint;
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolOutcome};
use crate::tool::effect::Effect;
use places::PlacePermit;

/// A call of which something is on record.
pub(super) struct ScheduledCall {
    /// `Err`: it does not run, and this is its answer.
    pub(super) place: Result<PlacePermit, ToolOutcome>,
    pub(super) waited: Duration,
    /// It had to wait for its turn.
    pub(super) was_queued: bool,
    /// Why its row is not there; only of a call that reads.
    pub(super) fault: Option<String>,
}

/// `Err`: nothing of the call is on record, and it does not run.
pub(super) async fn taken(
    one: &PendingCall,
    tool: &CatalogTool,
    planned: PlannedCall<'_>,
) -> Result<ScheduledCall, ToolOutcome> {
    let ledger = &one.batch.gate.ledger;
    let began = Instant::now();
    let mut turn = pin!(turn(one, tool));
    let mut was_queued = false;
    let place = match turn.as_mut().now_or_never() {
        Some(Ok(place)) => Ok(place),
        // It waits, or never starts: both are told of it, also when the process ends meanwhile.
        early => {
            let queueing = guarded(async { ledger.queued(planned).await }).await;
            let _ = unless_it_reads(one, tool, queueing).await?;
            failpoint::reached("queued");
            was_queued = true;
            match early {
                Some(refused) => refused,
                None => turn.await,
            }
        }
    };
    let waited = began.elapsed();
    if place.is_err() {
        return Ok(ScheduledCall { place, waited, was_queued, fault: None });
    }
    // With its place in hand: of a call whose row is not there nothing was sent.
    let planning = guarded(async { ledger.planned(planned).await }).await;
    let fault = unless_it_reads(one, tool, planning).await?;
    failpoint::reached("planned");
    let place = if one.batch.cancel.is_cancelled() { Err(not_started()) } else { place };
    Ok(ScheduledCall { place, waited, was_queued, fault })
}

/// Reading is harmless: it goes on without its row, and the operator is told.
async fn unless_it_reads(
    one: &PendingCall,
    tool: &CatalogTool,
    recorded: Result<(), LedgerError>,
) -> Result<Option<String>, ToolOutcome> {
    let Err(error) = recorded else { return Ok(None) };
    if tool.spec.effect == Effect::Read {
        return Ok(Some(error.to_string()));
    }
    // The row may be there all the same, if only the answer was missing.
    let ledger = &one.batch.gate.ledger;
    let _ = guarded(async { ledger.finished(one.key, Ending::NotExecuted).await }).await;
    Err(idempotency::unrecorded(error).outcome)
}

/// Waits for the calls before it and for a free place.
async fn turn(one: &PendingCall, tool: &CatalogTool) -> Result<PlacePermit, ToolOutcome> {
    let batch = &one.batch;
    for end in batch.order.before(one.position) {
        tokio::select! {
            biased;
            () = batch.cancel.cancelled() => return Err(not_started()),
            () = end.cancelled() => {}
        }
    }
    if batch.cancel.is_cancelled() {
        return Err(not_started());
    }
    tokio::select! {
        biased;
        place = batch.bounds.place(&batch.gate.bounds, &tool.spec.origin.source) => {
            place.ok_or_else(|| failed(ErrorKind::Busy, messages::busy()))
        }
        () = batch.cancel.cancelled() => Err(not_started()),
    }
}
