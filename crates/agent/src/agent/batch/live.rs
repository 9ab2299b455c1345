//! Calls under way: they need nothing of their run, so others can work beside them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolcrib_core::{
    BatchOptions, Call, CallKey, ErrorKind, Host, Plan, Progress, Report, Response,
};
use toolcrib_engine::Crib;

use super::super::Listener;
use super::super::tape::BatchOutcome;
use crate::event::RunEvent;

/// How soon a busy call is looked at again.
const BUSY_PAUSE: Duration = Duration::from_millis(50);
/// Progress that waits to be told.
const MOST_WAITING: usize = 64;
/// Progress that is told of one batch: all of it is written down.
const MOST_PROGRESS: usize = 200;

/// Calls that are ready to run.
#[derive(Default)]
pub(super) struct LiveBatch {
    /// What runs them, and under which plan; `None`: there are none.
    pub(super) planned: Option<(Crib, Plan)>,
    pub(super) calls: Vec<Call>,
    pub(super) options: BatchOptions,
    /// They are cancelled after it.
    pub(super) left: Duration,
    /// A process before may have begun them.
    pub(super) is_taken_up: bool,
}

impl LiveBatch {
    pub(super) async fn run(self, tell: Listener<'_>) -> BatchOutcome {
        let Self { planned, calls, mut options, left, is_taken_up } = self;
        let Some((crib, plan)) = planned else { return BatchOutcome::default() };
        let (sender, mut told) = mpsc::channel(MOST_WAITING);
        options.host.get_or_insert_with(|| Arc::new(ProgressHost(sender)));
        let within = options.cancel.clone();
        let begun = is_taken_up.then(|| (calls.clone(), options.clone()));
        let mut running = Box::pin(crib.run_with(&plan, calls, options));
        let mut late = std::pin::pin!(tokio::time::sleep(left));
        let mut progress = Vec::new();
        let mut report = loop {
            tokio::select! {
                biased;
                () = &mut late, if !within.is_cancelled() => within.cancel(),
                Some(text) = told.recv() => if progress.len() < MOST_PROGRESS {
                    tell(RunEvent::Progress { text: text.clone() });
                    progress.push(text);
                },
                report = &mut running => break report,
            }
        };
        drop(running);
        if let Some((calls, options)) = begun {
            await_others((&crib, &plan), &calls, &options, &mut report).await;
        }
        BatchOutcome { no_plan: None, progress, report }
    }
}

/// Waits for the ends of calls that a process before had begun, and that somebody lets run at this
/// moment: under its key such a call is busy, and not over.
async fn await_others(
    (crib, plan): (&Crib, &Plan),
    calls: &[Call],
    options: &BatchOptions,
    report: &mut Report,
) {
    let is_busy =
        |response: &Response| response.error().is_some_and(|error| error.kind == ErrorKind::Busy);
    for (call, response) in calls.iter().zip(&mut report.responses) {
        while call.key.is_some() && is_busy(response) && !options.cancel.is_cancelled() {
            tokio::time::sleep(BUSY_PAUSE).await;
            let one = vec![call.clone()];
            let mut now = crib.run_with(plan, one, options.clone()).await;
            if let Some(now) = now.responses.pop() {
                *response = now;
            }
        }
    }
}

/// Passes on what calls tell of themselves.
struct ProgressHost(mpsc::Sender<String>);

impl Host for ProgressHost {
    fn progress(&self, _: CallKey, progress: Progress) {
        let told = match (progress.message, progress.total) {
            (Some(message), _) => message,
            (None, Some(total)) => format!("{} of {total}", progress.done),
            (None, None) => return,
        };
        // Whoever heard it has gone, or there is too much of it.
        let _ = self.0.try_send(told);
    }
}
