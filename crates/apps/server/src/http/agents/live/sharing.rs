//! Runs that any of several servers may drive, over a record that they share: each is driven by the
//! one that holds it there, and `claims` takes those that are ready.

use std::time::Duration;

use toolcrib_core::{LedgerError, RunStage};
use toolcrib_store::{RunHold, Store, StoreError};

use super::live_run::LiveRun;
use crate::http::state::GatewayState;

/// Runs that one process drives, at the most, before it leaves what is ready to others.
const MOST_DRIVEN: usize = 256;

/// Runs of one tenant that are ready or worked on, at all servers together; a little more where
/// many begin at the same moment.
const MOST_OF_TENANT: u64 = 10_000;

/// How soon a run that broke off is tried again, by whomever.
pub(super) const BROKEN: Duration = Duration::from_secs(30);

/// How soon a run is asked for again that is to be ended.
const SOON: Duration = Duration::from_millis(50);

/// How soon something is written again that could not be.
const AGAIN: Duration = Duration::from_secs(1);

/// How a run is taken up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenRun {
    /// It has to be asked for.
    Free,
    /// This process holds it already.
    Held,
}

/// How many runs more this process may drive.
pub(super) fn room(gateway: &GatewayState) -> usize {
    MOST_DRIVEN.saturating_sub(gateway.runs.driven())
}

/// How many runs a tenant has that may have no more; `None`: it may have another.
pub(super) async fn backlog(
    gateway: &GatewayState,
    tenant: &str,
) -> Result<Option<u64>, LedgerError> {
    let Some(store) = &gateway.runs.shared else { return Ok(None) };
    let load = store.job_load(tenant).await.map_err(LedgerError::new)?;
    let many = load.ready.saturating_add(load.held);
    Ok(Some(many).filter(|many| *many >= MOST_OF_TENANT))
}

/// Whether a run may be driven here from now on. One that is to be ended is taken from whoever has
/// it.
pub(super) async fn hold(store: &Store, live: &LiveRun) -> Result<bool, LedgerError> {
    loop {
        let is_to_end = live.cancel.is_cancelled();
        let hold = if is_to_end { RunHold::Any } else { RunHold::Free };
        let has_it = store.hold_run(&live.meta.id, hold).await.map_err(LedgerError::new)?;
        if has_it || !is_to_end || live.stage() == RunStage::Ended {
            return Ok(has_it);
        }
        // This server gives it back just now, and nobody else would end it.
        tokio::time::sleep(SOON).await;
    }
}

/// Gives a run back that nobody drives here any more, however long the record is away.
pub(super) async fn release(gateway: &GatewayState, run: &str, pause: Duration) {
    let Some(store) = &gateway.runs.shared else { return };
    while let Err(error) = store.release_run(run, pause).await {
        if matches!(error, StoreError::Closed { .. }) {
            // It is given back with all that this process has.
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}
