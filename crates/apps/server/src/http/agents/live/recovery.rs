//! Takes up runs that nobody drives: when somebody decided about one of their tickets, when a
//! ticket has expired, and when the server starts.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use toolcrib_agent::AgentRun;
use toolcrib_config::LogLevel;
use toolcrib_core::{LedgerError, RunStage, RunSummary, TicketId};

use super::WaitingRun;
use super::driver::{self, FirstStep};
use super::live_run::{LiveRun, LiveState};
use super::sharing::{self, TakenRun};
use crate::http::agents::chosen;
use crate::http::state::GatewayState;
use crate::telemetry::log;

/// How often it is looked for runs that nobody has in sight.
const SWEEPS: Duration = Duration::from_secs(30);

/// How often it is looked for tickets that have expired.
const LAPSES: Duration = Duration::from_secs(5);

/// Takes up the runs of the process before, then those whose tickets are decided, until the server
/// stops.
pub(super) async fn follow(gateway: Arc<GatewayState>, mut decided: UnboundedReceiver<TicketId>) {
    let mut lapses = tokio::time::interval(LAPSES);
    let mut sweeps = tokio::time::interval(SWEEPS);
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            ticket = decided.recv() => {
                let Some(ticket) = ticket else { return };
                self::decided(&gateway, &ticket).await;
            }
            _ = sweeps.tick() => sweep(&gateway).await,
            _ = lapses.tick() => look_at_lapsed(&gateway).await,
        }
    }
}

/// Somebody decided about a ticket.
pub(super) async fn decided(gateway: &Arc<GatewayState>, ticket: &TicketId) {
    let waiting = gateway.runs.locked().tickets.remove(ticket);
    if let Some(waiting) = waiting {
        look(gateway, &waiting.run, TakenRun::Free).await;
    }
}

/// Takes up those of which a ticket is not good any more.
pub(super) async fn look_at_lapsed(gateway: &Arc<GatewayState>) {
    for run in lapsed(gateway) {
        look(gateway, &run, TakenRun::Free).await;
    }
}

fn trouble(what: &str, error: &LedgerError) {
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    log::line(LogLevel::Warn, "run", json!({ "trouble": what, "cause": cause }));
}

/// Takes up all that has not ended and that nobody drives or has in sight: at the start, what the
/// process before left, and later what could not be written or taken up when its time was.
async fn sweep(gateway: &Arc<GatewayState>) {
    gateway.runs.tidy();
    match gateway.runs.ledger.unfinished().await {
        Err(error) => trouble("the runs cannot be read", &error),
        Ok(runs) => {
            // Whoever they work for drives the others.
            for run in runs.into_iter().filter(|run| run.parent.is_none()) {
                recover(gateway, run).await;
            }
        }
    }
}

/// Runs of which a ticket is not good any more.
fn lapsed(gateway: &GatewayState) -> Vec<String> {
    let now = Instant::now();
    let mut runs = Vec::new();
    gateway.runs.locked().tickets.retain(|_, waiting| {
        let is_good = waiting.until > now;
        if !is_good {
            runs.push(waiting.run.clone());
        }
        is_good
    });
    runs
}

/// A run that has not ended.
async fn recover(gateway: &Arc<GatewayState>, run: RunSummary) {
    let crib = gateway.live.crib();
    {
        let table = gateway.runs.locked();
        if table.get(&run.id).is_some_and(|live| live.is_driven()) {
            return;
        }
    }
    // One without a ticket waits for its model, and whoever drives it knows until when.
    let mut is_decided = run.stage != RunStage::Waiting || run.tickets.is_empty();
    for ticket in &run.tickets {
        if gateway.runs.locked().tickets.contains_key(ticket) {
            continue;
        }
        match crib.ticket(&run.caller, ticket).await {
            Ok(Some(parked)) => {
                let until = Instant::now() + parked.lifetime;
                let waiting = WaitingRun { run: run.id.clone(), until };
                gateway.runs.locked().tickets.insert(ticket.clone(), waiting);
            }
            Ok(None) | Err(_) => is_decided = true,
        }
    }
    if is_decided {
        look(gateway, &run.id, TakenRun::Free).await;
    }
}

