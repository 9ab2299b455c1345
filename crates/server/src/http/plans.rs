//! Plans that were handed out, so that calls come back to the very tools that were shown.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolcrib::{Caller, Plan};
use uuid::Uuid;

/// Plans that are kept; the one that was used the longest ago makes room. A plan shares its tools
/// with its snapshot.
const MOST: usize = 1024;
/// For so long a plan is kept that nobody uses.
const UNUSED: Duration = Duration::from_hours(1);

#[derive(Default)]
pub(crate) struct Plans(Mutex<VecDeque<Kept>>);

/// A plan and the profile that it was made under: what policy says now counts, not what it said.
#[derive(Clone)]
pub(crate) struct Pinned {
    pub(crate) profile: Option<String>,
    pub(crate) plan: Plan,
}

struct Kept {
    id: String,
    used: Instant,
    pinned: Pinned,
}

impl Plans {
    /// The name of a plan, which nobody can guess.
    pub(crate) fn keep(&self, pinned: Pinned) -> String {
        let id = format!("p_{}", Uuid::new_v4().simple());
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget_unused(&mut plans);
        if plans.len() >= MOST {
            plans.pop_front();
        }
        plans.push_back(Kept { id: id.clone(), used: Instant::now(), pinned });
        id
    }

    /// A plan of this caller; to anybody else it does not exist, nor to a token of the same person
    /// with other scopes: what runs under a plan may do what the one who made it may.
    pub(crate) fn get(&self, id: &str, caller: &Caller) -> Option<Pinned> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget_unused(&mut plans);
        let place = plans.iter().rposition(|kept| kept.id == id)?;
        if **plans.get(place)?.pinned.plan.caller() != *caller {
            return None;
        }
        let kept = plans.remove(place)?;
        let pinned = kept.pinned.clone();
        plans.push_back(Kept { used: Instant::now(), ..kept });
        Some(pinned)
    }
}

/// They stand in the order of their use.
fn forget_unused(plans: &mut VecDeque<Kept>) {
    while plans.front().is_some_and(|kept| kept.used.elapsed() >= UNUSED) {
        plans.pop_front();
    }
}
