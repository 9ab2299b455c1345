//! Questions of running calls that wait for a person under a ticket, in this process alone: a call
//! that is gone has no use for an answer.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::form::QuestionForm;
use crate::BoxFuture;
use crate::call::caller::Caller;
use crate::ledger::IdempotencyKey;
use crate::ledger::ticket::{Decision, ParkedCall, TicketError, TicketId};
use crate::outcome::PendingTicket;
use crate::outcome::response::Response;
use crate::outcome::run::Run;
use crate::policy::limits::{CribLimits, FOREVER};

/// So many that are over are told apart from those that never were.
const MOST_OVER: usize = 1_024;
/// Their numbers come after those of any ledger.
pub(crate) const FIRST: u64 = 1 << 62;

/// The call that asked.
pub(crate) trait AskingCall: Send + Sync {
    /// Whoever waits for the call is told that it asks this.
    fn asks(&self, pending: PendingTicket);

    /// What the call asks now.
    fn waits(&self) -> Option<PendingTicket>;

    /// Whether it was begun under this key, or asked under this ticket before.
    fn is_under(&self, key: &IdempotencyKey) -> bool;

    /// Gets its answer, and tells what came of the call.
    fn resume<'a>(
        self: Arc<Self>,
        claimed: ClaimedQuestion,
        by: &'a Caller,
        run: &'a Run,
    ) -> BoxFuture<'a, Response>;
}

/// The questions of all gates over one ledger.
#[derive(Default)]
pub(crate) struct OpenQuestions(Mutex<QuestionTable>);

#[derive(Default)]
struct QuestionTable {
    open: BTreeMap<u64, OpenQuestion>,
    issued: u64,
    over: VecDeque<ClosedQuestion>,
}

/// A question without an answer.
struct OpenQuestion {
    parked: ParkedCall,
    form: QuestionForm,
    expires: Instant,
    reply: oneshot::Sender<Value>,
    asker: Arc<dyn AskingCall>,
}

/// One that nobody can answer any more.
struct ClosedQuestion {
    ticket: TicketId,
    caller: Caller,
    why: TicketError,
}

/// A question that somebody answered.
pub(crate) struct ClaimedQuestion {
    pub(crate) parked: ParkedCall,
    pub(crate) asker: Arc<dyn AskingCall>,
    /// In the words of the protocol: `accept` or `decline`.
    pub(crate) action: &'static str,
    answer: Value,
    reply: oneshot::Sender<Value>,
}

impl ClaimedQuestion {
    /// Gives the call its answer, and waits until it has ended or asks again.
    pub(crate) async fn go_on(self, by: &Caller, run: &Run) -> Response {
        let asker = Arc::clone(&self.asker);
        asker.resume(self, by, run).await
    }

    /// Gives the call its answer.
    pub(crate) fn send(self) {
        // Of a call that ended at this very moment the end tells by itself.
        let _ = self.reply.send(self.answer);
    }
}

impl OpenQuestions {
    fn table(&self) -> MutexGuard<'_, QuestionTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None`: too many wait already.
    pub(crate) fn open(
        &self,
        (parked, form): (ParkedCall, QuestionForm),
        asker: Arc<dyn AskingCall>,
        limits: &CribLimits,
    ) -> Option<oneshot::Receiver<Value>> {
        let mut table = self.table();
        if !table.has_room(&parked, limits) {
            return None;
        }
        let (reply, answer) = oneshot::channel();
        let expires = Instant::now() + parked.lifetime.min(FOREVER);
        table.issued += 1;
        let number = FIRST + table.issued;
        let ParkedCall { ticket, reason, question, .. } = parked.clone();
        // Before anybody can answer it.
        asker.asks(PendingTicket { ticket, reason, question });
        table.open.insert(number, OpenQuestion { parked, form, expires, reply, asker });
        Some(answer)
    }

    /// Takes a question back; `false`: somebody has answered it.
    pub(crate) fn close(&self, ticket: &TicketId) -> bool {
        self.table().take(ticket, TicketError::Expired).is_some()
    }

