//! Claims runs that are ready in a record that servers share, and tells those who look at runs that
//! another server drives.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval};
use toolcrib_core::TicketId;
use toolcrib_store::Store;

use super::recovery;
use super::sharing::{self, TakenRun};
use crate::http::state::GatewayState;

/// How often it is looked for runs that are ready.
const CLAIMS: Duration = Duration::from_millis(250);

/// How often it is looked for tickets that are good here alone and have expired.
const LAPSES: Duration = Duration::from_secs(5);

/// How often it is read how far those have come that are looked at here and driven elsewhere.
const NEWS: Duration = Duration::from_millis(500);

/// Runs that are taken at once.
const AT_ONCE: usize = 16;

/// Takes up runs as long as the server takes anything: over a record of its own those that it has
/// in sight.
pub(crate) async fn follow(gateway: Arc<GatewayState>, decided: UnboundedReceiver<TicketId>) {
    match gateway.runs.shared.clone() {
        Some(store) => follow_all(gateway, store, decided).await,
        None => recovery::follow(gateway, decided).await,
    }
}

/// Takes up runs that are ready, and those whose tickets are decided here.
async fn follow_all(
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
            _ = news.tick() => hear(&gateway, &store).await,
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
        let room = sharing::room(gateway).min(AT_ONCE);
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
async fn hear(gateway: &GatewayState, store: &Store) {
    let looked_at = gateway.runs.looked_at();
    if looked_at.is_empty() {
        return;
    }
    // One question for all of them: most of them wait.
    let runs = looked_at.iter().map(|live| live.meta.id.clone()).collect();
    let counts = store.event_counts(runs).await.unwrap_or_default();
    for live in looked_at {
        let told = u64::try_from(live.state.borrow().events.len()).unwrap_or(u64::MAX);
        if counts.get(&live.meta.id).is_some_and(|count| *count > told) {
            // What cannot be read now is read the next time.
            let _ = gateway.runs.refresh(&live).await;
        }
    }
}
