//! Whose an answer was that nobody could read: of all that waited when it came, the one that is
//! left when the others have theirs.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::model::RequestId;

use super::{InFlightTable, UpstreamRequest, UpstreamRequestEnd};

/// Such answers that are kept in mind at the same time.
const MOST: usize = 32;

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
}

impl InFlightTable {
    /// Takes out a request that has its answer.
    pub(super) fn take(&mut self, id: &RequestId) -> Option<Arc<UpstreamRequest>> {
        let slot = self.by_id.remove(id);
        // Hardly ever.
        if !self.suspects.0.is_empty() {
            self.settle(id.clone());
        }
        slot
    }

    /// The same of the request whose answer stream this is.
    pub(super) fn take_of(
        &mut self,
        stream: &Arc<UpstreamRequest>,
    ) -> Option<(RequestId, Arc<UpstreamRequest>)> {
        let mut all = self.by_id.iter();
        let id = all.find(|(_, slot)| Arc::ptr_eq(slot, stream))?.0.clone();
        Some((id.clone(), self.take(&id)?))
    }

    /// An answer came that is of nobody knows whom: the only one that waits, or later the last.
    pub(super) fn suspect(&mut self, why: &'static str) -> Option<RequestId> {
        let mut waiting = self.by_id.keys();
        let first = waiting.next()?;
        if waiting.next().is_none() {
            return Some(first.clone());
        }
        // What goes through the SDK cannot be ended from elsewhere: its time runs out.
        if self.suspects.0.len() < MOST && self.by_id.values().all(|slot| slot.is_direct()) {
            let left = self.by_id.keys().cloned().collect();
            self.suspects.0.push(UnreadableAnswer { left, why });
        }
        None
    }

    /// One has its answer: it is suspected no more, and who is left alone is told.
    fn settle(&mut self, answered: RequestId) {
        let mut cleared = Some(answered);
        while let Some(id) = cleared.take() {
            for suspected in &mut self.suspects.0 {
                suspected.left.remove(&id);
            }
            let is_clear = |suspected: &UnreadableAnswer| suspected.left.len() <= 1;
            let Some(place) = self.suspects.0.iter().position(is_clear) else { return };
            let UnreadableAnswer { left, why } = self.suspects.0.swap_remove(place);
            // Where nobody is left, the next look finds the others.
            let last = left.into_iter().next().unwrap_or(id);
            if let Some(slot) = self.by_id.remove(&last) {
                slot.end(UpstreamRequestEnd::Odd(why));
            }
            cleared = Some(last);
        }
    }
}
