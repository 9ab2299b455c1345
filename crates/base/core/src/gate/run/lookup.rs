//! A call whose outcome nobody knows is looked up, where its spec names a tool that can tell.
//!
//! As all calls do, the lookup goes through the gate: as its caller, under the rules of the call,
//! and on record. What it finds is an end on record, and no answer to anybody: the caller was told
//! that nobody knows, and asks.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, sleep_until};

use super::timeout::timeout_lazy;
use crate::BoxFuture;
use crate::call::arguments::Arguments;
use crate::call::host::FormFallback;
use crate::call::name::ToolName;
use crate::call::trace::Trace;
use crate::call::{Call, CallKey, RawArguments};
use crate::catalog::CatalogTool;
use crate::gate::batch::Batch;
use crate::gate::batch::options::BatchOptions;
use crate::gate::executor::Executor;
use crate::gate::record::guarded;
use crate::ledger::Ending;
use crate::observe::observer::LookupFinished;
use crate::outcome::ToolOutcome;
use crate::plan::{Plan, PlanRequest};
use crate::policy::{Intent, Verdict};
use crate::tool::effect::Effect;
use crate::tool::verify::Verify;

/// When a call is looked up after it ended: what it did may show late. Only the last look tells
/// that it did nothing.
const LOOKS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(10), Duration::from_mins(1)];

/// The gate that the call came through, what its caller was shown, and where it stands in a trace.
type LookupContext = (Executor, Plan, Option<Trace>);

/// What is needed to look a call up.
pub(crate) struct OutcomeLookup {
    verify: Arc<Verify>,
    arguments: Arguments,
}

impl OutcomeLookup {
    pub(crate) fn of(tool: &CatalogTool, arguments: &Arguments) -> Option<Self> {
        let verify = Arc::clone(tool.spec.verify.as_ref()?);
        Some(Self { arguments: verify.arguments_for(arguments), verify })
    }

    /// The tool, and what it is asked: for whoever was shown the tool and can look as well.
    pub(crate) fn shown_in(&self, plan: &Plan) -> Option<(&ToolName, &Arguments)> {
        plan.get(self.verify.tool.as_str())?;
        Some((&self.verify.tool, &self.arguments))
    }

    /// Looks on a task of its own, as long as there is a place for one.
    pub(crate) fn begin(self, batch: &Arc<Batch>, key: CallKey) {
        let Ok(place) = Arc::clone(&batch.gate.late).try_acquire_owned() else { return };
        let Batch { gate, plan, trace, .. } = &**batch;
        let of = (Executor(Arc::clone(gate)), plan.clone(), trace.map(Trace::child));
        let ended = Instant::now();
        // Boxed: the lookup is a call, and might have one of its own.
        let looking: BoxFuture<'static, ()> = Box::pin(async move {
            let _place = place;
            let mut found = None;
            for after in LOOKS {
                sleep_until(ended + after).await;
                let began = Instant::now();
                found = self.look(&of).await;
                of.0.tell_lookup(LookupFinished { key, took_effect: found, took: began.elapsed() });
                if found == Some(true) {
                    break;
                }
            }
            let Some(took_effect) = found else { return };
            let ending = if took_effect { Ending::Succeeded } else { Ending::NotExecuted };
            // What is known meanwhile, from a late answer or a person, stays.
            let _ = guarded(async { of.0.ledger().resolved(key, ending).await }).await;
        });
        tokio::spawn(looking);
    }

    /// Whether it took effect; `None`: the lookup could not tell.
    async fn look(&self, (executor, plan, trace): &LookupContext) -> Option<bool> {
        let (caller, policy) = (plan.caller(), executor.policy());
        let plan = Plan::make(plan.catalog(), caller, policy, PlanRequest::default()).ok()?;
        let tool = &plan.get(self.verify.tool.as_str())?.listed.spec;
        let intent = Intent { caller, tool, arguments: &self.arguments };
        let deciding = AssertUnwindSafe(async { policy.decide(intent).await }).catch_unwind();
        let verdict = timeout_lazy(executor.limits().timeout, deciding).await;
        // Nobody is asked whether something may be looked up that they did not ask for.
        let is_allowed = matches!(verdict, Some(Ok(Verdict::Allow))) && tool.approval.is_none();
        if tool.effect != Effect::Read || !is_allowed {
            return None;
        }
        let arguments = RawArguments::Value(self.arguments.clone().into_value());
        let call = Call::new("verify", self.verify.tool.as_str(), arguments);
        let (trace, unheard) = (*trace, FormFallback::Refused);
        let options = BatchOptions { unheard, trace, ..BatchOptions::default() };
        let answer = executor.run_with(&plan, vec![call], options).await.responses.pop()?;
        match answer.outcome {
            ToolOutcome::Done(content) => self.verify.took_effect(&content),
            ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
        }
    }
}
