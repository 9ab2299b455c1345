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
pub(crate) struct RecentAnswers(Mutex<VecDeque<(IdempotencyKey, Value)>>);

impl RecentAnswers {
    fn all(&self) -> MutexGuard<'_, VecDeque<(IdempotencyKey, Value)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, key: &IdempotencyKey, answer: &Value) {
        if answer.to_string().len() > LARGEST {
            return;
        }
        let mut all = self.all();
        if all.len() == MOST {
            all.pop_front();
        }
        all.push_back((key.clone(), answer.clone()));
    }

    /// An answer that came after all, in the place of the one that is told.
    pub(crate) fn replace(&self, key: &IdempotencyKey, answer: &Value) {
        let mut all = self.all();
        let before = all.len();
        all.retain(|(told, _)| !is_same(told, key));
        let was_told = all.len() < before;
        drop(all);
        if was_told {
            self.put(key, answer);
        }
    }

    pub(crate) fn get(&self, key: &IdempotencyKey) -> Option<Value> {
        let all = self.all();
        all.iter().rev().find(|(told, _)| is_same(told, key)).map(|(_, answer)| answer.clone())
    }
}

/// The same person may ask with other scopes, or the operator for that person.
fn is_same(one: &IdempotencyKey, other: &IdempotencyKey) -> bool {
    one.caller.is(&other.caller) && one.tool == other.tool && one.key == other.key
}
