//! A call that was given up and may have changed something: what it still says goes on record.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use crate::call::CallKey;
use crate::catalog::CatalogTool;
use crate::gate::batch::Batch;
use crate::gate::batch::pending_call::EndedCall;
use crate::gate::record::guarded;
use crate::gate::{govern, record::stored_response};
use crate::ledger::{Ending, IdempotencyKey, KeyResult};
use crate::outcome::{ErrorKind, ToolOutcome};

/// An attempt on its way.
pub(crate) type AttemptFuture =
    Pin<Box<dyn Future<Output = Result<ToolOutcome, Box<dyn Any + Send>>> + Send>>;

/// The rest of an attempt that was given up.
pub(crate) struct LateAttempt {
    pub(crate) running: AttemptFuture,
    /// Nobody knows how an attempt before it ended: only a success tells of both.
    pub(crate) repeats_unknown: bool,
    /// Tells the tool that nobody listens any more.
    pub(crate) over: Option<DropGuard>,
    /// Under which its answer was recorded.
    pub(crate) keys: Vec<IdempotencyKey>,
}

/// Goes on listening for a while, whoever waits.
pub(crate) fn listen(batch: &Arc<Batch>, tool: &CatalogTool, key: CallKey, rest: LateAttempt) {
    let Ok(place) = Arc::clone(&batch.gate.late).try_acquire_owned() else { return };
    let (batch, tool) = (Arc::clone(batch), tool.clone());
    tokio::spawn(async move {
        let _place = place;
        let LateAttempt { running, repeats_unknown, over: _over, keys } = rest;
        let Ok(Ok(outcome)) = timeout(batch.gate.limits.late, running).await else { return };
        let Some(ending) = certain(&outcome) else { return };
        if repeats_unknown && ending != Ending::Succeeded {
            return;
        }
        let ledger = &*batch.gate.ledger;
        let resolved = guarded(async { ledger.resolved(key, ending).await }).await;
        if resolved.is_err() || keys.is_empty() {
            return;
        }
        let governed = govern::govern(&batch, &tool, outcome).await;
        let unstarted = EndedCall::unstarted(governed.outcome, Vec::new());
        let ended = EndedCall { key: Some(key), whole: governed.whole, attempts: 1, ..unstarted };
        let Some(answer) = stored_response::write(&ended) else { return };
        for once in &keys {
            let late = KeyResult::Late(answer.clone());
            let _ = guarded(async { ledger.settle(once, late).await }).await;
        }
    });
}

/// The end that a late answer tells of; `None`: it knows no more than we do.
fn certain(outcome: &ToolOutcome) -> Option<Ending> {
    match outcome {
        ToolOutcome::Done(_) => Some(Ending::Succeeded),
        ToolOutcome::Denied { .. } => Some(Ending::NotExecuted),
        ToolOutcome::Pending(_) => None,
        ToolOutcome::Failed(error) if error.kind.never_sent() => Some(Ending::NotExecuted),
        ToolOutcome::Failed(error) => {
            let silent = matches!(
                error.kind,
                ErrorKind::Network
                    | ErrorKind::Timeout
                    | ErrorKind::Cancelled
                    | ErrorKind::UnknownOutcome
                    | ErrorKind::Internal
            );
            (!silent).then_some(Ending::Failed(error.kind))
        }
    }
}
