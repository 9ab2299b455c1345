//! A run on a task of its own, and whoever listens to it.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolcrib::Caller;
use toolcrib::agent::model::{CallerTool, ModelFault, ModelFaultKind};
use toolcrib::agent::{Agent, AgentRun, RunEnd, RunEvent, RunPause, StopReason, ThreadItem, Usage};

/// What a run is to do.
pub(super) struct RunOrder {
    pub(super) agent: Arc<Agent>,
    pub(super) caller: Arc<Caller>,
    pub(super) thread: Vec<ThreadItem>,
    pub(super) caller_tools: Vec<CallerTool>,
}

/// What a run came to.
pub(super) struct FinishedRun {
    pub(super) end: RunEnd,
    pub(super) usage: Usage,
    /// The thread as it is now.
    pub(super) thread: Vec<ThreadItem>,
}

impl FinishedRun {
    /// One of which nobody knows what came of it: the fault is ours.
    pub(super) fn broken() -> Self {
        let fault = ModelFault {
            kind: ModelFaultKind::Broken,
            message: "the run broke off by a fault of this server".to_owned(),
            detail: None,
            retry_after: None,
        };
        let text = fault.message.clone();
        let end = RunEnd { stop: StopReason::Fault, text, calls: Vec::new(), fault: Some(fault) };
        Self { end, usage: Usage::default(), thread: Vec::new() }
    }
}

/// Runs until the end. A call that waits for a person is told to the model with its ticket, since
/// nobody is at hand who could decide.
pub(super) async fn finish(
    order: RunOrder,
    tell: &mut (dyn FnMut(RunEvent) + Send),
    cancel: &CancellationToken,
) -> FinishedRun {
    let RunOrder { agent, caller, thread, caller_tools } = order;
    let mut run = AgentRun::new(agent, caller, thread, caller_tools, false);
    let end = loop {
        match run.go(tell, cancel).await {
            RunPause::Ended(end) => break end,
            RunPause::Waiting(_) => run.go_on(),
        }
    };
    FinishedRun { end, usage: run.usage(), thread: run.items().to_vec() }
}

/// The same beside the caller: its events, and in the end what it came to.
pub(super) fn begin(
    order: RunOrder,
    cancel: CancellationToken,
) -> (mpsc::UnboundedReceiver<RunEvent>, tokio::task::JoinHandle<FinishedRun>) {
    let (sender, events) = mpsc::unbounded_channel();
    let running = tokio::spawn(async move {
        // Whoever listened may have gone; then the run is cancelled, or goes on for the store.
        let mut tell = |event| drop(sender.send(event));
        Box::pin(finish(order, &mut tell, &cancel)).await
    });
    (events, running)
}
