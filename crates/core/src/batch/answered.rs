//! Answers a question that a running call asked under a ticket, and tells what came of the call.

use std::sync::Arc;

use super::asked::{AskingCall, Claimed};
use super::asking::Asker;
use super::ended::Ended;
use super::standing::Next;
use super::{answer, recorded};
use crate::BoxFuture;
use crate::caller::Caller;
use crate::ledger::OnceKey;
use crate::outcome::{Pending, ToolOutcome};
use crate::response::Response;
use crate::run::Run;
use crate::witness::QuestionStage;

impl AskingCall for Asker {
    fn asks(&self, pending: Pending) {
        self.watch.standing.asks(pending);
    }

    fn waits(&self) -> Option<Pending> {
        self.watch.standing.open()
    }

    fn is_under(&self, key: &OnceKey) -> bool {
        let tickets = || self.watch.standing.tickets();
        self.watch.keys().contains(key)
            || key.ticket().is_some_and(|of| tickets().iter().any(|own| own.as_str() == of))
    }

    fn go_on<'a>(
        self: Arc<Self>,
        claimed: Claimed,
        by: &'a Caller,
        run: &'a Run,
    ) -> BoxFuture<'a, Response> {
        Box::pin(go_on(self, claimed, by, run))
    }
}

async fn go_on(asker: Arc<Asker>, claimed: Claimed, by: &Caller, run: &Run) -> Response {
    let ticket = claimed.parked.ticket.clone();
    let said =
        if claimed.action == "accept" { QuestionStage::Answered } else { QuestionStage::Declined };
    asker.tell(&ticket, said, Some(by));
    // Before it is sent: what is open after this is another question.
    asker.watch.standing.closes(&ticket);
    claimed.send();
    let ended = match asker.watch.standing.next().await {
        Next::Asks(pending) => Ended::unstarted(ToolOutcome::Pending(pending), Vec::new()),
        Next::Ended(end) => recorded::read(end),
    };
    let (place, key) = (Some(asker.place), Some(asker.key));
    let ended = Ended { place, key, replayed: false, ..ended };
    answer::late(&asker.batch, asker.position, ended, run)
}
