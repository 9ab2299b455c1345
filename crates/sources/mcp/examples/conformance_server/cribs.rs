//! The cribs of the fixture: that of all its tools, and one that leaves some out.

use std::sync::Arc;

use toolcrib_core::{BoxFuture, Caller, CribLimits, Executor, Intent, Policy, ToolSpec, Verdict};
use toolcrib_engine::Crib;
use toolcrib_mcp::CribProvider;

/// One crib, with `small` as a profile that leaves out what `left_out` names.
pub(crate) struct FixtureCribs {
    crib: Crib,
    small: Crib,
}

/// The policy of the crib, but for what it leaves out.
struct LeavesOut {
    executor: Arc<Executor>,
    names: Vec<String>,
}

impl FixtureCribs {
    pub(crate) fn of(crib: Crib) -> Self {
        Self::leaving_out(crib, Vec::new())
    }

    pub(crate) fn leaving_out(crib: Crib, names: Vec<String>) -> Self {
        let policy = Arc::new(LeavesOut { executor: crib.executor(), names });
        let small = crib.with_policy(policy, CribLimits::default()).for_profile("small");
        Self { crib, small }
    }
}

impl CribProvider for FixtureCribs {
    fn crib(&self, profile: Option<&str>) -> Option<Crib> {
        match profile {
            None => Some(self.crib.clone()),
            Some("small") => Some(self.small.clone()),
            Some(_) => None,
        }
    }
}

impl Policy for LeavesOut {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        let is_left_out = self.names.iter().any(|name| name == tool.name.as_str());
        !is_left_out && self.executor.policy().sees(caller, tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        self.executor.policy().decide(intent)
    }
}
