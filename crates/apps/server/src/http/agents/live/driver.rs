//! Takes a run from step to step, until it has ended or waits for a person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolcrib_agent::model::{ModelFault, ModelFaultKind};
use toolcrib_agent::{AgentRun, RunEnd, RunEvent, RunOrder, RunPause};
use toolcrib_core::{BatchOptions, LedgerError, RunLedger, RunLedgerError, RunStage, TicketId};

use super::WaitingRun;
use super::live_run::{LiveRun, LiveState, RunMeta, seconds};
use super::thread_hold::ThreadHold;
use crate::http::state::GatewayState;

/// How soon the calls of a run that is to end are refused again.
const STOPS_AGAIN: Duration = Duration::from_millis(200);

/// Runs of one caller that are worked on for nobody who waits, at the same time. One costs some
/// tens of KiB and a request to its model at a time; those that wait for a person do not count.
const MOST_WORKING: usize = 256;

/// What is done with a run before it goes on.
pub(super) enum FirstStep {
    Go,
    /// It is looked what became of its tickets.
    Look,
    /// It is ended: nobody waits for it.
    Abandon,
}

/// Why a run did not begin.
pub(in crate::http) enum NotBegun {
    /// So many of this caller are worked on.
    TooMany(usize),
    Ledger(RunLedgerError),
}

/// Where a run is written down.
pub(in crate::http::agents) enum RunPlace {
    /// In the ledger of the server, where it is found by its id. The hold of its conversation, if it
    /// has one, is let go when it stands there.
    Ledger(Option<ThreadHold>),
    /// Where only whoever has this ledger finds it.
    Elsewhere(Arc<dyn RunLedger>),
    Nowhere,
}

/// Begins a run on a task of its own, which whoever asks may leave.
pub(in crate::http::agents) async fn begin(
    gateway: &Arc<GatewayState>,
    order: RunOrder,
    meta: RunMeta,
    place: RunPlace,
) -> Result<Arc<LiveRun>, NotBegun> {
    let gateway = Arc::clone(gateway);
    let beginning = tokio::spawn(async move { begin_all(gateway, order, meta, place).await });
    let broken = || NotBegun::Ledger(LedgerError::new("something of ours broke").into());
    beginning.await.unwrap_or_else(|_| Err(broken()))
}

async fn begin_all(
    gateway: Arc<GatewayState>,
    order: RunOrder,
    meta: RunMeta,
    place: RunPlace,
) -> Result<Arc<LiveRun>, NotBegun> {
    let runs = &gateway.runs;
    let begun = LiveState {
        events: Vec::new(),
        stage: RunStage::Running,
        tickets: Vec::new(),
        changed: meta.created,
    };
    let live = Arc::new(LiveRun::new(meta, begun, gateway.stop.clone()));
    live.takes_the_lead();
    let new = live.meta.written();
    let run = match &place {
        RunPlace::Nowhere => AgentRun::new(order),
        RunPlace::Elsewhere(ledger) => {
            let recorded = AgentRun::recorded(order, Arc::clone(ledger), new).await;
            recorded.map_err(NotBegun::Ledger)?
        }
        RunPlace::Ledger(_) => {
            // Known before it is written: nobody else is to take it up.
            runs.locked().get_or_put(Arc::clone(&live));
            if live.meta.request.is_durable && runs.working(&live.meta.caller) > MOST_WORKING {
                return Err(NotBegun::TooMany(MOST_WORKING));
            }
            let recorded = AgentRun::recorded(order, Arc::clone(&runs.ledger), new).await;
            recorded.map_err(NotBegun::Ledger)?
        }
    };
    if let RunPlace::Ledger(hold) = place {
        // From now on the thread has a run, and says so itself.
        drop(hold);
    }
    spawn(Arc::clone(&gateway), Arc::clone(&live), run, FirstStep::Go);
    Ok(live)
}

