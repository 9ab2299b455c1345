//! A policy that a test writes by hand.

use std::collections::HashMap;

use toolcrib_core::{BoxFuture, Caller, Intent, Policy, ToolSpec, Verdict};

/// A verdict for each named tool; all others are allowed.
#[derive(Debug, Clone, Default)]
pub struct FixedPolicy(HashMap<String, Verdict>);

impl FixedPolicy {
    #[must_use]
    pub fn with(mut self, tool: impl Into<String>, verdict: Verdict) -> Self {
        self.0.insert(tool.into(), verdict);
        self
    }

    fn verdict(&self, tool: &ToolSpec) -> Verdict {
        self.0.get(tool.name.as_str()).cloned().unwrap_or(Verdict::Allow)
    }
}

impl Policy for FixedPolicy {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        !matches!(self.verdict(tool), Verdict::Deny(_))
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(self.verdict(intent.tool)))
    }
}
