//! Runs that any of several servers may drive, over a record that they share: each is driven by the
//! one that holds it there.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval};
use toolcrib_core::{LedgerError, RunStage, TicketId};
use toolcrib_store::{RunHold, Store, StoreError};

use super::driver::NotBegun;
use super::live_run::LiveRun;
use super::recovery;
use crate::http::state::GatewayState;

/// How often it is looked for runs that are ready.
const CLAIMS: Duration = Duration::from_millis(250);

/// How often it is looked for tickets that are good here alone and have expired.
const LAPSES: Duration = Duration::from_secs(5);

/// How often it is read how far those have come that are looked at here and driven elsewhere.
const NEWS: Duration = Duration::from_millis(500);

/// Runs that one process drives, at the most, before it leaves what is ready to others.
const MOST_DRIVEN: usize = 256;

/// Runs that are taken at once.
const AT_ONCE: usize = 16;

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

/// Whether this process drives as many runs as it may.
pub(super) fn is_full(gateway: &GatewayState) -> bool {
    gateway.runs.driven() >= MOST_DRIVEN
}

/// Refuses a further run of a tenant that has as many as it may have.
pub(super) async fn admit(gateway: &GatewayState, tenant: &str) -> Result<(), NotBegun> {
    let Some(store) = &gateway.runs.shared else { return Ok(()) };
    let unread = |error| NotBegun::Ledger(LedgerError::new(error).into());
    let load = store.job_load(tenant).await.map_err(unread)?;
    let many = load.ready.saturating_add(load.held);
    if many >= MOST_OF_TENANT { Err(NotBegun::Backlog(many)) } else { Ok(()) }
}

/// Whether a run may be driven here from now on. One that is to be ended is taken from whoever has
/// it.
pub(super) async fn hold(store: &Store, live: &LiveRun) -> Result<bool, LedgerError> {
    loop {
        let is_to_end = live.cancel.is_cancelled();
        let hold = if is_to_end { RunHold::Any } else { RunHold::Free };
        let held = store.hold_run(&live.meta.id, hold).await.map_err(LedgerError::new)?;
        if held || !is_to_end || live.stage() == RunStage::Ended {
            return Ok(held);
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

/// Takes up runs that are ready, and those whose tickets are decided here, until the server stops.
pub(super) async fn follow(
    gateway: Arc<GatewayState>,
    store: Store,
    mut decided: UnboundedReceiver<TicketId>,
) {
    let [mut claims, mut lapses, mut news] = [CLAIMS, LAPSES, NEWS].map(|every| {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    });
    loop {
        tokio::select! {
            // Whoever stops begins nothing that another one could.
            () = gateway.leaves.cancelled() => return,
            ticket = decided.recv() => {
                let Some(ticket) = ticket else { return };
                recovery::decided(&gateway, &ticket).await;
            }
            _ = claims.tick() => claim(&gateway, &store).await,
            _ = news.tick() => hear(&gateway).await,
            _ = lapses.tick() => {
                gateway.runs.tidy();
                recovery::look_at_lapsed(&gateway).await;
                measure(&gateway, &store).await;
            }
        }
    }
}

/// Looks how long what is ready has waited.
async fn measure(gateway: &GatewayState, store: &Store) {
    // What cannot be read now is read the next time.
    if let Ok(load) = store.job_load("").await {
        let oldest = load.oldest.unwrap_or_default().as_secs();
        gateway.runs.oldest_ready.store(oldest, Ordering::Relaxed);
    }
}

/// Takes as many ready runs as there is room for.
async fn claim(gateway: &Arc<GatewayState>, store: &Store) {
    loop {
        let room = MOST_DRIVEN.saturating_sub(gateway.runs.driven()).min(AT_ONCE);
        // Mostly there is none, and a look writes nothing.
        if room == 0 || !store.any_ready().await.unwrap_or_default() {
            return;
        }
        // Where the record is away, nothing is taken.
        let taken = store.claim_runs(room).await.unwrap_or_default();
        for run in &taken {
            recovery::look(gateway, run, TakenRun::Held).await;
        }
        if taken.len() < room {
            return;
        }
    }
}

/// Has those told that somebody looks at here, and that are driven elsewhere.
async fn hear(gateway: &GatewayState) {
    for live in gateway.runs.looked_at() {
        let told = live.state.borrow().events.len();
        if live.stage() == RunStage::Ended {
            continue;
        }
        let from = u64::try_from(told).unwrap_or(u64::MAX);
        let news = gateway.runs.ledger.events(&live.meta.id, from, 1).await;
        if news.is_ok_and(|news| !news.is_empty()) {
            // What cannot be read now is read the next time.
            let _ = gateway.runs.refresh(&live).await;
        }
    }
}
