//! The policy of a crib that may do less than another one.

use std::sync::Arc;

use arc_swap::ArcSwap;
use serde_json::json;
use toolcrib_core::{
    BoxFuture, Caller, Executor, Fingerprint, Intent, Policy, ToolSpec, UnlistedAccess,
    UnlistedResource, Verdict,
};

/// What both agree to. The policy of the wider crib may be replaced; the one of the moment counts.
pub(super) struct NarrowedPolicy {
    wider: Arc<ArcSwap<Executor>>,
    by: Arc<dyn Policy>,
}

impl NarrowedPolicy {
    pub(super) fn new(wider: Arc<ArcSwap<Executor>>, by: Arc<dyn Policy>) -> Self {
        Self { wider, by }
    }
}

impl Policy for NarrowedPolicy {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.by.sees(caller, tool) && self.wider.load().policy().sees(caller, tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let wider = self.wider.load_full();
            let verdict = wider.policy().decide(intent).await;
            verdict.strictest(self.by.decide(intent).await)
        })
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.by.lets_run(caller, tool) && self.wider.load().policy().lets_run(caller, tool)
    }

    fn stops(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.by.stops(caller, tool) || self.wider.load().policy().stops(caller, tool)
    }

    fn is_per_tool(&self) -> bool {
        self.by.is_per_tool() || self.wider.load().policy().is_per_tool()
    }

    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        let wider = self.wider.load().policy().leave(caller, unlisted);
        wider.and(self.by.leave(caller, unlisted))
    }

    fn version(&self) -> Option<Fingerprint> {
        let both = (self.wider.load().policy().version()?, self.by.version()?);
        Some(Fingerprint::of(&json!(both)))
    }
}
