//! The work of a task: a call that runs, and a ticket that waits for a person.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::TaskTracker;
use toolcrib_core::{Decision, Pending, Question, Response, TicketError, ToolOutcome, Unanswered};

use super::task::{Decided, Task, TaskEnd};
use super::{Case, Stage};
use crate::door::call::approval;
use crate::door::call::report::undecided;
use crate::door::call::result::refusal;
use crate::door::call::running::{End, Heard, Running};
use crate::door::client::events::Event;
use crate::door::sdk::results;

/// How long a ticket is waited for of which the record says nothing.
const UNREAD: Duration = Duration::from_mins(5);
/// How often it is looked whether a call has ended whose question has expired.
const AGAIN: Duration = Duration::from_secs(1);
/// Why a call whose ticket nobody cared about does not run.
const LATE: &str = "nobody decided in time";
/// Beyond what anybody waits for.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// What came of one stage.
enum Next {
    Stage(Stage),
    End(TaskEnd),
}

/// `calls` knows of the call while it runs. What the call needed is let go of at its end.
pub(super) async fn work(
    case: Case,
    task: &Task,
    mut stage: Stage,
    calls: &TaskTracker,
) -> TaskEnd {
    let case = &case;
    loop {
        let next = match stage {
            Stage::Running(running) => {
                let _runs = calls.token();
                run(case, task, running).await
            }
            Stage::Parked(pending) => Parking { case, task, pending: &pending }.wait().await,
        };
        match next {
            Next::Stage(next) => stage = next,
            Next::End(end) => return end,
        }
    }
}

/// Listens to a call until it ends.
async fn run(case: &Case, task: &Task, mut running: Running) -> Next {
    let mut is_told = false;
    loop {
        let heard = tokio::select! {
            biased;
            () = task.cancelled(), if !is_told => {
                is_told = true;
                running.cancel();
                task.withdraws();
                continue;
            }
            heard = running.hear() => heard,
        };
        match heard {
            Heard::Event(Event::Progress(progress)) => task.progresses(&progress),
            // A task has no place for lines of a log.
            Heard::Event(Event::Log(_) | Event::Opened(_)) => {}
            Heard::Event(Event::Ask(_, reply)) if is_told => {
                let _ = reply.send(Err(Unanswered::Cancelled));
            }
            Heard::Event(Event::Ask(ask, reply)) => task.asks(&ask, reply),
            Heard::Ended(End::Called(end)) => return ended(case, task, *end),
            // No reading becomes a task.
            Heard::Ended(End::Read(_)) => return Next::End(TaskEnd::Cancelled),
        }
    }
}

fn ended(case: &Case, task: &Task, end: Result<Response, TicketError>) -> Next {
    let response = match end {
        Ok(response) => response,
        Err(error) => return Next::End(refused(case, &error.to_string())),
    };
    match &response.outcome {
        ToolOutcome::Pending(pending) => Next::Stage(Stage::Parked(pending.clone())),
        // What a call says of having been stopped, or that nobody knows how far it came.
        ToolOutcome::Failed(error) if task.is_cancelled() => {
            task.says(Some(approval::shown(&error.message)));
            Next::End(TaskEnd::Cancelled)
        }
        ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => {
            Next::End(told(case, &response))
        }
    }
}

fn told(case: &Case, response: &Response) -> TaskEnd {
    case.telling()
        .told(response)
        .map_or_else(TaskEnd::Failed, |said| TaskEnd::Completed(results::tree(&said)))
}

/// A refusal of ours is a result that a model reads.
fn refused(case: &Case, told: &str) -> TaskEnd {
    TaskEnd::Completed(refusal(told, &case.client))
}

/// A call that waits under a ticket: its client may decide about it, or anybody else who may.
struct Parking<'a> {
    case: &'a Case,
    task: &'a Task,
    pending: &'a Pending,
}

