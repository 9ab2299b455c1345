//! Several policies as one: the strictest wins.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{
    AskBeforeDestroying, BoxFuture, Caller, Fingerprint, Intent, Policy, SourceId, ToolSpec,
    UnlistedAccess, UnlistedResource, Verdict,
};
use toolcrib_engine::rules::Rules;

use crate::config::Profile;

/// All of them must agree; there is at least one.
struct StrictestPolicy {
    first: Arc<dyn Policy>,
    others: Vec<Arc<dyn Policy>>,
    version: Fingerprint,
}

/// The tools of some sources alone.
struct OnlySources(BTreeSet<SourceId>);

/// The policy of a file and of a profile of it. Rules take the place of the one that is there if
/// nobody says anything.
pub(crate) fn policy(rules: &[&Rules], profile: Option<&Profile>) -> Arc<dyn Policy> {
    let own = profile.and_then(|profile| profile.rules.as_ref());
    let mut said = rules
        .iter()
        .copied()
        .map(Some)
        .chain([own])
        .flatten()
        .map(|rules| -> Arc<dyn Policy> { Arc::new(rules.clone()) });
    let first = said.next().unwrap_or_else(|| Arc::new(AskBeforeDestroying));
    let mut others: Vec<_> = said.collect();
    if let Some(sources) = profile.and_then(|profile| profile.sources.as_ref()) {
        others.push(Arc::new(OnlySources(sources.iter().cloned().collect())));
    }
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

impl OnlySources {
    fn has(&self, tool: &ToolSpec) -> bool {
        self.0.contains(&tool.origin.source)
    }
}

impl Policy for OnlySources {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = if self.has(intent.tool) {
            Verdict::Allow
        } else {
            Verdict::Deny("the rules do not permit it".to_owned())
        };
        Box::pin(std::future::ready(verdict))
    }

    fn is_per_tool(&self) -> bool {
        false
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&json!(self.0)))
    }
}
