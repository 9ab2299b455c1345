//! The work of a task: a call that runs, and a ticket that waits for a person.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::task::TaskTracker;
use toolcrib_core::{
    Decision, PendingTicket, QuestionError, QuestionKind, Response, TicketError, ToolOutcome,
};

use super::task::{McpTask, TaskDecision, TaskEnd};
use super::{TaskCallContext, TaskStage};
use crate::door::call::approval;
use crate::door::call::report::undecided;
use crate::door::call::result::refusal;
use crate::door::call::running::{McpCallEnd, McpCallSignal, RunningMcpCall};
use crate::door::client::events::ClientEvent;

/// How long a ticket is waited for of which the record says nothing.
const UNREAD: Duration = Duration::from_mins(5);
/// How often it is looked whether a call has ended whose question has expired.
const AGAIN: Duration = Duration::from_secs(1);
/// Why a call whose ticket nobody cared about does not run.
const LATE: &str = "nobody decided in time";
/// Beyond what anybody waits for.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// What came of one stage.
enum NextTaskStage {
    Stage(TaskStage),
    End(TaskEnd),
}

/// `calls` knows of the call while it runs. What the call needed is let go of at its end.
pub(super) async fn work(
    case: TaskCallContext,
    task: &McpTask,
    mut stage: TaskStage,
    calls: &TaskTracker,
) -> TaskEnd {
    let case = &case;
    loop {
        let next = match stage {
            TaskStage::Running(running) => {
                let _runs = calls.token();
                run(case, task, running).await
            }
            TaskStage::Parked(pending) => ParkedTask { case, task, pending: &pending }.wait().await,
        };
        match next {
            NextTaskStage::Stage(next) => stage = next,
            NextTaskStage::End(end) => return end,
        }
    }
}

/// Listens to a call until it ends.
async fn run(case: &TaskCallContext, task: &McpTask, mut running: RunningMcpCall) -> NextTaskStage {
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
            McpCallSignal::Event(ClientEvent::Progress(progress)) => task.progresses(&progress),
            // A task has no place for lines of a log.
            McpCallSignal::Event(ClientEvent::Log(_) | ClientEvent::Opened(_)) => {}
            McpCallSignal::Event(ClientEvent::Ask(_, reply)) if is_told => {
                let _ = reply.send(Err(QuestionError::Cancelled));
            }
            McpCallSignal::Event(ClientEvent::Ask(ask, reply)) => task.asks(&ask, reply),
            McpCallSignal::Ended(McpCallEnd::Called(end)) => return ended(case, task, *end),
            // No reading becomes a task.
            McpCallSignal::Ended(McpCallEnd::Read(_)) => {
                return NextTaskStage::End(TaskEnd::Cancelled);
            }
        }
    }
}

fn ended(
    case: &TaskCallContext,
    task: &McpTask,
    end: Result<Response, TicketError>,
) -> NextTaskStage {
    let response = match end {
        Ok(response) => response,
        Err(error) => return NextTaskStage::End(refused(case, &error.to_string())),
    };
    match &response.outcome {
        ToolOutcome::Pending(pending) => NextTaskStage::Stage(TaskStage::Parked(pending.clone())),
        // What a call says of having been stopped, or that nobody knows how far it came.
        ToolOutcome::Failed(error) if task.is_cancelled() => {
            task.says(Some(approval::shown(&error.message)));
            NextTaskStage::End(TaskEnd::Cancelled)
        }
        ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => {
            NextTaskStage::End(told(case, &response))
        }
    }
}

fn told(case: &TaskCallContext, response: &Response) -> TaskEnd {
    // Texts, values and the fields of both are always JSON.
    case.telling().told(response).map_or_else(TaskEnd::Failed, |said| {
        TaskEnd::Completed(serde_json::to_value(said).unwrap_or_default())
    })
}

/// A refusal of ours is a result that a model reads.
fn refused(case: &TaskCallContext, told: &str) -> TaskEnd {
    TaskEnd::Completed(refusal(told, &case.client))
}

/// A call that waits under a ticket: its client may decide about it, or anybody else who may.
struct ParkedTask<'a> {
    case: &'a TaskCallContext,
    task: &'a McpTask,
    pending: &'a PendingTicket,
}

impl ParkedTask<'_> {
    async fn wait(&self) -> NextTaskStage {
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
        let asks = case.client.can_answer(QuestionKind::Form);
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
                () = sleep_until(until) => return NextTaskStage::Stage(TaskStage::Running(self.deny(LATE))),
            }
            if let Some(next) = self.look(&mut is_taken).await {
                return next;
            }
        }
    }

    fn decide(&self, decided: TaskDecision) -> NextTaskStage {
        let Self { case, task, pending } = self;
        let TaskDecision { caller, answer } = decided;
        task.says(None);
        match approval::decision(pending, &answer) {
            Some(decision) => {
                let ticket = pending.ticket.clone();
                let running = case.telling().redeem(caller, ticket, decision, case.trace);
                NextTaskStage::Stage(TaskStage::Running(running))
            }
            None => NextTaskStage::End(refused(case, &undecided(pending))),
        }
    }

    /// What came of the ticket, if somebody decided about it who did not come by this task.
    async fn look(&self, is_taken: &mut bool) -> Option<NextTaskStage> {
        let Self { case, task, pending } = self;
        // A record that cannot be read now says nothing.
        if !matches!(case.telling().parked(&pending.ticket).await, Ok(None)) {
            return None;
        }
        if !std::mem::replace(is_taken, true) {
            task.withdraws();
            task.says(None);
        }
        let redeemed = case.telling().redeemed(&pending.ticket).await;
        redeemed.map(|response| ended(case, task, Ok(response)))
    }

    fn deny(&self, reason: &str) -> RunningMcpCall {
        let Self { case, pending, .. } = self;
        let caller = Arc::clone(&case.identity.caller);
        let decision = Decision::Deny { reason: reason.to_owned() };
        case.telling().redeem(caller, pending.ticket.clone(), decision, case.trace)
    }

    /// Nobody may decide any more about a call that its client does not want.
    async fn withdraw(&self) -> NextTaskStage {
        let Self { case, task, .. } = self;
        task.withdraws();
        let mut running = self.deny("its client cancelled it");
        let end = loop {
            if let McpCallSignal::Ended(end) = running.hear().await {
                break end;
            }
        };
        let McpCallEnd::Called(end) = end else { return NextTaskStage::End(TaskEnd::Cancelled) };
        match *end {
            // Somebody had let it run before.
            Ok(response) if !matches!(response.outcome, ToolOutcome::Denied { .. }) => {
                NextTaskStage::End(told(case, &response))
            }
            Ok(_) => {
                task.says(None);
                NextTaskStage::End(TaskEnd::Cancelled)
            }
            Err(error) => {
                task.says(Some(error.to_string()));
                NextTaskStage::End(TaskEnd::Cancelled)
            }
        }
    }
}

/// What the client says; never, if it was not asked or the question was withdrawn.
async fn answer(decided: &mut Option<oneshot::Receiver<TaskDecision>>) -> Option<TaskDecision> {
    let Some(waiting) = decided else { return std::future::pending().await };
    let answer = waiting.await.ok();
    *decided = None;
    answer
}
