//! Answers a question that a running call asked under a ticket, and tells what came of the call.

use super::asked::Claimed;
use super::run_one::Ended;
use super::standing::Next;
use super::{answer, recorded};
use crate::caller::Caller;
use crate::outcome::ToolOutcome;
use crate::response::Response;
use crate::run::Run;
use crate::witness::QuestionStage;

impl Claimed {
    /// Gives the call its answer, and waits until it has ended or asks again.
    pub(super) async fn go_on(self, by: &Caller, run: &Run) -> Response {
        let ticket = self.parked.ticket.clone();
        let said =
            if self.action == "accept" { QuestionStage::Answered } else { QuestionStage::Declined };
        self.asker.tell(&ticket, said, Some(by));
        // Before it is sent: what is open after this is another question.
        self.asker.watch.standing.closes(&ticket);
        let asker = self.send();
        let ended = match asker.watch.standing.next().await {
            Next::Asks(pending) => Ended::unstarted(ToolOutcome::Pending(pending), Vec::new()),
            Next::Ended(end) => recorded::read(end),
        };
        let (place, key) = (Some(asker.place), Some(asker.key));
        answer::late(
            &asker.batch,
            asker.position,
            Ended { place, key, replayed: false, ..ended },
            run,
        )
    }
}