pub(super) async fn look(gateway: &Arc<GatewayState>, run: &str, taken: TakenRun) {
    if let Err(error) = take(gateway, run, taken).await {
        trouble(&format!("the run `{run}` cannot go on"), &error);
    }
}

/// Drives a run that is written down, unless somebody does; whoever does looks at its tickets
/// again. One for whose answer nobody waits any more is ended, with what is known of its calls.
/// It is done even if whoever asks goes away.
pub(crate) async fn take_up(
    gateway: &Arc<GatewayState>,
    id: &str,
) -> Result<Option<Arc<LiveRun>>, LedgerError> {
    take(gateway, id, TakenRun::Free).await
}

async fn take(
    gateway: &Arc<GatewayState>,
    id: &str,
    taken: TakenRun,
) -> Result<Option<Arc<LiveRun>>, LedgerError> {
    let (gateway, id) = (Arc::clone(gateway), id.to_owned());
    let taking = tokio::spawn(async move { take_all(&gateway, &id, taken).await });
    taking.await.unwrap_or_else(|_| Err(LedgerError::new("something of ours broke")))
}

async fn take_all(
    gateway: &Arc<GatewayState>,
    id: &str,
    taken: TakenRun,
) -> Result<Option<Arc<LiveRun>>, LedgerError> {
    let runs = &gateway.runs;
    let known = runs.locked().get(id);
    let live = match known {
        Some(live) => Ok(Some(live)),
        None => runs.load(id).await.map(|live| Some(runs.locked().get_or_put(live?))),
    };
    // One that works for another is driven by that one alone.
    let may_go_on = |live: &LiveRun| live.meta.parent.is_none() && live.stage() != RunStage::Ended;
    let live = match live {
        Ok(Some(live)) if may_go_on(&live) => live,
        other => {
            if taken == TakenRun::Held {
                sharing::release(gateway, id, sharing::BROKEN).await;
            }
            return other;
        }
    };
    // Whoever drives it gives it back as well.
    if !live.takes_the_lead() {
        return Ok(Some(live));
    }
    if let Some(store) = runs.shared.as_ref().filter(|_| taken == TakenRun::Free) {
        let held = sharing::hold(store, &live).await;
        if !matches!(held, Ok(true)) {
            // Another server has it, and looks at it again.
            while !live.gives_the_lead_up() {}
            return held.map(|_| Some(live));
        }
    }
    go_on(gateway, &live).await?;
    Ok(Some(live))
}

/// Drives a run whose lead is taken, and which this server holds.
async fn go_on(gateway: &Arc<GatewayState>, live: &Arc<LiveRun>) -> Result<(), LedgerError> {
    // From here on nobody else drives it, and what is written stays as it is.
    match resume(gateway, live).await {
        Ok(Some((run, written))) => {
            // Nobody waits for the answer of one that a process before drove for its client.
            let is_left = written.stage == RunStage::Running && !live.meta.request.is_durable;
            live.state.send_replace(written);
            let first = if is_left { FirstStep::Abandon } else { FirstStep::Look };
            driver::spawn(Arc::clone(gateway), Arc::clone(live), run, first);
            Ok(())
        }
        Ok(None) => {
            live.gives_the_lead_up();
            sharing::release(gateway, &live.meta.id, sharing::BROKEN).await;
            gateway.runs.refresh(live).await
        }
        Err(error) => {
            // What was decided meanwhile is seen by whoever takes it up later.
            while !live.gives_the_lead_up() {}
            sharing::release(gateway, &live.meta.id, sharing::BROKEN).await;
            Err(error)
        }
    }
}

/// The run as it is written, and what is known of it; `None`: it has ended, or is gone.
async fn resume(
    gateway: &GatewayState,
    live: &LiveRun,
) -> Result<Option<(AgentRun, LiveState)>, LedgerError> {
    let runs = &gateway.runs;
    let Some(stored) = runs.ledger.load(&live.meta.id).await? else { return Ok(None) };
    if stored.summary.stage == RunStage::Ended {
        return Ok(None);
    }
    let written = runs.written(&stored.summary).await?;
    let agent = chosen::of_stored(gateway, &live.meta).map_err(LedgerError::new)?;
    let ledger = Arc::clone(&runs.ledger);
    let run = AgentRun::resumed(agent, ledger, stored, runs.keys_for).map_err(LedgerError::new)?;
    Ok(Some((run, written)))
}
