//! The one gate: every call of every door runs here, in the order that is the security model.
//!
//! 1 to 5 (`admit`): parse and repair, dedupe, cap, control guard, look up and validate.
//! 6 to 10 (`run_one`): decide, park, record, schedule, run, govern, record, answer.

mod admit;
mod answer;
mod attempt;
mod bounds;
mod govern;
mod order;
mod redeem;
mod run_one;

use std::sync::Arc;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, CallKey};
use crate::context::ProgressSink;
use crate::ledger::Ledger;
use crate::limits::CribLimits;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::response::Report;
use admit::{Admitted, Slot};
use bounds::Bounds;
use order::Order;
use run_one::{Ended, OneCall};

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
        Self(Arc::new(Gate {
            policy,
            ledger,
            limits,
            bounds,
        }))
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

    pub async fn run_with(&self, plan: &Plan, calls: Vec<Call>, options: BatchOptions) -> Report {
        let cancel = options.cancel.child_token();
        let gone = cancel.clone().drop_guard();
        let asked: Vec<_> = calls
            .iter()
            .map(|call| (call.id.clone(), call.name.clone()))
            .collect();
        let batch = Batch {
            gate: Arc::clone(&self.0),
            plan: plan.clone(),
            cancel,
            progress: options.progress,
        };
        // A task of its own, so that a host that goes away does not take the record with it.
        let report = tokio::spawn(batch.run(calls)).await;
        drop(gone);
        report.unwrap_or_else(|broken| answer::broken(asked, &broken))
    }
}

/// One batch on its way.
struct Batch {
    gate: Arc<Gate>,
    plan: Plan,
    cancel: CancellationToken,
    progress: Option<ProgressSink>,
}

impl Batch {
    async fn run(self, mut calls: Vec<Call>) -> Report {
        let max_calls = self.plan.max_calls().unwrap_or(self.gate.limits.max_calls);
        let slots = admit::admit(&self.plan, &mut calls, max_calls);
        let order = Order::of(slots.iter().map(|slot| match slot {
            Slot::Ready(admitted) => self.plan.at(admitted.place).map(|tool| &*tool.spec),
            Slot::Answered { .. } | Slot::Copy(_) => None,
        }));
        let bounds = self.gate.bounds.batch(&self.plan.caller().tenant);
        let key_of = CallKey::batch();
        let running = slots
            .into_iter()
            .zip(&calls)
            .enumerate()
            .map(|(position, (slot, call))| {
                let (order, bounds, batch) = (&order, &bounds, &self);
                let key = key_of(position);
                async move {
                    match slot {
                        Slot::Copy(of) => Ended::copy(of),
                        Slot::Answered { outcome, repairs } => Ended::unstarted(outcome, repairs),
                        Slot::Ready(Admitted {
                            place,
                            arguments,
                            repairs,
                        }) => {
                            let _done = order.done_guard(position);
                            let one = OneCall {
                                batch,
                                call,
                                place,
                                key,
                                repairs,
                            };
                            one.run(arguments, order.before(position), bounds).await
                        }
                    }
                }
            });
        let ended = join_all(running).await;
        answer::report(&self, calls, ended)
    }
}
