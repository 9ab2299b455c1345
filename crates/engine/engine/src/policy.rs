//! Several policies as one: the strictest wins.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::rules::ToolPatterns;
use serde_json::json;
use toolcrib_core::{
    BoxFuture, Caller, Fingerprint, Intent, Policy, SourceId, ToolName, ToolSpec, UnlistedAccess,
    UnlistedResource, Verdict,
};

/// All of them must agree; there is at least one.
struct StrictestPolicy {
    first: Arc<dyn Policy>,
    others: Vec<Arc<dyn Policy>>,
    version: Fingerprint,
}

/// The tools of some sources alone.
pub struct OnlySources(BTreeSet<SourceId>);

impl OnlySources {
    pub fn new(sources: BTreeSet<SourceId>) -> Self {
        Self(sources)
    }
}

/// The tools of some patterns alone: what an agent, or a view for one, is made of.
pub struct OnlyTools(ToolPatterns);

impl OnlyTools {
    pub fn new(tools: ToolPatterns) -> Self {
        Self(tools)
    }
}

/// Some tools alone, by name, with those of ours that serve all others.
#[derive(Debug)]
pub struct AssignedTools(BTreeSet<ToolName>);

impl AssignedTools {
    pub fn new(tools: BTreeSet<ToolName>) -> Self {
        Self(tools)
    }

    fn has(&self, tool: &ToolSpec) -> bool {
        tool.origin.source.as_str() == crate::builtin::SOURCE || self.0.contains(&tool.name)
    }
}

/// All of them as one.
pub fn strictest(first: Arc<dyn Policy>, others: Vec<Arc<dyn Policy>>) -> Arc<dyn Policy> {
    if others.is_empty() {
        return first;
    }
    let versions: Vec<_> = [&first].into_iter().chain(&others).map(Policy::version).collect();
    Arc::new(StrictestPolicy { first, others, version: Fingerprint::of(&json!(versions)) })
}

impl Policy for StrictestPolicy {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.first.sees(caller, tool) && self.others.iter().all(|other| other.sees(caller, tool))
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let mut verdict = self.first.decide(intent).await;
            for other in &self.others {
                verdict = verdict.strictest(other.decide(intent).await);
            }
            verdict
        })
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        let mut all = [&self.first].into_iter().chain(&self.others);
        all.all(|policy| policy.lets_run(caller, tool))
    }

    fn stops(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        let mut all = [&self.first].into_iter().chain(&self.others);
        all.any(|policy| policy.stops(caller, tool))
    }

    fn is_per_tool(&self) -> bool {
        self.first.is_per_tool() || self.others.iter().any(Policy::is_per_tool)
    }

    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        let others = self.others.iter().map(|other| other.leave(caller, unlisted));
        others.fold(self.first.leave(caller, unlisted), UnlistedAccess::and)
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(self.version)
    }
}

impl Policy for OnlyTools {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.0.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(allowed(self.0.has(intent.tool))))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.0.has(tool)
    }

    fn is_per_tool(&self) -> bool {
        true
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&json!({ "tools": self.0.written() })))
    }
}

fn allowed(is_allowed: bool) -> Verdict {
    if is_allowed { Verdict::Allow } else { Verdict::Deny("the rules do not permit it".to_owned()) }
}

impl OnlySources {
    fn has(&self, tool: &ToolSpec) -> bool {
        self.0.contains(&tool.origin.source)
    }
}

impl Policy for AssignedTools {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = if self.has(intent.tool) {
            Verdict::Allow
        } else {
            Verdict::Deny("it is no tool of this agent".to_owned())
        };
        Box::pin(std::future::ready(verdict))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&json!({ "only tools": self.0 })))
    }
}

impl Policy for OnlySources {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(allowed(self.has(intent.tool))))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn is_per_tool(&self) -> bool {
        false
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&json!(self.0)))
    }
}
