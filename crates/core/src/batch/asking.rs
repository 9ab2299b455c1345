//! The way of one running call to a person whom its host cannot ask: by a ticket.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::Batch;
use super::form::Form;
use super::record::asked;
use super::run_one::parked;
use super::watch::Watch;
use crate::call::{Call, CallKey};
use crate::caller::Caller;
use crate::catalog::Listed;
use crate::host::{Ask, Question, Unanswered, Unheard};
use crate::ledger::OnceKey;
use crate::limits::FOREVER;
use crate::outcome::Pending;
use crate::ticket::TicketId;
use crate::tool::Arguments;
use crate::witness::{QuestionStage, Questioned};

pub(crate) struct Asker {
    pub(super) batch: Arc<Batch>,
    pub(super) position: usize,
    pub(super) place: u32,
    pub(super) key: CallKey,
    pub(super) watch: Arc<Watch>,
    arguments: Arguments,
    answers: Vec<Question>,
}

/// Where a call is.
pub(super) type Whereabouts = (usize, u32, CallKey);

impl Asker {
    /// `None`: the host answers by itself, or what nobody answers becomes no ticket.
    pub(super) fn of(
        batch: &Arc<Batch>,
        (position, place, key): Whereabouts,
        watch: &Arc<Watch>,
        arguments: &Arguments,
    ) -> Option<Arc<Self>> {
        if batch.unheard != Unheard::Ticket {
            return None;
        }
        let answers = batch.host.as_ref().map_or(&[][..], |host| host.answers());
        if answers.contains(&Question::Form) {
            return None;
        }
        let answers = answers.iter().copied().chain([Question::Form]).collect();
        let (batch, watch) = (Arc::clone(batch), Arc::clone(watch));
        let arguments = arguments.clone();
        Some(Arc::new(Self { batch, position, place, key, watch, arguments, answers }))
    }

    /// What the host answers, and forms.
    pub(crate) fn answers(&self) -> &[Question] {
        &self.answers
    }

    /// Puts a form to whoever looks at the tickets, and waits as long as a ticket lives.
    pub(crate) async fn ask(self: &Arc<Self>, ask: Ask) -> Result<Value, Unanswered> {
        let (Some((call, tool)), Some(form)) = (self.subject(), Form::read(&ask.params)) else {
            return Err(Unanswered::Unable);
        };
        // Nobody is bothered if something that is asked in the same breath ends the call.
        yield_now().await;
        let gate = &self.batch.gate;
        let ticket = TicketId::unguessable();
        let reason = format!("`{}` asks \"{}\"", tool.spec.origin.source, form.words());
        let waits = (ticket.clone(), reason);
        let mut parked = parked(&self.batch, call, tool, self.arguments.clone(), waits);
        parked.question = Some(Box::new(form.question()));
        let lifetime = parked.lifetime;
        let opened = gate.asked.open((parked, form), self, &gate.limits);
        let mut answer = opened.ok_or(Unanswered::Unable)?;
        let open = Open { asker: self, ticket: &ticket };
        self.tell(&ticket, QuestionStage::Asked, None);
        // What comes of the call is on record under the ticket too, where a ledger has such records.
        let key = OnceKey::of_ticket(self.caller(), &ticket);
        let _ = asked(async { gate.ledger.begin(&key, self.arguments.digest()).await }).await;
        let said = tokio::select! {
            biased;
            said = &mut answer => said.ok(),
            // Whoever was faster has answered it.
            () = sleep(lifetime.min(FOREVER)) => {
                if gate.asked.close(&ticket) { None } else { answer.await.ok() }
            }
        };
        drop(open);
        if said.is_none() {
            self.tell(&ticket, QuestionStage::Expired, None);
        }
        // The person was asked, and let the time pass.
        said.ok_or(Unanswered::Late)
    }

    pub(super) fn tell(&self, ticket: &TicketId, stage: QuestionStage, by: Option<&Caller>) {
        let (Some(witness), Some((_, tool))) = (&self.batch.gate.marks.witness, self.subject())
        else {
            return;
        };
        let (key, caller) = (self.key, self.caller());
        witness.questioned(Questioned { key, caller, tool, ticket, stage, by });
    }

    fn caller(&self) -> &Arc<Caller> {
        self.batch.plan.caller()
    }

    fn subject(&self) -> Option<(&Call, &Listed)> {
        Some((self.batch.calls.get(self.position)?, self.batch.plan.at(self.place)?))
    }

    /// Whoever waits for the call is told that it asks this.
    pub(super) fn asks(&self, pending: Pending) {
        self.watch.standing.asks(pending);
    }

    /// What the call asks now.
    pub(super) fn waits(&self) -> Option<Pending> {
        self.watch.standing.open()
    }

    pub(super) fn is_under(&self, key: &OnceKey) -> bool {
        let tickets = || self.watch.standing.tickets();
        self.watch.keys().contains(key)
            || key.ticket().is_some_and(|of| tickets().iter().any(|own| own.as_str() == of))
    }
}

/// A question that is out; it is taken back when nobody waits for the answer.
struct Open<'a> {
    asker: &'a Asker,
    ticket: &'a TicketId,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.asker.batch.gate.asked.close(self.ticket);
        self.asker.watch.standing.closes(self.ticket);
    }
}
