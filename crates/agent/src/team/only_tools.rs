//! What the specialists of an agent leave to itself.

use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{BoxFuture, Caller, Fingerprint, Intent, Policy, ToolSpec, Verdict};
use toolcrib_engine::rules::ToolPatterns;

use super::names::OURS;

/// The tools that none of these lets anybody see, and those that serve all others.
pub(super) struct OthersTools(pub(super) Vec<Arc<dyn Policy>>);

/// The tools of some patterns, and those that serve all others: what an agent has.
pub struct AgentTools(ToolPatterns);

/// No tool at all.
pub(super) struct NoTools;

impl AgentTools {
    pub fn new(tools: ToolPatterns) -> Self {
        Self(tools)
    }

    fn has(&self, tool: &ToolSpec) -> bool {
        tool.origin.source.as_str() == OURS || self.0.has(tool)
    }
}

impl Policy for AgentTools {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let no = || Verdict::Deny("this agent has no such tool".to_owned());
        let verdict = if self.has(intent.tool) { Verdict::Allow } else { no() };
        Box::pin(std::future::ready(verdict))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn is_per_tool(&self) -> bool {
        true
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&json!({ "agent": self.0.written() })))
    }
}

fn verdict(is_left: bool) -> Verdict {
    let reason = || "a specialist has this tool: give it the task".to_owned();
    if is_left { Verdict::Allow } else { Verdict::Deny(reason()) }
}

impl OthersTools {
    fn leaves(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        tool.origin.source.as_str() == OURS
            || !self.0.iter().any(|theirs| theirs.sees(caller, tool))
    }
}

impl Policy for OthersTools {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.leaves(caller, tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let is_left = self.leaves(intent.caller, intent.tool);
        Box::pin(std::future::ready(verdict(is_left)))
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.leaves(caller, tool)
    }

    fn is_per_tool(&self) -> bool {
        self.0.iter().any(Policy::is_per_tool)
    }

    fn version(&self) -> Option<Fingerprint> {
        let versions: Option<Vec<_>> = self.0.iter().map(Policy::version).collect();
        Some(Fingerprint::of(&json!(["others", versions?])))
    }
}

impl Policy for NoTools {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        false
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(verdict(false)))
    }

    fn lets_run(&self, _: &Caller, _: &ToolSpec) -> bool {
        false
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&json!("none")))
    }
}
