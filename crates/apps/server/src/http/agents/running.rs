//! A run of which nothing is written down: its caller keeps the thread.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolcrib_agent::{AgentRun, RunEnd, RunEvent, RunOrder, RunPause, Usage};

use super::live::driver;

/// What a run came to.
pub(super) struct FinishedRun {
    pub(super) end: RunEnd,
    pub(super) usage: Usage,
}

impl FinishedRun {
    /// One of which nobody knows what came of it: the fault is ours.
    pub(super) fn broken() -> Self {
        Self { end: driver::broken(), usage: Usage::default() }
    }
}

/// Runs until the end. A call that waits for a person is told to the model with its ticket, since
/// nobody is at hand who could decide.
pub(super) async fn finish(
    order: RunOrder,
    tell: &mut (dyn FnMut(RunEvent) + Send),
    cancel: &CancellationToken,
) -> FinishedRun {
    let mut run = AgentRun::new(RunOrder { waits_for_people: false, ..order });
    let end = loop {
        match run.go(tell, cancel).await {
            RunPause::Ended(end) => break end,
            RunPause::Waiting(_) | RunPause::Held | RunPause::Deferred { .. } => run.go_on(),
        }
    };
    FinishedRun { end, usage: run.usage() }
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
