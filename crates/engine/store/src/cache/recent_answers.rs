//! Answers that stand in no file: of tickets that were redeemed a moment ago, for those who come
//! second.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::rows::keys::IdempotencyKey;

const MOST: usize = 256;

/// Bytes of one of them; who asks for a larger one is told how the call ended.
const LARGEST: usize = 256 * 1024;

#[derive(Default)]
pub(crate) struct RecentAnswers(Mutex<VecDeque<RecentAnswer>>);

struct RecentAnswer {
    key: IdempotencyKey,
    now: Value,
    /// What stands on record in its place. Where something else does, another process answered.
    later: Value,
}

impl RecentAnswers {
    fn all(&self) -> MutexGuard<'_, VecDeque<RecentAnswer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, key: &IdempotencyKey, now: &Value, later: &Value) {
        if now.to_string().len() > LARGEST {
            return;
        }
        let mut all = self.all();
        if all.len() == MOST {
            all.pop_front();
        }
        all.push_back(RecentAnswer { key: key.clone(), now: now.clone(), later: later.clone() });
    }

    /// An answer that came after all, in the place of the one that is told.
    pub(crate) fn replace(&self, key: &IdempotencyKey, answer: &Value) {
        let mut all = self.all();
        let before = all.len();
        all.retain(|told| !is_same(&told.key, key));
        let was_told = all.len() < before;
        drop(all);
        if was_told {
            self.put(key, answer, answer);
        }
    }

    /// `later`: what is on record.
    pub(crate) fn get(&self, key: &IdempotencyKey, later: &Value) -> Option<Value> {
        let all = self.all();
        let told = all.iter().rev().find(|told| is_same(&told.key, key) && told.later == *later);
        told.map(|told| told.now.clone())
    }
}

/// The same person may ask with other scopes, or the operator for that person.
fn is_same(one: &IdempotencyKey, other: &IdempotencyKey) -> bool {
    one.caller.is(&other.caller) && one.tool == other.tool && one.key == other.key
}
