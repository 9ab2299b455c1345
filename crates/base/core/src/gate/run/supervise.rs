//! Waits for a call, and answers in its place if the tool holds on to its thread.
//!
//! A deadline works inside the task, where it costs nothing as long as the tool is quick. A tool
//! that never gives its thread back cannot be stopped from there, nor from anywhere; but the batch
//! goes on without it, and the ledger hears of one end and not of two.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::spawn_on_drop::SpawnOnDrop;
use crate::BoxFuture;
use crate::call::CallKey;
use crate::call::arguments::Arguments;
use crate::call::trace::Trace;
use crate::gate::batch::Batch;
use crate::gate::batch::pending_call::{EndedCall, PendingCall};
use crate::gate::govern::looker;
use crate::gate::question::pause::PausedDeadline;
use crate::gate::record::guarded;
use crate::gate::record::{idempotency, stored_response, unknown_outcome};
use crate::ledger::{Checkpoint, Ending, IdempotencyKey, KeyResult};
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::policy::limits::FOREVER;
use crate::tool::effect::Effect;

/// Beyond deadline and grace: what a loaded machine may need to say so.
const SLACK: Duration = Duration::from_millis(500);

/// What the task and the one who waits for it tell each other.
#[derive(Default)]
pub(crate) struct Supervision {
    /// When the call must have ended; set when it starts to run.
    deadline: OnceLock<Instant>,
    settled: AtomicBool,
    /// What it asks a person, for which its deadline stands still.
    pub(crate) standing: PausedDeadline,
    /// Whoever waited has ended it and answers in its place.
    given_up: AtomicBool,
    /// Under which its answer is to be recorded.
    keys: OnceLock<Vec<IdempotencyKey>>,
    /// A process before began it, and left this.
    taken_up: OnceLock<Checkpoint>,
    /// Somebody saw the decision.
    decided: AtomicBool,
    /// Somebody saw the end.
    told: AtomicBool,
    trace: Option<Trace>,
}

impl Supervision {
    pub(crate) fn starts(&self, deadline: Instant) {
        // A call starts once; a second start would be ours to ignore.
        let _ = self.deadline.set(deadline);
    }

    /// When the call must have ended; `None`: it has not started, or its time stands still.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        Some(*self.deadline.get()? + self.standing.stood()?)
    }

    /// Resolves when the deadline of a call that has started is over.
    pub(crate) async fn overdue(&self) {
        loop {
            match self.deadline() {
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => sleep_until(deadline).await,
                None => self.standing.goes_on().await,
            }
        }
    }

    /// Whoever ends the call records its answer under these.
    pub(crate) fn holds(&self, keys: Vec<IdempotencyKey>) -> &[IdempotencyKey] {
        self.keys.get_or_init(|| keys)
    }

    pub(crate) fn keys(&self) -> &[IdempotencyKey] {
        self.keys.get().map_or(&[], Vec::as_slice)
    }

    /// A process before began the call.
    pub(crate) fn takes_up(&self, checkpoint: Checkpoint) {
        // A call is begun once; a second time would be ours to ignore.
        let _ = self.taken_up.set(checkpoint);
    }

    pub(crate) fn taken_up(&self) -> Option<&Checkpoint> {
        self.taken_up.get()
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Acquire)
    }

    /// Whether the one who asks is the first to end the call, and so the one to record it.
    pub(crate) fn settle(&self) -> bool {
        !self.settled.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn decides(&self) {
        self.decided.store(true, Ordering::Release);
    }

    pub(crate) fn trace(&self) -> Option<Trace> {
        self.trace
    }

    /// Tells the observer of the end, which is told once. An answer of before is the end of another
    /// call, and was told as such.
    fn tell(&self, batch: &Batch, place: (usize, CallKey), ended: &EndedCall) {
        if !ended.replayed && !self.told.swap(true, Ordering::AcqRel) {
            batch.tell_end(place, ended, self.decided.load(Ordering::Acquire), self.trace);
        }
    }

    /// Tells those who answered what it asked how it ended.
    async fn ends(&self, batch: &Batch, ended: &EndedCall) {
        let tickets = self.standing.tickets();
        if tickets.is_empty() {
            return;
        }
        let (caller, end) = (batch.plan.caller(), stored_response::write(ended));
        for ticket in &tickets {
            let later = stored_response::brief(ended);
            let told = end.clone().map_or(KeyResult::Lost, |now| KeyResult::Told { now, later });
            let key = IdempotencyKey::of_ticket(caller, ticket);
            // What cannot be written now is owed.
            let _ = guarded(async { batch.gate.ledger.settle(&key, told).await }).await;
        }
        self.standing.ends(end.unwrap_or_default());
    }

    fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }
}

