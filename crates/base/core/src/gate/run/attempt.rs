//! Step 8: runs a tool with deadline, cancellation and caught panics, and again only what is
//! harmless to repeat.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use tokio::time::{Instant, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::late_answer::AttemptFuture;
use super::redaction;
use super::supervise::Supervision;
use crate::call::arguments::Arguments;
use crate::call::context::CallContext;
use crate::call::trace::Trace;
use crate::catalog::CatalogTool;
use crate::gate::batch::Batch;
use crate::gate::question::asker::{Asker, CallPosition};
use crate::gate::record::checkpoint::CallCheckpoints;
use crate::ledger::{Attempt, Ending};
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::policy::limits::FOREVER;
use crate::tool::effect::Effect;

/// The attempts of one call.
pub(crate) struct AttemptRunner<'a> {
    tool: &'a CatalogTool,
    context: CallContext,
    /// Fires when nobody waits for the batch; the tool has a token of its own, since it may be
    /// listened to for longer.
    cancel: CancellationToken,
    over: Option<DropGuard>,
    retries: u32,
    backoff: Duration,
    grace: Duration,
    timeout: Duration,
    /// Knows when whoever waits gives up.
    watch: Arc<Supervision>,
}

/// What came of them.
pub(crate) struct AttemptsOutcome {
    pub(crate) outcome: ToolOutcome,
    pub(crate) ending: Ending,
    pub(crate) attempts: Vec<Attempt>,
    /// What was given up and may still answer; `true`: nobody knows how an attempt before it ended.
    pub(crate) rest: Option<(AttemptFuture, bool)>,
    /// Tells the tool, when it is dropped, that nobody listens any more.
    pub(crate) over: Option<DropGuard>,
}

impl AttemptsOutcome {
    pub(crate) fn none(outcome: ToolOutcome) -> Self {
        Self { outcome, ending: Ending::NotExecuted, attempts: Vec::new(), rest: None, over: None }
    }
}

/// Why an attempt is over.
#[expect(clippy::large_enum_variant, reason = "lives for one match, and `Ended` is the rule")]
enum AttemptEnd {
    Ended(Result<ToolOutcome, Box<dyn Any + Send>>),
    Deadline,
    Cancelled,
}

