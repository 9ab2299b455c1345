//! Plans that were handed out, so that calls come back to the very tools that were shown.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use toolcrib_core::{Caller, Plan};
use uuid::Uuid;

/// Plans that are kept. A plan shares its tools with its snapshot.
const MOST: usize = 1024;
/// Plans of one tenant beside those of others: further ones are at its own expense.
const SHARE: usize = MOST / 4;
/// For so long a plan is kept that nobody uses.
const UNUSED: Duration = Duration::from_hours(1);

#[derive(Default)]
pub(crate) struct PlanStore(Mutex<VecDeque<PlanStoreEntry>>);

/// A plan and the profile that it was made under: what policy says now counts, not what it said.
#[derive(Clone)]
pub(crate) struct ProfilePlan {
    pub(crate) profile: Option<String>,
    pub(crate) plan: Plan,
}

struct PlanStoreEntry {
    id: String,
    used: Instant,
    pinned: ProfilePlan,
}

impl PlanStoreEntry {
    fn tenant(&self) -> &str {
        &self.pinned.plan.caller().tenant
    }

    /// Tenant and subject.
    fn who(&self) -> (&str, &str) {
        (self.tenant(), &self.pinned.plan.caller().subject)
    }
}

impl PlanStore {
    /// The name of a plan, which nobody can guess.
    pub(crate) fn keep(&self, pinned: ProfilePlan) -> String {
        let id = format!("p_{}", Uuid::new_v4().simple());
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget_unused(&mut plans);
        make_room(&mut plans, &pinned.plan.caller().tenant);
        plans.push_back(PlanStoreEntry { id: id.clone(), used: Instant::now(), pinned });
        id
    }

    /// A plan of this caller; to anybody else it does not exist, nor to a token of the same person
    /// with other scopes: what runs under a plan may do what the one who made it may.
    pub(crate) fn get(&self, id: &str, caller: &Caller) -> Option<ProfilePlan> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget_unused(&mut plans);
        let place = plans.iter().rposition(|kept| kept.id == id)?;
        if **plans.get(place)?.pinned.plan.caller() != *caller {
            return None;
        }
        let kept = plans.remove(place)?;
        let pinned = kept.pinned.clone();
        plans.push_back(PlanStoreEntry { used: Instant::now(), ..kept });
        Some(pinned)
    }
}

/// They stand in the order of their use.
fn forget_unused(plans: &mut VecDeque<PlanStoreEntry>) {
    while plans.front().is_some_and(|kept| kept.used.elapsed() >= UNUSED) {
        plans.pop_front();
    }
}

/// Makes room for a plan of a tenant, so that nobody's plans are gone because somebody else makes
/// many.
fn make_room(plans: &mut VecDeque<PlanStoreEntry>, tenant: &str) {
    let own = plans.iter().filter(|kept| kept.tenant() == tenant).count();
    let goes = if own >= SHARE && own < plans.len() {
        of_most(plans, |kept| kept.tenant() == tenant)
    } else if plans.len() >= MOST {
        of_most(plans, |_| true)
    } else {
        None
    };
    if let Some(place) = goes {
        plans.remove(place);
    }
}

/// Of the tenant that holds most, and there of the caller who does, the plan that was used the
/// longest ago.
fn of_most(
    plans: &VecDeque<PlanStoreEntry>,
    among: impl Fn(&PlanStoreEntry) -> bool,
) -> Option<usize> {
    let mut tenants: HashMap<&str, usize, RandomState> = HashMap::default();
    let mut callers: HashMap<(&str, &str), usize, RandomState> = HashMap::default();
    for kept in plans {
        *tenants.entry(kept.tenant()).or_default() += 1;
        *callers.entry(kept.who()).or_default() += 1;
    }
    let held = |kept: &PlanStoreEntry| {
        (tenants.get(kept.tenant()).copied(), callers.get(&kept.who()).copied())
    };
    // Of those with as many the last one is taken, which is the oldest from behind.
    let backwards = plans.iter().enumerate().rev().filter(|(_, kept)| among(kept));
    backwards.max_by_key(|(_, kept)| held(kept)).map(|(place, _)| place)
}