/// A call that was started.
pub(crate) struct RunningCall {
    work: CallTask,
    one: SupervisedCall,
}

/// What is known of it from outside.
struct SupervisedCall {
    watch: Arc<Supervision>,
    position: usize,
    place: u32,
    key: CallKey,
    began: SystemTime,
}

impl RunningCall {
    /// On a task of its own, unless it is `alone` and its tool is brief.
    pub(crate) fn start(one: PendingCall, arguments: Arguments, alone: bool) -> Self {
        let (position, place, key) = (one.position, one.place, one.key);
        let trace = one.batch.trace.map(Trace::child);
        let watch = Arc::new(Supervision { trace, ..Supervision::default() });
        let tool = one.batch.plan.at(place);
        let is_brief = tool.is_some_and(|tool| tool.tool.is_nonblocking());
        let home = one.batch.gate.marks.home.clone();
        let home = home.filter(|home| !is_brief && is_larger(home));
        // Boxed here, where it is made: a task that large would be copied from hand to hand.
        let running: BoxFuture<'static, EndedCall> = Box::pin({
            let watch = Arc::clone(&watch);
            async move {
                let batch = Arc::clone(&one.batch);
                let _done = batch.order.done_guard(position);
                let ended = one.run(arguments, &watch).await;
                watch.tell(&batch, (position, key), &ended);
                watch.ends(&batch, &ended).await;
                ended
            }
        });
        let work = match home {
            _ if is_brief && alone => CallTask::Here(SpawnOnDrop::new(running)),
            Some(home) => CallTask::Task(home.spawn(running)),
            None => CallTask::Task(tokio::spawn(running)),
        };
        Self { work, one: SupervisedCall { watch, position, place, key, began: SystemTime::now() } }
    }

    /// How it ended, or that it goes on and asks a person.
    pub(crate) async fn end(self, batch: &Arc<Batch>) -> EndedCall {
        let Self { work, one } = self;
        let (watch, position) = (Arc::clone(&one.watch), one.position);
        let (place, key) = (Some(one.place), Some(one.key));
        let pending = match work {
            // Both are large, and neither is the usual end of a call that is alone.
            CallTask::Task(task) => {
                let shared = Arc::clone(batch);
                let mut ending = Box::pin(async move { one.end(task, &shared).await });
                tokio::select! {
                    biased;
                    ended = &mut ending => return ended,
                    pending = watch.standing.asking() => {
                        tokio::spawn(ending);
                        pending
                    }
                }
            }
            CallTask::Here(mut here) => tokio::select! {
                biased;
                ended = &mut here => match ended {
                    Some(ended) => return ended,
                    None => return Box::pin(one.broke(batch)).await,
                },
                pending = watch.standing.asking() => {
                    let shared = Arc::clone(batch);
                    tokio::spawn(async move {
                        if here.await.is_none() {
                            one.broke(&shared).await;
                        }
                    });
                    pending
                }
            },
        };
        // Those behind it do not wait for a person.
        drop(batch.order.done_guard(position));
        let was_begun = watch.taken_up().is_some();
        let pending = EndedCall::unstarted(ToolOutcome::Pending(pending), Vec::new());
        EndedCall { place, key, was_begun, ..pending }
    }
}

