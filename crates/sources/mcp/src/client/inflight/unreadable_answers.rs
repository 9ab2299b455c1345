//! Whose an answer was that nobody could read: of all that waited when it came, the one that is
//! left when the others have theirs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use rmcp::model::RequestId;

use super::request::{UpstreamRequest, UpstreamRequestEnd};

/// Such answers that are kept in mind at the same time.
const MOST: usize = 32;

/// The requests that wait for their answers.
pub(super) type RequestsById = HashMap<RequestId, Arc<UpstreamRequest>, RandomState>;

#[derive(Default)]
pub(super) struct UnreadableAnswers(Vec<UnreadableAnswer>);

struct UnreadableAnswer {
    /// Whose it may be.
    left: HashSet<RequestId>,
    why: &'static str,
}

impl UnreadableAnswers {
    /// A request was given up, perhaps the one whose answer it was.
    pub(super) fn forget(&mut self, id: &RequestId) {
        self.0.retain(|suspected| !suspected.left.contains(id));
    }

    /// An answer came that is of nobody knows whom: the only one that waits, or later the last.
    pub(super) fn add(&mut self, why: &'static str, waiting: &RequestsById) -> Option<RequestId> {
        let mut ids = waiting.keys();
        let first = ids.next()?;
        if ids.next().is_none() {
            return Some(first.clone());
        }
        // What goes through the SDK cannot be ended from elsewhere: its time runs out.
        if self.0.len() < MOST && waiting.values().all(|slot| slot.is_direct()) {
            let left = waiting.keys().cloned().collect();
            self.0.push(UnreadableAnswer { left, why });
        }
        None
    }

    /// One has its answer: it is suspected no more, and who is left alone is told.
    pub(super) fn answered(&mut self, answered: &RequestId, waiting: &mut RequestsById) {
        // Hardly ever.
        if self.0.is_empty() {
            return;
        }
        let mut cleared = Some(answered.clone());
        while let Some(id) = cleared.take() {
            for suspected in &mut self.0 {
                suspected.left.remove(&id);
            }
            let is_clear = |suspected: &UnreadableAnswer| suspected.left.len() <= 1;
            let Some(place) = self.0.iter().position(is_clear) else { return };
            let UnreadableAnswer { left, why } = self.0.swap_remove(place);
            // Where nobody is left, the next look finds the others.
            let last = left.into_iter().next().unwrap_or(id);
            if let Some(slot) = waiting.remove(&last) {
                slot.end(UpstreamRequestEnd::Odd(why));
            }
            cleared = Some(last);
        }
    }
}
