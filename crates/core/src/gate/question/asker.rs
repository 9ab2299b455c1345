//! The way of one running call to a person whom its host cannot ask: by a ticket.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::form::Form;
use crate::BoxFuture;
use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::call::host::{Ask, AskPerson, Question, Unanswered, Unheard};
use crate::call::{Call, CallKey};
use crate::catalog::Listed;
use crate::gate::batch::Batch;
use crate::gate::batch::pending_call::parked;
use crate::gate::record::asked;
use crate::gate::run::supervise::Watch;
use crate::ledger::OnceKey;
use crate::ledger::ticket::TicketId;
use crate::observe::observer::{QuestionStage, Questioned};
use crate::policy::limits::FOREVER;

pub(crate) struct Asker {
    pub(crate) batch: Arc<Batch>,
    pub(crate) position: usize,
    pub(crate) place: u32,
    pub(crate) key: CallKey,
    pub(crate) watch: Arc<Watch>,
    arguments: Arguments,
    answers: Vec<Question>,
}

/// Where a call is.
pub(crate) type Whereabouts = (usize, u32, CallKey);

impl Asker {
    /// `None`: the host answers by itself, or what nobody answers becomes no ticket.
    pub(crate) fn of(
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

    /// Puts a form to whoever looks at the tickets, and waits as long as a ticket lives.
    async fn put(self: &Arc<Self>, ask: Ask) -> Result<Value, Unanswered> {
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
        let opened = gate.asked.open((parked, form), Arc::clone(self) as _, &gate.limits);
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

    pub(crate) fn tell(&self, ticket: &TicketId, stage: QuestionStage, by: Option<&Caller>) {
        let (Some(witness), Some((_, tool))) = (&self.batch.gate.marks.witness, self.subject())
        else {
            return;
        };
        let (key, caller) = (self.key, self.caller());
        witness.questioned(Questioned { key, caller, tool: tool.identity(), ticket, stage, by });
    }

    fn caller(&self) -> &Arc<Caller> {
        self.batch.plan.caller()
    }

    fn subject(&self) -> Option<(&Call, &Listed)> {
        Some((self.batch.calls.get(self.position)?, self.batch.plan.at(self.place)?))
    }
}

impl AskPerson for Asker {
    /// What the host answers, and forms.
    fn answers(&self) -> &[Question] {
        &self.answers
    }

    /// Puts a form to whoever looks at the tickets, and waits as long as a ticket lives.
    fn ask(self: Arc<Self>, ask: Ask) -> BoxFuture<'static, Result<Value, Unanswered>> {
        Box::pin(async move { self.put(ask).await })
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