impl<'a> AttemptRunner<'a> {
    pub(crate) fn new(
        batch: &Arc<Batch>,
        (tool, arguments): (&'a CatalogTool, &Arguments),
        whereabouts: CallPosition,
        watch: &Arc<Supervision>,
    ) -> Self {
        let limits = &batch.gate.limits;
        let timeout = tool.spec.limits.timeout.unwrap_or(limits.timeout);
        let timeout = timeout.min(limits.longest_timeout.unwrap_or(FOREVER));
        let reads = tool.spec.effect == Effect::Read;
        let own = if reads { batch.cancel.clone() } else { CancellationToken::new() };
        let deadline = Instant::now() + timeout.min(FOREVER);
        // A tool may take as long as somebody listens, which is beyond what anybody waits.
        let late = if reads { Duration::ZERO } else { limits.late.min(FOREVER) };
        let (observer, trace) = (batch.gate.marks.observer.clone(), watch.trace());
        let is_recorded = observer.is_some() && trace.is_some_and(Trace::is_sampled);
        let context = CallContext {
            caller: Arc::clone(batch.plan.caller()),
            key: whereabouts.2,
            attempt: 0,
            deadline: deadline + late,
            cancel: own.clone(),
            session: batch.plan.session().cloned(),
            host: batch.host.clone(),
            unheard: batch.unheard,
            asker: Asker::of(batch, whereabouts, watch, arguments).map(|asker| asker as _),
            observer,
            trace,
            trace_state: batch.trace_state.clone(),
            hops: batch.hops,
            recorded: is_recorded.then(|| tool.spec.origin.source.clone()),
            extension: batch
                .plan
                .is_beside(tool)
                .then(|| Arc::new(batch.plan.clone()) as Arc<dyn Any + Send + Sync>),
            mask: None,
            checkpoints: CallCheckpoints::of(
                &batch.gate,
                (watch.keys(), whereabouts.2),
                watch.taken_up(),
            )
            .map(|kept| kept as _),
        };
        watch.starts(deadline);
        let retries = tool.spec.limits.retries.unwrap_or(limits.retries);
        let cancel = batch.cancel.clone();
        let (backoff, grace) = (limits.backoff, limits.grace);
        let over = (!reads).then(|| own.drop_guard());
        let watch = Arc::clone(watch);
        Self { tool, context, cancel, over, retries, backoff, grace, timeout, watch }
    }

    pub(crate) async fn run(&mut self, arguments: Arguments) -> AttemptsOutcome {
        let (mut was_sent, mut was_unknown) = (false, false);
        let mut attempts = Vec::with_capacity(1);
        loop {
            self.context.attempt += 1;
            let (at, began) = (SystemTime::now(), Instant::now());
            let (stop, rest) = self.attempt(arguments.clone()).await;
            let is_lost = self.is_lost_under_key(&stop);
            let (mut outcome, mut ending) = self.end(stop);
            let sent = ending != Ending::NotExecuted;
            // Whoever made it wants no end of it: what is not known is not known for that alone.
            let is_given_up = ending == Ending::Unknown && self.cancel.is_cancelled();
            let word = if is_given_up { ErrorKind::Cancelled.as_str() } else { word(&outcome) };
            attempts.push(Attempt::new(at, began.elapsed(), word, sent));
            if was_sent && !sent {
                (outcome, ending) = self.sent_before(outcome);
            } else if was_unknown && matches!(ending, Ending::Failed(_)) {
                (outcome, ending) = self.unknown_before(outcome);
            }
            let may_be_lost = is_lost || (was_unknown && !sent);
            was_sent |= sent;
            match self.pause_before_repeating(&outcome, may_be_lost) {
                Some(pause) if self.context.attempt <= self.retries && self.sleep(pause).await => {}
                _ => {
                    let rest = rest.map(|running| (running, was_unknown));
                    let over = self.over.take();
                    return AttemptsOutcome { outcome, ending, attempts, rest, over };
                }
            }
            was_unknown |= ending == Ending::Unknown;
        }
    }

    /// Whether the line broke of a call that writes, and whoever was called knows it again.
    fn is_lost_under_key(&self, stop: &AttemptEnd) -> bool {
        let AttemptEnd::Ended(Ok(ToolOutcome::Failed(error))) = stop else { return false };
        let is_lost = error.kind == ErrorKind::Network && !self.tool.spec.harmless_to_repeat();
        is_lost && self.tool.tool.honours_idempotency_key()
    }

    /// How long to wait before the call may be made again, if it may.
    fn pause_before_repeating(&self, outcome: &ToolOutcome, may_be_lost: bool) -> Option<Duration> {
        let ToolOutcome::Failed(error) = outcome else {
            return None;
        };
        let harmless = self.tool.spec.harmless_to_repeat() || error.kind.never_sent();
        if !(may_be_lost || error.kind.passes() && harmless) {
            return None;
        }
        let doubled = self.backoff.saturating_mul(1 << (self.context.attempt - 1).min(16));
        Some(error.retry_after.unwrap_or(doubled).max(doubled))
    }

    /// `false` if there is no time for another attempt, or nobody waits for it.
    async fn sleep(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause.min(FOREVER);
        if self.watch.deadline().is_none_or(|deadline| until >= deadline) {
            return false;
        }
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => false,
            () = tokio::time::sleep_until(until) => true,
        }
    }

