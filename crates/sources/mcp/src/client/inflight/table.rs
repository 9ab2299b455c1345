//! What is under way, by all the names that others have for it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use rmcp::model::{ProgressToken, RequestId};

use super::abandoned_calls::AbandonedCalls;
use super::question::ServerQuestion;
use super::request::UpstreamRequest;
use super::unreadable_answers::{RequestsById, UnreadableAnswers};

#[derive(Default)]
pub(super) struct InFlightTable {
    pub(super) by_id: RequestsById,
    pub(super) by_token: HashMap<ProgressToken, Arc<UpstreamRequest>, RandomState>,
    /// Requests of the SDK itself (handshake, subscription), whose answers it reads.
    pub(super) of_the_sdk: HashSet<RequestId, RandomState>,
    /// The last request that went through it.
    pub(super) newest: Option<RequestId>,
    /// Answers that nobody could read, nor tell whose they are.
    pub(super) suspects: UnreadableAnswers,
    /// Calls of which its server may still work on, though nobody waits for them.
    pub(super) abandoned: AbandonedCalls,
    pub(super) questions: HashMap<RequestId, ServerQuestion>,
    /// Calls that their server runs as tasks, by the names of these.
    pub(super) tasks: HashMap<String, Arc<UpstreamRequest>>,
}

impl InFlightTable {
    pub(super) fn sends(
        &mut self,
        id: RequestId,
        token: Option<ProgressToken>,
        slot: &Arc<UpstreamRequest>,
    ) {
        if slot.sent_as(id.clone(), token.clone()) {
            self.by_id.insert(id, Arc::clone(slot));
            token.map(|token| self.by_token.insert(token, Arc::clone(slot)));
        }
    }

    /// The call that a word which names none belongs to: the one whose answer stream it came on, or
    /// the only one there is. With several, and where it may be about one that was given up, it is
    /// nobody's, rather than the wrong caller's.
    pub(super) fn owner(
        &self,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<Arc<UpstreamRequest>> {
        if let Some(slot) = stream {
            return slot.context().is_some().then(|| Arc::clone(slot));
        }
        let mut calls = self.calls();
        let first = calls.next()?;
        let is_only = calls.next().is_none();
        (is_only && !self.may_be_of_another(first)).then(|| Arc::clone(first))
    }

    /// The same of what says of which task it is.
    pub(super) fn owner_of(
        &self,
        task: Option<&str>,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<Arc<UpstreamRequest>> {
        match (task, stream) {
            (Some(task), None) => self.tasks.get(task).cloned(),
            // On the answer stream of one call nobody speaks for another.
            (_, stream) => self.owner(stream),
        }
    }

    /// Whether what seems to be of this call may be of one of somebody else that was given up.
    pub(super) fn may_be_of_another(&self, slot: &UpstreamRequest) -> bool {
        slot.context().is_some_and(|context| self.abandoned.are_of_others(context))
    }

    /// Those that run. A task is one, and each look at it is none.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Arc<UpstreamRequest>> {
        let requests = self.by_id.values();
        requests
            .filter(|slot| slot.context().is_some() && !slot.is_look())
            .chain(self.tasks.values())
    }

    /// Takes out a request that has its answer.
    pub(super) fn take(&mut self, id: &RequestId) -> Option<Arc<UpstreamRequest>> {
        let slot = self.by_id.remove(id);
        self.suspects.answered(id, &mut self.by_id);
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
        self.suspects.add(why, &self.by_id)
    }
}
