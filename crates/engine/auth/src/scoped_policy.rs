//! What scopes open, beside what the rules permit: both must agree.

use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{
    BoxFuture, Caller, Effect, Fingerprint, Intent, Policy, ToolSpec, UnlistedAccess,
    UnlistedResource, Verdict,
};

use crate::scope::{AccessLevel, of_profile, reach_by};

/// A policy, for callers as far as their scopes reach.
pub struct ScopedPolicy {
    /// The scope of the profile whose policy this is.
    own: Option<String>,
    inner: Arc<dyn Policy>,
    version: Option<Fingerprint>,
}

impl ScopedPolicy {
    /// `profile`: whose policy this is; `None`: that of the whole file.
    pub fn new(profile: Option<&str>, inner: Arc<dyn Policy>) -> Self {
        let own = profile.map(of_profile);
        let version = inner.version().map(|inner| Fingerprint::of(&json!([own, inner])));
        Self { own, inner, version }
    }

    fn opens(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        match reach_by(caller, self.own.as_deref()) {
            AccessLevel::All => true,
            AccessLevel::Reads => tool.effect == Effect::Read,
            AccessLevel::Nothing => false,
        }
    }
}

impl Policy for ScopedPolicy {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.opens(caller, tool) && self.inner.sees(caller, tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        if self.opens(intent.caller, intent.tool) {
            return self.inner.decide(intent);
        }
        let reason = "the scopes of the caller do not reach it".to_owned();
        Box::pin(std::future::ready(Verdict::Deny(reason)))
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.opens(caller, tool) && self.inner.lets_run(caller, tool)
    }

    fn stops(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.inner.stops(caller, tool)
    }

    fn is_per_tool(&self) -> bool {
        self.inner.is_per_tool()
    }

    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        self.inner.leave(caller, unlisted)
    }

    fn version(&self) -> Option<Fingerprint> {
        self.version
    }
}
