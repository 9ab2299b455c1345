//! Waits for the task of a call, and answers in its place if the tool holds on to its thread.
//!
//! A deadline works inside the task, where it costs nothing as long as the tool is quick. A tool
//! that never gives its thread back cannot be stopped from there, nor from anywhere; but the batch
//! goes on without it, and the ledger hears of one end and not of two.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::Batch;
use super::record::asked;
use super::run_one::{Ended, OneCall};
use crate::advice;
use crate::call::CallKey;
use crate::effect::Effect;
use crate::ledger::Ending;
use crate::limits::FOREVER;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::tool::Arguments;

/// Beyond deadline and grace: what a loaded machine may need to say so.
const SLACK: Duration = Duration::from_millis(500);

/// What the task and the one who waits for it tell each other.
#[derive(Default)]
pub(super) struct Watch {
    /// When the call must have ended; set when it starts to run.
    deadline: OnceLock<Instant>,
    settled: AtomicBool,
}

impl Watch {
    pub(super) fn starts(&self, deadline: Instant) {
        // A call starts once; a second start would be ours to ignore.
        let _ = self.deadline.set(deadline);
    }

    /// Whether the one who asks is the first to end the call, and so the one to record it.
    pub(super) fn settle(&self) -> bool {
        !self.settled.swap(true, Ordering::AcqRel)
    }

    fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }
}

/// A call on its own task.
pub(super) struct Watched {
    task: JoinHandle<Ended>,
    watch: Arc<Watch>,
    position: usize,
    place: u32,
    key: CallKey,
}

impl Watched {
    /// Starts a call; `approved`: a person has said yes to it.
    pub(super) fn start(one: OneCall, arguments: Arguments, approved: bool) -> Self {
        let (position, place, key) = (one.position, one.place, one.key);
        let watch = Arc::new(Watch::default());
        // Boxed here, where it is made: a task that large would be copied from hand to hand.
        let task = tokio::spawn(Box::pin({
            let watch = Arc::clone(&watch);
            async move {
                let _done = one.batch.order.done_guard(one.position);
                one.run(arguments, approved, &watch).await
            }
        }));
        Self { task, watch, position, place, key }
    }

    pub(super) async fn end(mut self, batch: &Batch) -> Ended {
        loop {
            let grace = batch.gate.limits.grace.min(FOREVER) + SLACK;
            let last = self.watch.deadline.get().map(|at| *at + grace);
            // A tool that has answered is waited for, however long its record takes.
            let last = last.filter(|_| !self.watch.is_settled());
            let look_again = Instant::now() + Duration::from_secs(1);
            match timeout_at(last.unwrap_or(look_again), &mut self.task).await {
                Ok(Ok(ended)) => return ended,
                Ok(Err(_)) => {
                    let first = self.watch.settle();
                    return self.cut_off(batch, "something of ours broke", first).await;
                }
                Err(_) if last.is_some() && self.watch.settle() => {
                    let what = "the tool holds on to its thread and does not answer";
                    return self.cut_off(batch, what, true).await;
                }
                Err(_) => {}
            }
        }
    }

    /// `first`: nobody has recorded the end before.
    async fn cut_off(&self, batch: &Batch, what: &str, first: bool) -> Ended {
        self.task.abort();
        // Those behind it need not wait for a thread that does not come back.
        drop(batch.order.done_guard(self.position));
        let spec = batch.plan.at(self.place).map(|tool| &tool.spec);
        let reads = spec.is_some_and(|spec| spec.effect == Effect::Read);
        let idempotent = spec.is_some_and(|spec| spec.idempotent);
        let (kind, message, ending) = if self.watch.deadline.get().is_none() {
            (ErrorKind::Internal, advice::not_reached(), Ending::NotExecuted)
        } else if reads {
            (ErrorKind::Timeout, advice::stuck(what), Ending::Failed(ErrorKind::Timeout))
        } else if idempotent {
            (ErrorKind::Timeout, advice::perhaps_done(what), Ending::Unknown)
        } else {
            (ErrorKind::UnknownOutcome, advice::unknown_outcome(what), Ending::Unknown)
        };
        let error = ToolError::new(kind, message);
        let recording = async { batch.gate.ledger.finished(self.key, ending).await };
        let recorded = if first { asked(recording).await } else { Ok(()) };
        Ended {
            place: Some(self.place),
            key: Some(self.key),
            attempts: 1,
            ledger_fault: recorded.err().map(|error| error.to_string()),
            ..Ended::unstarted(ToolOutcome::Failed(error), Vec::new())
        }
    }
}
