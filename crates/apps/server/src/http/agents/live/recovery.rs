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
use crate::http::agents::chosen;
use crate::http::state::GatewayState;
use crate::telemetry::log;

/// How often it is looked for runs that nobody has in sight.
const SWEEPS: Duration = Duration::from_secs(30);

/// How often it is looked for tickets that have expired.
const LAPSES: Duration = Duration::from_secs(5);

/// Takes up the runs of the process before, then those whose tickets are decided, until the server
/// stops.
pub(crate) async fn follow(gateway: Arc<GatewayState>, mut decided: UnboundedReceiver<TicketId>) {
    let mut lapses = tokio::time::interval(LAPSES);
    let mut sweeps = tokio::time::interval(SWEEPS);
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            ticket = decided.recv() => {
                let Some(ticket) = ticket else { return };
                let waiting = gateway.runs.locked().tickets.remove(&ticket);
                if let Some(waiting) = waiting {
                    look(&gateway, &waiting.run).await;
                }
            }
            _ = sweeps.tick() => sweep(&gateway).await,
            _ = lapses.tick() => {
                for run in lapsed(&gateway) {
                    look(&gateway, &run).await;
                }
            }
        }
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
        look(gateway, &run.id).await;
    }
}

async fn look(gateway: &Arc<GatewayState>, run: &str) {
    if let Err(error) = take_up(gateway, run).await {
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
    let (gateway, id) = (Arc::clone(gateway), id.to_owned());
    let taking = tokio::spawn(async move { take_up_all(&gateway, &id).await });
    taking.await.unwrap_or_else(|_| Err(LedgerError::new("something of ours broke")))
}

async fn take_up_all(
    gateway: &Arc<GatewayState>,
    id: &str,
) -> Result<Option<Arc<LiveRun>>, LedgerError> {
    let runs = &gateway.runs;
    let known = runs.locked().get(id);
    let live = if let Some(live) = known {
        live
    } else {
        let Some(loaded) = runs.load(id).await? else { return Ok(None) };
        runs.locked().get_or_put(loaded)
    };
    // One that works for another is driven by that one alone.
    let is_child = live.meta.parent.is_some();
    if is_child || live.stage() == RunStage::Ended || !live.takes_the_lead() {
        return Ok(Some(live));
    }
    // From here on nobody else drives it, and what is written stays as it is.
    let resumed = resume(gateway, &live).await;
    match resumed {
        Ok(Some((run, written))) => {
            // Nobody waits for the answer of one that a process before drove for its client.
            let is_left = written.stage == RunStage::Running && !live.meta.request.is_durable;
            live.state.send_replace(written);
            let first = if is_left { FirstStep::Abandon } else { FirstStep::Look };
            driver::spawn(Arc::clone(gateway), Arc::clone(&live), run, first);
        }
        Ok(None) => {
            live.gives_the_lead_up();
            runs.refresh(&live).await?;
        }
        Err(error) => {
            // What was decided meanwhile is seen by whoever takes it up later.
            while !live.gives_the_lead_up() {}
            return Err(error);
        }
    }
    Ok(Some(live))
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