impl SupervisedCall {
    async fn end(self, mut task: JoinHandle<EndedCall>, batch: &Batch) -> EndedCall {
        loop {
            let grace = batch.gate.limits.grace.min(FOREVER) + SLACK;
            // Of one whose time stands still it is not known yet.
            let last = || self.watch.deadline().map(|at| at + grace);
            // A tool that has answered is waited for, however long its record takes.
            let is_settled = self.watch.is_settled();
            let until = last().filter(|_| !is_settled);
            let look_again = Instant::now() + Duration::from_secs(1);
            match timeout_at(until.unwrap_or(look_again), &mut task).await {
                Ok(Ok(ended)) => return ended,
                Ok(Err(_)) => return self.broke(batch).await,
                Err(_) if until.is_some() && until == last() && self.watch.settle() => {
                    let what = "the tool holds on to its thread and does not answer";
                    task.abort();
                    return self.cut_off(batch, what, true).await;
                }
                Err(_) => {}
            }
        }
    }

    async fn broke(&self, batch: &Batch) -> EndedCall {
        let first = self.watch.settle();
        self.cut_off(batch, "something of ours broke", first).await
    }

    /// `first`: nobody has recorded the end before.
    async fn cut_off(&self, batch: &Batch, what: &str, first: bool) -> EndedCall {
        self.watch.given_up.store(first, Ordering::Release);
        // Those behind it need not wait for a thread that does not come back.
        drop(batch.order.done_guard(self.position));
        let spec = batch.plan.at(self.place).map(|tool| &tool.spec);
        let reads = spec.is_some_and(|spec| spec.effect == Effect::Read);
        let idempotent = spec.is_some_and(|spec| spec.idempotent);
        let (kind, message, ending) = if self.watch.deadline.get().is_none() {
            (ErrorKind::Internal, messages::not_reached(), Ending::NotExecuted)
        } else if reads {
            (ErrorKind::Timeout, messages::stuck(what), Ending::Failed(ErrorKind::Timeout))
        } else if idempotent {
            (ErrorKind::Timeout, messages::perhaps_done(what), Ending::Unknown)
        } else {
            (ErrorKind::UnknownOutcome, messages::unknown_outcome(what), Ending::Unknown)
        };
        let mut error = ToolError::new(kind, message);
        if let (ErrorKind::UnknownOutcome, Some(spec)) = (kind, spec) {
            let when = (self.key, self.began);
            let hints = batch.gate.marks.hints;
            unknown_outcome::unknown(&mut error, when, (&spec.name, looker(batch)), None, hints);
        }
        let recording = async { batch.gate.ledger.finished(self.key, ending).await };
        let recorded = if first { guarded(recording).await } else { Ok(()) };
        let ended = EndedCall {
            place: Some(self.place),
            key: Some(self.key),
            attempts: 1,
            ending: Some(ending),
            ledger_fault: recorded.err().map(|error| error.to_string()),
            ..EndedCall::unstarted(ToolOutcome::Failed(error), Vec::new())
        };
        self.watch.tell(batch, (self.position, self.key), &ended);
        self.watch.ends(batch, &ended).await;
        if first {
            let keys = (self.watch.keys(), self.watch.taken_up().is_some());
            idempotency::settle(&*batch.gate.ledger, keys, &ended).await;
        }
        ended
    }
}

/// Whether a runtime has more than the one thread that we are on.
fn is_larger(home: &Handle) -> bool {
    let here = Handle::try_current().map(|here| here.runtime_flavor());
    here.is_ok_and(|here| here == RuntimeFlavor::CurrentThread)
        && home.runtime_flavor() == RuntimeFlavor::MultiThread
}

/// Where a call runs.
enum CallTask {
    Task(JoinHandle<EndedCall>),
    /// On the task of whoever waits for it.
    Here(SpawnOnDrop<EndedCall>),
}
