//! Plans that were handed out, so that calls come back to the very tools that were shown.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use toolcrib::{Caller, Plan};
use uuid::Uuid;

/// Plans that are kept; the oldest makes room. A plan shares its tools with its snapshot.
const MOST: usize = 1024;

#[derive(Default)]
pub(crate) struct Plans(Mutex<VecDeque<(String, Pinned)>>);

/// A plan and the profile that it was made under: what policy says now counts, not what it said.
#[derive(Clone)]
pub(crate) struct Pinned {
    pub(crate) profile: Option<String>,
    pub(crate) plan: Plan,
}

impl Plans {
    /// The name of a plan, which nobody can guess.
    pub(crate) fn keep(&self, pinned: Pinned) -> String {
        let id = format!("p_{}", Uuid::new_v4().simple());
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MOST {
            plans.pop_front();
        }
        plans.push_back((id.clone(), pinned));
        id
    }

    /// A plan of this caller; another's does not exist.
    pub(crate) fn get(&self, id: &str, caller: &Caller) -> Option<Pinned> {
        let plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, pinned) = plans.iter().rev().find(|(own, _)| own == id)?;
        pinned.plan.caller().is(caller).then(|| pinned.clone())
    }
}
