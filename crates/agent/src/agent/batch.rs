//! A batch of calls: what the budget lets run, and what is told of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    BatchOptions, Call, CallKey, Effect, ErrorKind, Host, Plan, Progress, Report, Response,
};

use super::children::answers::failed;
use super::tape::BatchOutcome;
use super::{AgentRun, Listener};
use crate::event::{CallEnd, RunEvent};
use crate::item::ResultText;
use crate::model::ModelFault;
use crate::team::mode::AgentMode;

/// How soon a busy call is looked at again.
const BUSY_PAUSE: Duration = Duration::from_millis(50);
/// Progress that waits to be told.
const MOST_WAITING: usize = 64;
/// Progress that is told of one batch: all of it is written down.
const MOST_PROGRESS: usize = 200;

/// What is told of a call whose result is an answer that is checked before it is shown.
const HELD: &str =
    "(What this tool gave is the answer, and it is shown once it has passed its checks.)";

impl AgentRun {
    pub(super) async fn call(
        &mut self,
        mut calls: Vec<Call>,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> Option<Report> {
        let wished = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let played = self.played_batch(tell);
        let may_run = match &played {
            Some((may_run, _)) => *may_run,
            None => usize::try_from(self.account.take_calls(wished)).unwrap_or(usize::MAX),
        };
        let beyond = calls.split_off(may_run.min(calls.len()));
        self.state.refuse(
            beyond
                .into_iter()
                .map(|call| not_run(call, "the budget of this run has no further call")),
        );
        let (is_played, began) = (played.is_some(), self.noted_time());
        let mut outcome = match played {
            Some((_, outcome)) => outcome,
            None => self.run_live(&mut calls, tell, cancel).await?,
        };
        self.note_calls(&mut outcome.report, began);
        if let Some(why) = &outcome.no_plan {
            self.state.refuse(calls.into_iter().map(|call| not_run(call, why)));
        }
        let is_held = self.state.holds(&outcome.report);
        for response in &outcome.report.responses {
            let mut end = CallEnd::of(&response.id, &response.name, response);
            if is_held && !end.is_error() {
                HELD.clone_into(&mut end.text);
            }
            tell(RunEvent::CallDone { response: end });
        }
        if !is_played {
            self.note_batch(may_run, is_held, &outcome);
        }
        Some(outcome.report)
    }

    /// Runs the calls, those that the team answers at the same time as the others. `None`: the
    /// process ends, and another one goes on.
    async fn run_live(
        &mut self,
        calls: &mut Vec<Call>,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> Option<BatchOutcome> {
        let (places, of_team) = self.take_team_calls(calls);
        if of_team.is_empty() {
            return Some(self.run_batch(calls, tell, cancel).await);
        }
        let plain = calls.clone();
        let mut outcome = self.run_batch(calls, tell, cancel).await;
        if let Some(why) = outcome.no_plan.take() {
            let refused = plain.iter().map(|call| *failed(call, format!("not run: {why}")));
            outcome.report.responses = refused.collect();
        }
        let theirs = self.delegate(of_team, tell, cancel).await?;
        let mut all: Vec<_> = places.into_iter().zip(outcome.report.responses).collect();
        all.extend(theirs);
        all.sort_by_key(|(place, _)| *place);
        outcome.report.responses = all.into_iter().map(|(_, response)| response).collect();
        Some(outcome)
    }

    /// Takes the calls, unless none is run.
    async fn run_batch(
        &mut self,
        calls: &mut Vec<Call>,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> BatchOutcome {
        if calls.is_empty() {
            return BatchOutcome::default();
        }
        let plan = match self.plan_of_batch() {
            Ok(plan) => plan,
            Err(fault) => {
                return BatchOutcome { no_plan: Some(fault.message), ..BatchOutcome::default() };
            }
        };
        let mut calls = std::mem::take(calls);
        self.name_calls(&plan, &mut calls);
        let (sender, mut told) = mpsc::channel(MOST_WAITING);
        let within = cancel.child_token();
        let host = self.options.host.clone();
        let host = host.unwrap_or_else(|| Arc::new(ProgressHost(sender)));
        let options =
            BatchOptions { cancel: within.clone(), host: Some(host), ..self.options.clone() };
        let left = self.time_left();
        let begun = std::mem::take(&mut self.past.is_taken_up);
        let begun = begun.then(|| (calls.clone(), options.clone()));
        let mut running = Box::pin(self.crib().run_with(&plan, calls, options));
        let mut late = std::pin::pin!(tokio::time::sleep(left));
        let mut progress = Vec::new();
        let mut report = loop {
            tokio::select! {
                biased;
                () = &mut late, if !within.is_cancelled() => within.cancel(),
                Some(text) = told.recv() => if progress.len() < MOST_PROGRESS {
                    tell(RunEvent::Progress { text: text.clone() });
                    progress.push(text);
                },
                report = &mut running => break report,
            }
        };
        drop(running);
        if let Some((calls, options)) = begun {
            self.await_others(&plan, &calls, &options, &mut report).await;
        }
        BatchOutcome { no_plan: None, progress, report }
    }

    /// Waits for the ends of calls that a process before had begun, and that somebody lets run at
    /// this moment: under its key such a call is busy, and not over.
    async fn await_others(
        &self,
        plan: &Plan,
        calls: &[Call],
        options: &BatchOptions,
        report: &mut Report,
    ) {
        let is_busy = |response: &Response| {
            response.error().is_some_and(|error| error.kind == ErrorKind::Busy)
        };
        for (call, response) in calls.iter().zip(&mut report.responses) {
            while call.key.is_some() && is_busy(response) && !options.cancel.is_cancelled() {
                tokio::time::sleep(BUSY_PAUSE).await;
                let one = vec![call.clone()];
                let mut now = self.crib().run_with(plan, one, options.clone()).await;
                if let Some(now) = now.responses.pop() {
                    *response = now;
                }
            }
        }
    }

    /// The plan that calls are judged by: the one that the model was shown, or that of now for a
    /// run that another process began. Without one no call runs, and each is answered.
    fn plan_of_batch(&self) -> Result<Plan, ModelFault> {
        let is_routed = self.team().is_some_and(|(_, mode)| mode == AgentMode::Router);
        // The router runs what its model was not shown.
        let shown = self.plan.clone().filter(|_| !is_routed);
        shown.map_or_else(|| self.plan_in(self.crib()), Ok)
    }

    /// Prepares calls of a run that is written down: one that may change something runs once under
    /// its key, in however many processes. One that only reads needs none, and costs no sync.
    pub(super) fn name_calls(&self, plan: &Plan, calls: &mut [Call]) {
        for call in calls {
            let tool = plan.get(&call.name);
            if tool.is_some_and(|tool| tool.listed.spec.effect == Effect::Read) {
                call.key = None;
            }
            // A key may have gone with time, and with it what is known of the call.
            call.again = self.past.is_old && call.key.is_some();
            self.name_sampled(call);
        }
    }
}

/// The answer to a call that was not run.
fn not_run(call: Call, why: &str) -> ResultText {
    ResultText {
        call_id: call.id,
        name: call.wire.name,
        text: format!("This call was not run: {why}."),
        is_error: true,
    }
}

/// Passes on what calls tell of themselves.
struct ProgressHost(mpsc::Sender<String>);

impl Host for ProgressHost {
    fn progress(&self, _: CallKey, progress: Progress) {
        let told = match (progress.message, progress.total) {
            (Some(message), _) => message,
            (None, Some(total)) => format!("{} of {total}", progress.done),
            (None, None) => return,
        };
        // Whoever heard it has gone, or there is too much of it.
        let _ = self.0.try_send(told);
    }
}
