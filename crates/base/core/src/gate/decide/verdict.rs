//! The policy's own word.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use crate::call::arguments::Arguments;
use crate::gate::batch::Batch;
use crate::gate::executor::Gate;
use crate::gate::run::timeout::timeout_lazy;
use crate::policy::{Intent, Verdict};
use crate::tool::spec::ToolSpec;

/// Asks the policy. One that panics, or takes longer than a call, denies.
pub(crate) async fn decide_on(batch: &Batch, tool: &ToolSpec, arguments: &Arguments) -> Verdict {
    decide_under(&batch.gate, Intent { caller: batch.plan.caller(), tool, arguments }).await
}

/// The same of the policy of a gate.
pub(super) async fn decide_under(gate: &Gate, intent: Intent<'_>) -> Verdict {
    let deciding = async { gate.policy.decide(intent).await };
    let deciding = AssertUnwindSafe(deciding).catch_unwind();
    match timeout_lazy(gate.limits.timeout, deciding).await {
        Some(Ok(verdict)) => verdict,
        Some(Err(_)) | None => Verdict::Deny("the policy could not decide".to_owned()),
    }
}
