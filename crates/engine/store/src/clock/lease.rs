//! Until when others that share a record take this process for one that lives.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use toolcrib_core::CallKey;

use crate::clock::WallTime;
use crate::error::StoreError;

/// Calls that were asked about and not planned yet; of older ones the answer that was given stands.
const MOST_ASKED: usize = 4_096;

/// What this process is among those that share its record. One that is alone has nothing to renew.
#[derive(Default)]
pub struct OwnLease {
    state: Mutex<LeaseState>,
    /// The name of the replica that this process is by now.
    name: Mutex<Option<String>>,
    asked: Mutex<VecDeque<(CallKey, WallTime)>>,
}

#[derive(Default)]
enum LeaseState {
    #[default]
    Alone,
    /// By the clock of this machine that nobody sets.
    Until(Instant),
    /// It must not go on.
    Broken(StoreError),
}

impl OwnLease {
    fn state(&self) -> MutexGuard<'_, LeaseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, VecDeque<(CallKey, WallTime)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The others wait until then before they take this process for dead.
    pub fn hold(&self, until: Instant) {
        let mut state = self.state();
        if !matches!(*state, LeaseState::Broken(_)) {
            *state = LeaseState::Until(until);
        }
    }

    /// From now on this process is the replica of that name, which no other is or was.
    pub fn is_named(&self, name: &str) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
    }

    /// The name of the replica that this process is; `None`: it is alone.
    pub fn name(&self) -> Option<String> {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on it does nothing more, and this is why.
    pub fn break_off(&self, error: StoreError) {
        *self.state() = LeaseState::Broken(error);
    }

    pub fn is_shared(&self) -> bool {
        !matches!(*self.state(), LeaseState::Alone)
    }

    /// Why nothing may be begun now.
    pub fn lapsed(&self, place: &Path) -> Option<StoreError> {
        match &*self.state() {
            LeaseState::Until(until) if *until <= Instant::now() => Some(StoreError::Database {
                place: place.display().to_string(),
                told: "did not renew the lease of this replica in time: look at its database, and \
                       at the network between; it goes on by itself"
                    .into(),
                source: None,
            }),
            LeaseState::Broken(error) => Some(error.clone()),
            LeaseState::Alone | LeaseState::Until(_) => None,
        }
    }

    /// A call was told that none like it has an end that nobody knows. Another replica may bring
    /// one before the call is planned, and so that looks once more.
    pub(crate) fn note_asked(&self, call: CallKey, after: WallTime) {
        let mut asked = self.asked();
        if asked.len() == MOST_ASKED {
            asked.pop_front();
        }
        asked.push_back((call, after));
    }

    /// Since when none like this call may have ended so.
    pub(crate) fn take_asked(&self, call: CallKey) -> Option<WallTime> {
        let mut asked = self.asked();
        let after = asked.iter().rev().find(|(of, _)| *of == call).map(|(_, after)| *after);
        if after.is_some() {
            asked.retain(|(of, _)| *of != call);
        }
        after
    }
}