impl Parking<'_> {
    async fn wait(&self) -> Next {
        let Self { case, task, pending } = self;
        let parked = case.telling().parked(&pending.ticket).await.ok().flatten();
        let lasts = parked.as_ref().map_or(UNREAD, |parked| parked.lifetime).min(FOREVER);
        let mut until = Instant::now() + lasts;
        let ticket = &pending.ticket;
        let reason = approval::shown(&pending.reason);
        let (what, how) = match &pending.question {
            Some(_) => ("an answer", format!("answer {ticket} FIELD=VALUE")),
            None => ("approval", format!("approve {ticket}")),
        };
        let by = case.decides.map(|command| format!("; decide by `{command} {how}`"));
        let by = by.unwrap_or_default();
        task.says(Some(format!("Waiting for {what}: {reason}. Its ticket is `{ticket}`{by}")));
        let asks = case.client.can_answer(Question::Form);
        let form = asks.then(|| approval::form(&case.tool, pending, parked.as_ref()));
        let mut decided = form.map(|form| task.asks_approval(&form));
        let mut is_taken = false;
        loop {
            tokio::select! {
                biased;
                () = task.cancelled() => return self.withdraw().await,
                decided = answer(&mut decided) => match decided {
                    Some(decided) => return self.decide(decided),
                    None => continue,
                },
                () = task.asked() => {}
                // A call that nobody answered ends by itself.
                () = sleep_until(until), if pending.question.is_some() => {
                    until = Instant::now() + AGAIN;
                }
                // The record knows whether it has expired or somebody has used it.
                () = sleep_until(until) => return Next::Stage(Stage::Running(self.deny(LATE))),
            }
            if let Some(next) = self.look(&mut is_taken).await {
                return next;
            }
        }
    }

    fn decide(&self, decided: Decided) -> Next {
        let Self { case, task, pending } = self;
        let Decided { caller, answer } = decided;
        task.says(None);
        match approval::decision(pending, &answer) {
            Some(decision) => {
                let ticket = pending.ticket.clone();
                let running = case.telling().redeem(caller, ticket, decision, case.trace);
                Next::Stage(Stage::Running(running))
            }
            None => Next::End(refused(case, &undecided(pending))),
        }
    }

    /// What came of the ticket, if somebody decided about it who did not come by this task.
    async fn look(&self, is_taken: &mut bool) -> Option<Next> {
        let Self { case, task, pending } = self;
        // A record that cannot be read now says nothing.
        if !matches!(case.telling().parked(&pending.ticket).await, Ok(None)) {
            return None;
        }
        if !std::mem::replace(is_taken, true) {
            task.withdraws();
            task.says(None);
        }
        let redeemed = case.house.redeemed(&case.visit.caller, &pending.ticket).await;
        redeemed.map(|response| ended(case, task, Ok(response)))
    }

    fn deny(&self, reason: &str) -> Running {
        let Self { case, pending, .. } = self;
        let caller = Arc::clone(&case.visit.caller);
        let decision = Decision::Deny { reason: reason.to_owned() };
        case.telling().redeem(caller, pending.ticket.clone(), decision, case.trace)
    }

    /// Nobody may decide any more about a call that its client does not want.
    async fn withdraw(&self) -> Next {
        let Self { case, task, .. } = self;
        task.withdraws();
        let mut running = self.deny("its client cancelled it");
        let end = loop {
            if let Heard::Ended(end) = running.hear().await {
                break end;
            }
        };
        let End::Called(end) = end else { return Next::End(TaskEnd::Cancelled) };
        match *end {
            // Somebody had let it run before.
            Ok(response) if !matches!(response.outcome, ToolOutcome::Denied { .. }) => {
                Next::End(told(case, &response))
            }
            Ok(_) => {
                task.says(None);
                Next::End(TaskEnd::Cancelled)
            }
            Err(error) => {
                task.says(Some(error.to_string()));
                Next::End(TaskEnd::Cancelled)
            }
        }
    }
}

/// What the client says; never, if it was not asked or the question was withdrawn.
async fn answer(decided: &mut Option<oneshot::Receiver<Decided>>) -> Option<Decided> {
    let Some(waiting) = decided else { return std::future::pending().await };
    let answer = waiting.await.ok();
    *decided = None;
    answer
}
