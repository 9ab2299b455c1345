//! Step 8: runs a tool with deadline, cancellation and caught panics, and again only what is
//! harmless to repeat.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, timeout, timeout_at};

use super::Batch;
use super::watch::Watch;
use crate::advice;
use crate::call::CallKey;
use crate::catalog::Listed;
use crate::context::CallContext;
use crate::effect::Effect;
use crate::ledger::Ending;
use crate::limits::FOREVER;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::tool::Arguments;

/// The attempts of one call.
pub(super) struct Attempts<'a> {
    tool: &'a Listed,
    context: CallContext,
    retries: u32,
    backoff: Duration,
    grace: Duration,
    timeout: Duration,
}

/// What came of them.
pub(super) struct Tries {
    pub(super) outcome: ToolOutcome,
    pub(super) attempts: u32,
}

/// Why an attempt is over.
#[expect(clippy::large_enum_variant, reason = "lives for one match, and `Ended` is the rule")]
enum Stop {
    Ended(Result<ToolOutcome, Box<dyn Any + Send>>),
    Deadline,
    Cancelled,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(batch: &Batch, tool: &'a Listed, key: CallKey, watch: &Watch) -> Self {
        let limits = &batch.gate.limits;
        let timeout = tool.spec.limits.timeout.unwrap_or(limits.timeout);
        let context = CallContext {
            caller: Arc::clone(batch.plan.caller()),
            key,
            attempt: 0,
            deadline: Instant::now() + timeout.min(FOREVER),
            cancel: batch.cancel.clone(),
            progress: batch.progress.clone(),
        };
        watch.starts(context.deadline);
        let retries = tool.spec.limits.retries.unwrap_or(limits.retries);
        Self { tool, context, retries, backoff: limits.backoff, grace: limits.grace, timeout }
    }

    pub(super) async fn run(mut self, arguments: Arguments) -> (Tries, Ending) {
        loop {
            self.context.attempt += 1;
            let attempts = self.context.attempt;
            let (outcome, ending) = self.attempt(arguments.clone()).await;
            match self.pause_before_repeating(&outcome) {
                Some(pause) if attempts <= self.retries && self.sleep(pause).await => {}
                _ => return (Tries { outcome, attempts }, ending),
            }
        }
    }

    /// How long to wait before the call may be made again, if it may.
    fn pause_before_repeating(&self, outcome: &ToolOutcome) -> Option<Duration> {
        let ToolOutcome::Failed(error) = outcome else {
            return None;
        };
        let harmless = self.tool.spec.harmless_to_repeat() || error.kind.never_sent();
        if !error.kind.passes() || !harmless {
            return None;
        }
        let doubled = self.backoff.saturating_mul(1 << (self.context.attempt - 1).min(16));
        Some(error.retry_after.unwrap_or(doubled).max(doubled))
    }

    /// `false` if there is no time for another attempt, or nobody waits for it.
    async fn sleep(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause.min(FOREVER);
        if until >= self.context.deadline {
            return false;
        }
        tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => false,
            () = tokio::time::sleep_until(until) => true,
        }
    }

    async fn attempt(&self, arguments: Arguments) -> (ToolOutcome, Ending) {
        // The call itself may panic before it returns a future, so it is made inside.
        let calling = async { self.tool.tool.call(arguments, &self.context).await };
        let mut running = std::pin::pin!(AssertUnwindSafe(calling).catch_unwind());
        let stop = tokio::select! {
            biased;
            ended = timeout_at(self.context.deadline, &mut running) => {
                ended.map_or(Stop::Deadline, Stop::Ended)
            }
            () = self.context.cancel.cancelled() => {
                // The tool sees the same token; what it still says within the grace counts.
                timeout(self.grace, &mut running).await.map_or(Stop::Cancelled, Stop::Ended)
            }
        };
        match stop {
            Stop::Ended(Ok(outcome)) => self.answered(outcome),
            Stop::Ended(Err(panic)) => {
                let error = ToolError::new(ErrorKind::Internal, advice::crashed());
                self.cut_off("the tool crashed while it ran", error.because(panic_text(&*panic)))
            }
            Stop::Cancelled => {
                let error = ToolError::new(ErrorKind::Cancelled, advice::cancelled());
                self.cut_off("the call was cancelled while it ran", error)
            }
            Stop::Deadline => {
                let what = format!("no answer within {:?}", self.timeout);
                let error = ToolError::new(ErrorKind::Timeout, advice::timed_out(self.timeout));
                self.cut_off(&what, error)
            }
        }
    }

    /// The end of a tool that gave no answer: certain only if it could not change anything.
    fn cut_off(&self, what: &str, mut error: ToolError) -> (ToolOutcome, Ending) {
        if self.tool.spec.effect == Effect::Read {
            let kind = error.kind;
            return (ToolOutcome::Failed(error), Ending::Failed(kind));
        }
        if self.tool.spec.idempotent {
            error.message = advice::perhaps_done(what);
            return (ToolOutcome::Failed(error), Ending::Unknown);
        }
        error.kind = ErrorKind::UnknownOutcome;
        error.message = advice::unknown_outcome(what);
        (ToolOutcome::Failed(error), Ending::Unknown)
    }

    fn answered(&self, outcome: ToolOutcome) -> (ToolOutcome, Ending) {
        match outcome {
            ToolOutcome::Failed(error) => {
                // A broken or silent line says nothing about what happened at its other end.
                let silent = matches!(error.kind, ErrorKind::Network | ErrorKind::Timeout);
                if silent && self.tool.spec.effect != Effect::Read {
                    return self.cut_off("no answer came from behind the tool", error);
                }
                let ending = if error.kind == ErrorKind::UnknownOutcome {
                    Ending::Unknown
                } else if error.kind.never_sent() {
                    Ending::NotExecuted
                } else {
                    Ending::Failed(error.kind)
                };
                (ToolOutcome::Failed(error), ending)
            }
            ToolOutcome::Done(content) => (ToolOutcome::Done(content), Ending::Succeeded),
            ToolOutcome::Denied { reason } => (ToolOutcome::Denied { reason }, Ending::NotExecuted),
            // It was started, and goes on somewhere else.
            ToolOutcome::Pending(pending) => (ToolOutcome::Pending(pending), Ending::Unknown),
        }
    }
}

/// What a panic said, for the operator.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("of an unknown kind"))
}