/// Drives a run on a task of its own. Its lead is taken already.
pub(super) fn spawn(
    gateway: Arc<GatewayState>,
    live: Arc<LiveRun>,
    run: AgentRun,
    first: FirstStep,
) {
    // What is taken up while the run looks at its tickets ends with the run.
    let options = live.meta.request.options();
    let run = run.with_options(BatchOptions { cancel: live.cancel.child_token(), ..options });
    let driving = {
        let (gateway, live) = (Arc::clone(&gateway), Arc::clone(&live));
        tokio::spawn(async move {
            let mut run = run;
            let mut tell = |event| live.note(event);
            match first {
                FirstStep::Go => {}
                FirstStep::Look => run.look(&mut tell).await,
                FirstStep::Abandon => run.abandon(&mut tell).await,
            }
            if !run.is_waiting() {
                live.stands(RunStage::Running, Vec::new());
            }
            drive(&gateway, &live, run).await;
        })
    };
    tokio::spawn(async move {
        if driving.await.is_err() {
            // What was written stands, and it is taken up from there.
            live.note(RunEvent::Ended { end: broken(), at: seconds(std::time::SystemTime::now()) });
            forget(&gateway, &live);
            live.cancel.cancel();
        }
    });
}

/// The end of a run of which nobody knows what came of it: the fault is ours.
pub(in crate::http::agents) fn broken() -> RunEnd {
    let fault = ModelFault {
        kind: ModelFaultKind::Broken,
        message: "the run broke off by a fault of this server".to_owned(),
        detail: None,
        retry_after: None,
    };
    RunEnd::of_fault(fault)
}

async fn drive(gateway: &Arc<GatewayState>, live: &Arc<LiveRun>, run: AgentRun) {
    let mut run = if live.meta.request.is_durable {
        run.with_hold(gateway.stop.clone()).with_deferral()
    } else {
        // Whoever waits for it goes with the server.
        let (stop, cancel) = (gateway.stop.clone(), live.cancel.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => cancel.cancel(),
                () = cancel.cancelled() => {}
            }
        });
        run
    };
    loop {
        let mut tell = |event| live.note(event);
        match run.go(&mut tell, &live.cancel).await {
            RunPause::Ended(_) => break,
            RunPause::Held => {
                live.gives_the_lead_up();
                return;
            }
            RunPause::Deferred { until } => {
                live.stands(RunStage::Waiting, Vec::new());
                let left = until.saturating_sub(seconds(std::time::SystemTime::now()));
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(left)) => {}
                    () = live.cancel.cancelled() => {}
                    () = gateway.stop.cancelled() => {
                        live.gives_the_lead_up();
                        return;
                    }
                }
                live.stands(RunStage::Running, Vec::new());
            }
            RunPause::Waiting(_) if live.cancel.is_cancelled() => {
                if !run.stop(&mut tell).await {
                    // Its calls cannot be refused now; it is not cancelled before they are.
                    tokio::time::sleep(STOPS_AGAIN).await;
                }
            }
            RunPause::Waiting(tickets) if live.meta.request.asks_caller => {
                if asks_more(&run, &tickets).await { run.go_on() } else { run.hand_back() }
            }
            RunPause::Waiting(tickets) => {
                wait_for(gateway, live, &run, &tickets).await;
                // Somebody may have decided before that was known here.
                run.look(&mut tell).await;
                if !run.is_waiting() {
                    live.stands(RunStage::Running, Vec::new());
                    continue;
                }
                live.stands(RunStage::Waiting, tickets);
                if live.gives_the_lead_up() {
                    return;
                }
                live.stands(RunStage::Running, Vec::new());
            }
        }
    }
    forget(gateway, live);
    // It ends its watcher.
    live.cancel.cancel();
}

/// Whether a call that runs asks for more than a yes or a no.
async fn asks_more(run: &AgentRun, tickets: &[TicketId]) -> bool {
    for ticket in tickets {
        if run.parked(ticket).await.is_some_and(|parked| parked.question.is_some()) {
            return true;
        }
    }
    false
}

/// What has ended is read from the ledger from now on.
fn forget(gateway: &GatewayState, live: &LiveRun) {
    let mut table = gateway.runs.locked();
    table.runs.remove(&live.meta.id);
    table.tickets.retain(|_, waiting| waiting.run != live.meta.id);
}

/// Has the run taken up when somebody decides about one of its tickets, or nobody does in time.
async fn wait_for(gateway: &GatewayState, live: &LiveRun, run: &AgentRun, tickets: &[TicketId]) {
    for ticket in tickets {
        let left = run.parked(ticket).await.map(|parked| parked.lifetime).unwrap_or_default();
        let waiting = WaitingRun { run: live.meta.id.clone(), until: Instant::now() + left };
        gateway.runs.locked().tickets.insert(ticket.clone(), waiting);
    }
}
