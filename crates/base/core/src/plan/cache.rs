//! Plans for callers who come again: what was decided for a snapshot under a policy is not decided
//! anew for each of their requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::decide;
use super::presenter::Presenter;
use super::request::{HostedPlacement, PlanRequest};
use super::tools::{Plan, PlanDecision};
use super::warning::PlanError;
use crate::call::caller::Caller;
use crate::catalog::Catalog;
use crate::policy::Policy;
use crate::tool::fingerprint::Fingerprint;

/// Callers that are remembered; with one more the first is forgotten.
const MOST: usize = 64;

/// What was decided for the callers of one snapshot. It belongs to the snapshot and knows nothing
/// of it, so that it goes with it.
#[derive(Default)]
struct PlanCache(Mutex<VecDeque<(PlanCacheKey, Arc<PlanDecision>)>>);

/// What was decided by: the version of the policy, the way of showing, and the model API.
type PlanCacheKey = (Fingerprint, u64, Option<String>, HostedPlacement);

impl PlanCache {
    fn find(&self, rules: &PlanCacheKey, caller: &Caller) -> Option<Arc<PlanDecision>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(of, plan)| of == rules && *plan.caller == *caller);
        found.map(|(_, decided)| Arc::clone(decided))
    }

    fn keep(&self, rules: PlanCacheKey, decided: &Arc<PlanDecision>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST {
            known.pop_front();
        }
        known.push_back((rules, Arc::clone(decided)));
    }
}

impl Plan {
    /// Decides what one request may use, shown as somebody decides. What was decided before for
    /// this snapshot holds where nothing but the session can differ: the request has no wishes, and
    /// the policy and the way of showing say which ones they are.
    pub fn shown_by(
        catalog: &Arc<Catalog>,
        caller: &Caller,
        policy: &dyn Policy,
        request: PlanRequest,
        showing: &dyn Presenter,
    ) -> Result<Self, PlanError> {
        let rules = policy.version().zip(showing.way()).filter(|_| request.is_plain());
        let rules =
            rules.map(|(policy, way)| (policy, way, request.dialect.clone(), request.hosted));
        let known = rules.as_ref();
        let known = known.and_then(|rules| catalog.own::<PlanCache>().find(rules, caller));
        if let Some(decided) = known {
            return Ok(Self { catalog: Arc::clone(catalog), decided, session: request.session });
        }
        let plan = decide::plan(catalog, Arc::new(caller.clone()), policy, request, showing)?;
        if let Some(rules) = rules {
            catalog.own::<PlanCache>().keep(rules, &plan.decided);
        }
        Ok(plan)
    }
}
