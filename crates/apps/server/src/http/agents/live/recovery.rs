//! Takes up runs that nobody drives: when somebody decided about one of their tickets, when a
//! ticket has expired, and when the server starts.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use toolcrib::agent::AgentRun;
use toolcrib::config::LogLevel;
use toolcrib::{LedgerError, RunStage, RunSummary, TicketId};

use super::live_run::LiveRun;
use super::{WaitingRun, driver};
use crate::http::agents::chosen;
use crate::http::state::GatewayState;
use crate::telemetry::log;

/// How often it is looked for tickets that have expired.
const LAPSES: Duration = Duration::from_secs(5);

/// Takes up the runs of the process before, then those whose tickets are decided, until the server
/// stops.
pub(crate) async fn follow(gateway: Arc<GatewayState>, mut decided: UnboundedReceiver<TicketId>) {
    match gateway.runs.ledger.unfinished().await {
        Err(error) => trouble("the runs of before cannot be read", &error),
        Ok(runs) => {
            for run in runs {
                recover(&gateway, run).await;
            }
        }
    }
    let mut lapses = tokio::time::interval(LAPSES);
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

/// A run that the process before did not end.
async fn recover(gateway: &Arc<GatewayState>, run: RunSummary) {
    let crib = gateway.live.crib();
    let mut is_decided = run.stage != RunStage::Waiting;
    for ticket in &run.tickets {
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
pub(crate) async fn take_up(
    gateway: &Arc<GatewayState>,
    id: &str,
) -> Result<Option<Arc<LiveRun>>, LedgerError> {
    let runs = &gateway.runs;
    let known = runs.locked().runs.get(id).cloned();
    let live = if let Some(live) = known {
        live
    } else {
        let Some(loaded) = runs.load(id).await? else { return Ok(None) };
        let mut table = runs.locked();
        Arc::clone(table.runs.entry(id.to_owned()).or_insert(loaded))
    };
    if live.stage() == RunStage::Ended || !live.takes_the_lead() {
        return Ok(Some(live));
    }
    let resumed = resume(gateway, &live).await;
    let run = match resumed {
        Ok(run) => run,
        Err(error) => {
            live.gives_the_lead_up();
            runs.locked().runs.remove(id);
            return Err(error);
        }
    };
    let is_left = live.stage() == RunStage::Running && !live.meta.request.is_durable;
    let gateway = Arc::clone(gateway);
    let of_task = Arc::clone(&live);
    tokio::spawn(async move {
        let mut run = run;
        let mut tell = |event| of_task.note(event);
        if is_left {
            run.abandon(&mut tell).await;
        } else {
            run.look(&mut tell).await;
        }
        if !run.is_waiting() {
            of_task.stands(RunStage::Running, Vec::new());
        }
        driver::spawn(gateway, of_task, run);
    });
    Ok(Some(live))
}

async fn resume(gateway: &GatewayState, live: &LiveRun) -> Result<AgentRun, LedgerError> {
    let stored = gateway.runs.ledger.load(&live.meta.id).await?;
    let stored = stored.ok_or_else(|| LedgerError::new("the run is gone"))?;
    let agent = chosen::of_stored(gateway, &live.meta).map_err(LedgerError::new)?;
    let ledger = Arc::clone(&gateway.runs.ledger);
    AgentRun::resumed(agent, ledger, stored).map_err(LedgerError::new)
}
