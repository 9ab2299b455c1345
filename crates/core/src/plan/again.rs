//! Plans for callers who come again: what was decided for a snapshot under a policy is not decided
//! anew for each of their requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Decided, Plan, PlanError, Request, Showing, decide};
use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::fingerprint::Fingerprint;
use crate::policy::Policy;

/// Callers that are remembered; with one more the first is forgotten.
const MOST: usize = 64;

/// What was decided for the callers of one snapshot. It belongs to the snapshot and knows nothing
/// of it, so that it goes with it.
#[derive(Default)]
pub(crate) struct Again(Mutex<VecDeque<(Fingerprint, Arc<Decided>)>>);

impl Again {
    fn find(&self, policy: Fingerprint, caller: &Arc<Caller>) -> Option<Arc<Decided>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |other: &Arc<Caller>| Arc::ptr_eq(other, caller) || other == caller;
        let found = known.iter().find(|(of, plan)| *of == policy && is_same(&plan.caller));
        found.map(|(_, decided)| Arc::clone(decided))
    }

    fn keep(&self, policy: Fingerprint, decided: &Arc<Decided>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST {
            known.pop_front();
        }
        known.push_back((policy, Arc::clone(decided)));
    }
}

impl Plan {
    /// The same as [`Plan::make_shown`] for a caller who may come again. What was decided before
    /// holds where nothing but the session can differ: the request has no wishes, all is shown in
    /// full, and the policy says which one it is.
    pub fn make_again(
        catalog: &Arc<Catalog>,
        caller: &Arc<Caller>,
        policy: &dyn Policy,
        request: Request,
        showing: &dyn Showing,
    ) -> Result<Self, PlanError> {
        let version = policy.version().filter(|_| request.is_plain() && showing.is_plain());
        let known = version.and_then(|version| catalog.again().find(version, caller));
        if let Some(decided) = known {
            return Ok(Self { catalog: Arc::clone(catalog), decided, session: request.session });
        }
        let plan = decide::plan(catalog, Arc::clone(caller), policy, request, showing)?;
        if let Some(version) = version {
            catalog.again().keep(version, &plan.decided);
        }
        Ok(plan)
    }
}