    /// What may have changed something is kept when it is given up.
    async fn attempt(&self, arguments: Arguments) -> (AttemptEnd, Option<AttemptFuture>) {
        // The call itself may panic before it returns a future, so it is made inside.
        if self.tool.spec.effect == Effect::Read {
            let calling = redaction::call(&*self.tool.tool, arguments, &self.context);
            let running = std::pin::pin!(AssertUnwindSafe(calling).catch_unwind());
            return (self.stop(running).await, None);
        }
        let (tool, context) = (Arc::clone(&self.tool.tool), self.context.clone());
        let calling = async move { redaction::call(&*tool, arguments, &context).await };
        let mut running: AttemptFuture = Box::pin(AssertUnwindSafe(calling).catch_unwind());
        let stop = self.stop(running.as_mut()).await;
        let rest = (!matches!(stop, AttemptEnd::Ended(_))).then_some(running);
        (stop, rest)
    }

    async fn stop<F>(&self, mut running: Pin<&mut F>) -> AttemptEnd
    where
        F: Future<Output = Result<ToolOutcome, Box<dyn Any + Send>>> + ?Sized,
    {
        tokio::select! {
            biased;
            ended = &mut running => AttemptEnd::Ended(ended),
            () = self.cancel.cancelled() => {
                // The tool is told; what it still says within the grace counts.
                self.context.cancel.cancel();
                timeout(self.grace, &mut running).await.map_or(AttemptEnd::Cancelled, AttemptEnd::Ended)
            }
            () = self.watch.overdue() => AttemptEnd::Deadline,
        }
    }

    fn end(&self, stop: AttemptEnd) -> (ToolOutcome, Ending) {
        match stop {
            AttemptEnd::Ended(Ok(outcome)) => self.answered(outcome),
            AttemptEnd::Ended(Err(panic)) => {
                let error = ToolError::new(ErrorKind::Internal, messages::crashed());
                self.cut_off("the tool crashed while it ran", error.because(panic_text(&*panic)))
            }
            AttemptEnd::Cancelled => {
                let error = ToolError::new(ErrorKind::Cancelled, messages::cancelled());
                self.cut_off("the call was cancelled while it ran", error)
            }
            AttemptEnd::Deadline => {
                let what = format!("no answer within {:?}", self.timeout);
                let error = ToolError::new(ErrorKind::Timeout, messages::timed_out(self.timeout));
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
            error.message = messages::perhaps_done(what);
            return (ToolOutcome::Failed(error), Ending::Unknown);
        }
        error.kind = ErrorKind::UnknownOutcome;
        error.message = messages::unknown_outcome(what);
        (ToolOutcome::Failed(error), Ending::Unknown)
    }

    /// The end of a call whose last attempt never left, but an earlier one did.
    fn sent_before(&self, outcome: ToolOutcome) -> (ToolOutcome, Ending) {
        let ToolOutcome::Failed(mut error) = outcome else {
            return (outcome, Ending::Unknown);
        };
        error.kind = ErrorKind::Network;
        error.message = messages::lost();
        self.cut_off("the line broke, and the other side cannot be reached since", error)
    }

    /// The end of a call that was made again and failed, after an attempt of which nobody knows how
    /// it ended: what is said to a repetition tells nothing of that one, unless it is a success.
    fn unknown_before(&self, outcome: ToolOutcome) -> (ToolOutcome, Ending) {
        let ToolOutcome::Failed(mut error) = outcome else {
            return (outcome, Ending::Unknown);
        };
        let said = std::mem::take(&mut error.message);
        error = if error.cause().is_none() { error.because(said) } else { error };
        self.cut_off("the line broke, and the call failed when it was sent again", error)
    }

    fn answered(&self, outcome: ToolOutcome) -> (ToolOutcome, Ending) {
        match outcome {
            ToolOutcome::Failed(error) => {
                // A broken or silent line says nothing about what happened at its other end, nor
                // does a tool that stopped waiting because it was told to.
                let silent = matches!(
                    error.kind,
                    ErrorKind::Network | ErrorKind::Timeout | ErrorKind::Cancelled
                );
                if silent && self.tool.spec.effect != Effect::Read {
                    let what = error.message.clone();
                    return self.cut_off(&what, error);
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

/// How an attempt ended, in one word.
fn word(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Failed(error) => error.kind.as_str(),
        ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => {
            outcome.as_str()
        }
    }
}

/// What a panic said, for the operator.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("of an unknown kind"))
}