    /// Takes a question out for whoever answers it. Of any number who do so at once, one gets it;
    /// an answer that does not fit leaves it where it is. `None`: there is none under this ticket.
    pub(crate) fn claim(
        &self,
        ticket: &TicketId,
        caller: &Caller,
        decision: &Decision,
    ) -> Result<Option<ClaimedQuestion>, TicketError> {
        let mut table = self.table();
        let is_meant = |of: &TicketId, whose: &Caller| of == ticket && whose.is(caller);
        let mut open = table.open.values();
        let Some(open) = open.find(|open| is_meant(&open.parked.ticket, &open.parked.caller))
        else {
            let mut over = table.over.iter();
            let over = over.find(|over| is_meant(&over.ticket, &over.caller));
            return over.map_or(Ok(None), |over| Err(over.why.clone()));
        };
        if open.expires <= Instant::now() {
            return Err(TicketError::Expired);
        }
        let (action, content) = match decision {
            Decision::Deny { .. } => ("decline", None),
            Decision::Approve => ("accept", Some(open.form.filled(json!({}))?)),
            Decision::Answer { content } => ("accept", Some(open.form.filled(content.clone())?)),
        };
        let taken = table.take(ticket, TicketError::Used);
        let OpenQuestion { parked, reply, asker, .. } = taken.ok_or(TicketError::Used)?;
        let answer = content.map_or_else(
            || json!({ "action": action }),
            |content| json!({ "action": action, "content": content }),
        );
        Ok(Some(ClaimedQuestion { parked, asker, action, answer, reply }))
    }

    /// What waits of a call that was begun under this key, or that asked under this ticket before.
    pub(crate) fn under(&self, key: &IdempotencyKey) -> Option<PendingTicket> {
        let table = self.table();
        let mut open = table.open.values().filter(|open| open.parked.caller.is(&key.caller));
        open.find(|open| open.asker.is_under(key)).and_then(|open| open.asker.waits())
    }

    /// Those behind this number of one caller, or of all, with what is left of their time.
    pub(crate) fn waiting(&self, of: Option<&Caller>, after: u64) -> Vec<(u64, ParkedCall)> {
        let (table, now) = (self.table(), Instant::now());
        let meant = table.open.iter().filter(|(number, open)| {
            **number > after
                && open.expires > now
                && of.is_none_or(|caller| open.parked.caller.is(caller))
        });
        let shown = meant.map(|(number, open)| {
            let lifetime = open.expires.duration_since(now);
            (*number, ParkedCall { lifetime, ..open.parked.clone() })
        });
        shown.collect()
    }

    /// Whose question it is or was.
    pub(crate) fn owner(&self, ticket: &TicketId) -> Option<Caller> {
        let table = self.table();
        let open = table.open.values().map(|open| (&open.parked.ticket, &open.parked.caller));
        let over = table.over.iter().map(|over| (&over.ticket, &over.caller));
        open.chain(over).find(|(of, _)| *of == ticket).map(|(_, caller)| caller.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.table().open.len()
    }
}

impl QuestionTable {
    /// A call that asks keeps its places: those who ask leave half of them to others.
    fn has_room(&self, parked: &ParkedCall, limits: &CribLimits) -> bool {
        let half = |places: usize| (places / 2).max(1);
        let open = || self.open.values().map(|open| &open.parked);
        let of_tenant = open().filter(|open| open.caller.tenant == parked.caller.tenant).count();
        let of_source = open().filter(|open| open.source == parked.source).count();
        self.open.len() < limits.questions
            && of_tenant < limits.questions_per_tenant.min(half(limits.per_tenant))
            && of_source < half(limits.per_source)
    }

    fn take(&mut self, ticket: &TicketId, why: TicketError) -> Option<OpenQuestion> {
        let mut open = self.open.iter();
        let (number, _) = open.find(|(_, open)| &open.parked.ticket == ticket)?;
        let number = *number;
        let open = self.open.remove(&number)?;
        if self.over.len() >= MOST_OVER {
            self.over.pop_front();
        }
        let (ticket, caller) = (ticket.clone(), open.parked.caller.clone());
        self.over.push_back(ClosedQuestion { ticket, caller, why });
        Some(open)
    }
}
