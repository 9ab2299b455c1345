//! The one gate: every call of every door runs here, in the order that is the security model.
//!
//! 1 to 5 (`admit`): parse and repair, dedupe, cap, control guard, look up and validate.
//! 6 to 9 (`run_one`, a task for each call): decide, park, record, wait for its turn, run, govern,
//! record. 10 (`answer`): one response a call, in call order.

mod admit;
mod answer;
mod attempt;
mod bounds;
mod govern;
mod order;
mod record;
mod redeem;
mod run_one;
mod watch;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::call::{Call, CallKey};
use crate::context::ProgressSink;
use crate::ledger::Ledger;
use crate::limits::CribLimits;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::response::Report;
use admit::{Admitted, Slot};
use bounds::{BatchBounds, Bounds};
use order::Order;
use run_one::{Ended, OneCall};
use watch::Watched;

/// Runs batches of calls. Cheap to clone; all clones share bounds, policy and ledger.
#[derive(Clone)]
pub struct Executor(Arc<Gate>);

struct Gate {
    policy: Arc<dyn Policy>,
    ledger: Arc<dyn Ledger>,
    limits: CribLimits,
    bounds: Bounds,
}

/// What a host may add to a batch.
#[derive(Clone, Default)]
pub struct BatchOptions {
    /// Stops the batch: what has not started does not run.
    pub cancel: CancellationToken,
    pub progress: Option<ProgressSink>,
}

impl Executor {
    pub fn new(policy: Arc<dyn Policy>, ledger: Arc<dyn Ledger>, limits: CribLimits) -> Self {
        let bounds = Bounds::new(&limits);
        Self(Arc::new(Gate { policy, ledger, limits, bounds }))
    }

    pub fn policy(&self) -> &dyn Policy {
        &*self.0.policy
    }

    pub fn ledger(&self) -> &dyn Ledger {
        &*self.0.ledger
    }

    pub fn limits(&self) -> &CribLimits {
        &self.0.limits
    }

    /// Answers every call exactly once, in call order, whatever happens.
    ///
    /// A caller that drops the future cancels the batch; what had started is still recorded.
    pub async fn run(&self, plan: &Plan, calls: Vec<Call>) -> Report {
        self.run_with(plan, calls, BatchOptions::default()).await
    }

    pub async fn run_with(
        &self,
        plan: &Plan,
        mut calls: Vec<Call>,
        options: BatchOptions,
    ) -> Report {
        let max_calls = plan.max_calls().unwrap_or(self.0.limits.max_calls);
        let admitted = AssertUnwindSafe(|| admit::admit(plan, &mut calls, max_calls));
        let Ok(slots) = std::panic::catch_unwind(admitted) else {
            return answer::broken(calls);
        };
        let cancel = options.cancel.child_token();
        let _gone = cancel.clone().drop_guard();
        let order = Order::of(slots.iter().map(|slot| match slot {
            Slot::Ready(admitted) => plan.at(admitted.place).map(|tool| &*tool.spec),
            Slot::Answered { .. } | Slot::Copy(_) => None,
        }));
        let batch = Arc::new(Batch {
            bounds: self.0.bounds.batch(&plan.caller().tenant),
            gate: Arc::clone(&self.0),
            plan: plan.clone(),
            calls,
            order,
            cancel,
            progress: options.progress,
        });
        let key_of = CallKey::batch();
        let started: Vec<_> = slots
            .into_iter()
            .enumerate()
            .map(|(position, slot)| Started::of(&batch, position, slot, key_of(position)))
            .collect();
        let mut ended = Vec::with_capacity(started.len());
        for started in started {
            ended.push(started.end(&batch).await);
        }
        answer::report(batch, ended)
    }
}

/// One batch on its way, shared by the tasks of its calls.
struct Batch {
    gate: Arc<Gate>,
    plan: Plan,
    /// Without their arguments: those went with the admission.
    calls: Vec<Call>,
    order: Order,
    bounds: BatchBounds,
    cancel: CancellationToken,
    progress: Option<ProgressSink>,
}

/// A call whose answer is there, or whose task was started.
enum Started {
    Ended(Box<Ended>),
    Running(Watched),
}

impl Started {
    fn of(batch: &Arc<Batch>, position: usize, slot: Slot, key: CallKey) -> Self {
        match slot {
            Slot::Copy(of) => Self::Ended(Box::new(Ended::copy(of))),
            Slot::Answered { outcome, repairs } => {
                Self::Ended(Box::new(Ended::unstarted(outcome, repairs)))
            }
            Slot::Ready(Admitted { place, arguments, repairs }) => {
                let one = OneCall { batch: Arc::clone(batch), position, place, key, repairs };
                Self::Running(Watched::start(one, arguments, false))
            }
        }
    }

    async fn end(self, batch: &Batch) -> Ended {
        match self {
            Self::Ended(ended) => *ended,
            Self::Running(watched) => watched.end(batch).await,
        }
    }
}
