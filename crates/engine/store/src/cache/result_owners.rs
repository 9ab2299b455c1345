//! Who has a kept result that can be read: asked for every plan, and so kept in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcrib_core::Caller;

use crate::clock::WallTime;

/// Until when, by tenant and subject.
#[derive(Default)]
pub struct ResultOwners(Mutex<HashMap<String, HashMap<String, WallTime>>>);

impl ResultOwners {
    /// Those of a file that was opened.
    pub fn learn(&self, rows: Vec<(String, String, WallTime)>) {
        for (tenant, subject, until) in rows {
            self.all().entry(tenant).or_default().insert(subject, until);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, HashMap<String, WallTime>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has(&self, caller: &Caller) -> bool {
        let all = self.all();
        let until = all.get(&caller.tenant).and_then(|them| them.get(&caller.subject));
        until.is_some_and(|until| *until > WallTime::now())
    }

    /// What holds of one tenant after something of it came or went.
    pub fn set(&self, tenant: &str, rows: Vec<(String, String, WallTime)>) {
        let now: HashMap<_, _> =
            rows.into_iter().map(|(_, subject, until)| (subject, until)).collect();
        let mut all = self.all();
        if now.is_empty() {
            all.remove(tenant);
        } else {
            all.insert(tenant.to_owned(), now);
        }
    }
}
