//! Answers a question that a running call asked under a ticket, and tells what came of the call.

use std::sync::Arc;

use super::asker::Asker;
use super::pause::ResumedCall;
use super::registry::{AskingCall, ClaimedQuestion};
use crate::BoxFuture;
use crate::call::caller::Caller;
use crate::gate::batch::pending_call::EndedCall;
use crate::gate::{record::stored_response, respond};
use crate::ledger::IdempotencyKey;
use crate::observe::observer::QuestionStage;
use crate::outcome::response::Response;
use crate::outcome::run::Run;
use crate::outcome::{PendingTicket, ToolOutcome};

impl AskingCall for Asker {
    fn asks(&self, pending: PendingTicket) {
        self.watch.standing.asks(pending);
    }

    fn waits(&self) -> Option<PendingTicket> {
        self.watch.standing.open()
    }

    fn is_under(&self, key: &IdempotencyKey) -> bool {
        let tickets = || self.watch.standing.tickets();
        self.watch.keys().contains(key)
            || key.ticket().is_some_and(|of| tickets().iter().any(|own| own.as_str() == of))
    }

    fn resume<'a>(
        self: Arc<Self>,
        claimed: ClaimedQuestion,
        by: &'a Caller,
        run: &'a Run,
    ) -> BoxFuture<'a, Response> {
        Box::pin(go_on(self, claimed, by, run))
    }
}

async fn go_on(asker: Arc<Asker>, claimed: ClaimedQuestion, by: &Caller, run: &Run) -> Response {
    let ticket = claimed.parked.ticket.clone();
    let said =
        if claimed.action == "accept" { QuestionStage::Answered } else { QuestionStage::Declined };
    asker.tell(&ticket, said, Some(by));
    // Before it is sent: what is open after this is another question.
    asker.watch.standing.closes(&ticket);
    claimed.send();
    let ended = match asker.watch.standing.next().await {
        ResumedCall::Asks(pending) => {
            EndedCall::unstarted(ToolOutcome::Pending(pending), Vec::new())
        }
        ResumedCall::Ended(end) => stored_response::read(end, asker.batch.gate.marks.hints),
    };
    let (place, key) = (Some(asker.place), Some(asker.key));
    let ended = EndedCall { place, key, replayed: false, ..ended };
    respond::late(&asker.batch, asker.position, ended, run)
}
