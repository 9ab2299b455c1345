//! The way of one running call to a person whom its host cannot ask: by a ticket.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::form::QuestionForm;
use crate::BoxFuture;
use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::call::host::{AskPerson, FormFallback, HostQuestion, QuestionError, QuestionKind};
use crate::call::{Call, CallKey};
use crate::catalog::CatalogTool;
use crate::gate::batch::Batch;
use crate::gate::batch::pending_call::parked;
use crate::gate::record::guarded;
use crate::gate::run::supervise::Supervision;
use crate::ledger::IdempotencyKey;
use crate::ledger::ticket::TicketId;
use crate::observe::observer::{QuestionEvent, QuestionStage};
use crate::policy::limits::FOREVER;

pub(crate) struct Asker {
    pub(crate) batch: Arc<Batch>,
    pub(crate) position: usize,
    pub(crate) place: u32,
    pub(crate) key: CallKey,
    pub(crate) watch: Arc<Supervision>,
    arguments: Arguments,
    answers: Vec<QuestionKind>,
}

/// Where a call is.
pub(crate) type CallPosition = (usize, u32, CallKey);

impl Asker {
    /// `None`: the host answers by itself, or what nobody answers becomes no ticket.
    pub(crate) fn of(
        batch: &Arc<Batch>,
        (position, place, key): CallPosition,
        watch: &Arc<Supervision>,
        arguments: &Arguments,
    ) -> Option<Arc<Self>> {
        if batch.unheard != FormFallback::Ticket {
            return None;
        }
        let answers = batch.host.as_ref().map_or(&[][..], |host| host.answers());
        if answers.contains(&QuestionKind::Form) {
            return None;
        }
        let answers = answers.iter().copied().chain([QuestionKind::Form]).collect();
        let (batch, watch) = (Arc::clone(batch), Arc::clone(watch));
        let arguments = arguments.clone();
        Some(Arc::new(Self { batch, position, place, key, watch, arguments, answers }))
    }

    /// Puts a form to whoever looks at the tickets, and waits as long as a ticket lives.
    async fn put(self: &Arc<Self>, ask: HostQuestion) -> Result<Value, QuestionError> {
        let (Some((call, tool)), Some(form)) = (self.subject(), QuestionForm::read(&ask.params))
        else {
            return Err(QuestionError::Unable);
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
        let mut answer = opened.ok_or(QuestionError::Unable)?;
        let open = QuestionGuard { asker: self, ticket: &ticket };
        self.tell(&ticket, QuestionStage::Asked, None);
        // What comes of the call is on record under the ticket too, where a ledger has such
        // records.
        let key = IdempotencyKey::of_ticket(self.caller(), &ticket);
        let _ = guarded(async { gate.ledger.begin(&key, self.arguments.digest()).await }).await;
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
        said.ok_or(QuestionError::Late)
    }

    pub(crate) fn tell(&self, ticket: &TicketId, stage: QuestionStage, by: Option<&Caller>) {
        let (Some(observer), Some((_, tool))) = (&self.batch.gate.marks.observer, self.subject())
        else {
            return;
        };
        let (key, caller) = (self.key, self.caller());
        observer.questioned(QuestionEvent {
            key,
            caller,
            tool: tool.identity(),
            ticket,
            stage,
            by,
        });
    }

    fn caller(&self) -> &Arc<Caller> {
        self.batch.plan.caller()
    }

    fn subject(&self) -> Option<(&Call, &CatalogTool)> {
        Some((self.batch.calls.get(self.position)?, self.batch.plan.at(self.place)?))
    }
}

impl AskPerson for Asker {
    /// What the host answers, and forms.
    fn answers(&self) -> &[QuestionKind] {
        &self.answers
    }

    /// Puts a form to whoever looks at the tickets, and waits as long as a ticket lives.
    fn ask(self: Arc<Self>, ask: HostQuestion) -> BoxFuture<'static, Result<Value, QuestionError>> {
        Box::pin(async move { self.put(ask).await })
    }
}

/// A question that is out; it is taken back when nobody waits for the answer.
struct QuestionGuard<'a> {
    asker: &'a Asker,
    ticket: &'a TicketId,
}

impl Drop for QuestionGuard<'_> {
    fn drop(&mut self) {
        self.asker.batch.gate.asked.close(self.ticket);
        self.asker.watch.standing.closes(self.ticket);
    }
}
