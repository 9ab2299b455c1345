//! A batch from its calls to its report.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use super::Batch;
use super::cancellation::BatchCancellation;
use super::options::BatchOptions;
use super::pending_call::{EndedCall, PendingCall};
use crate::call::trace::Trace;
use crate::call::{Call, CallKey};
use crate::gate::admit::{self, Admission, AdmissionTerms, AdmittedCall};
use crate::gate::executor::Executor;
use crate::gate::respond;
use crate::gate::run::supervise::RunningCall;
use crate::gate::schedule::order::CallOrder;
use crate::outcome::response::Report;
use crate::plan::Plan;

impl Executor {
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
        // A request may ask for fewer than the operator allows, and not for more.
        let most = self.0.limits.max_calls;
        let max_calls = plan.max_calls().map_or(most, |asked| asked.min(most));
        let terms = AdmissionTerms { max_calls, limits: &self.0.limits, options: &options };
        let admitted = AssertUnwindSafe(|| admit::admit(plan, &mut calls, &terms));
        let Ok(slots) = std::panic::catch_unwind(admitted) else {
            return respond::broken(calls);
        };
        let leash = BatchCancellation::new(&options.cancel);
        let gone = leash.batch.clone().drop_guard();
        let order = CallOrder::of(slots.iter().map(|slot| match slot {
            Admission::Ready(admitted) => plan.at(admitted.place).map(|tool| &*tool.spec),
            Admission::Answered { .. } | Admission::Copy(_) => None,
        }));
        let batch = Arc::new(Batch {
            bounds: self.0.bounds.batch(plan.caller()),
            gate: Arc::clone(&self.0),
            plan: plan.clone(),
            calls,
            order,
            cancel: leash.batch.clone(),
            host: options.host,
            unheard: options.unheard,
            trace: options.trace,
            trace_state: options.trace_state,
            hops: options.hops,
            mark: options.mark,
            key: options.key,
            decider: None,
            reading: None,
            audience: options.audience,
        });
        let key_of = CallKey::batch();
        let ready = slots.iter().filter(|slot| matches!(slot, Admission::Ready(_))).count();
        let started: Vec<_> = slots
            .into_iter()
            .enumerate()
            .map(|(position, slot)| {
                StartedCall::of(&batch, position, slot, key_of(position), ready == 1)
            })
            .collect();
        let ended = {
            // Pinned where it is made: it is large, and would be copied from hand to hand.
            let ending = pin!(async {
                let mut ended = Vec::with_capacity(started.len());
                for started in started {
                    ended.push(started.end(&batch).await);
                }
                ended
            });
            leash.hold(ending).await
        };
        if ended.iter().any(EndedCall::goes_on) {
            gone.disarm();
        }
        respond::report(batch, ended)
    }
}

/// A call whose answer is there, or whose task was started.
enum StartedCall {
    Ended(Box<EndedCall>),
    Running(RunningCall),
}

impl StartedCall {
    fn of(batch: &Arc<Batch>, position: usize, slot: Admission, key: CallKey, alone: bool) -> Self {
        match slot {
            Admission::Copy(of) => Self::Ended(Box::new(EndedCall::copy(of))),
            Admission::Answered { outcome, repairs } => {
                let ended = EndedCall::unstarted(outcome, repairs);
                batch.tell_end((position, key), &ended, false, batch.trace.map(Trace::child));
                Self::Ended(Box::new(ended))
            }
            Admission::Ready(AdmittedCall { place, arguments, repairs }) => {
                let batch = Arc::clone(batch);
                let (ticket, keys) = (None, Vec::new());
                let one = PendingCall { batch, position, place, key, repairs, ticket, keys };
                Self::Running(RunningCall::start(one, arguments, alone))
            }
        }
    }

    async fn end(self, batch: &Arc<Batch>) -> EndedCall {
        match self {
            Self::Ended(ended) => *ended,
            Self::Running(watched) => watched.end(batch).await,
        }
    }
}
