//! A batch of calls: what the budget lets run, and what is told of it.

mod live;
mod missing;

use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use toolcrib_core::{BatchOptions, Call, Effect, Plan, Report, Response};

use super::children::answers::failed;
use super::tape::BatchOutcome;
use super::{AgentRun, Listener};
use crate::event::{CallEnd, RunEvent};
use crate::item::ResultText;
use crate::model::ModelFault;
use crate::team::mode::AgentMode;
use live::LiveBatch;

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
        if self.past.is_taken_up {
            self.await_sources(calls, cancel).await;
        }
        let plain = match self.live_batch(calls, cancel) {
            Ok(plain) => plain,
            Err(no_plan) if of_team.is_empty() => {
                return Some(BatchOutcome { no_plan: Some(no_plan), ..BatchOutcome::default() });
            }
            Err(why) => {
                let refused = calls.iter().map(|call| *failed(call, format!("not run: {why}")));
                let mut outcome = BatchOutcome::default();
                outcome.report.responses = refused.collect();
                let theirs = Box::pin(self.delegate(of_team, tell, cancel)).await?;
                return Some(in_places(outcome, places, theirs));
            }
        };
        if of_team.is_empty() {
            return Some(Box::pin(plain.run(tell)).await);
        }
        // Both tell what comes to them, one after the other: nobody waits for the lock.
        let tell = Mutex::new(tell);
        let told = |event| (tell.lock().unwrap_or_else(PoisonError::into_inner))(event);
        let (mut of_plain, mut of_theirs) = (told, told);
        let theirs = Box::pin(self.delegate(of_team, &mut of_theirs, cancel));
        let (outcome, theirs) = tokio::join!(Box::pin(plain.run(&mut of_plain)), theirs);
        Some(in_places(outcome, places, theirs?))
    }

    /// Takes the calls, ready to run; why they cannot run, if there is no plan.
    fn live_batch(
        &mut self,
        calls: &mut Vec<Call>,
        cancel: &CancellationToken,
    ) -> Result<LiveBatch, String> {
        if calls.is_empty() {
            return Ok(LiveBatch::default());
        }
        let plan = self.plan_of_batch().map_err(|fault| fault.message)?;
        let mut calls = std::mem::take(calls);
        self.name_calls(&plan, &mut calls);
        let is_taken_up = std::mem::take(&mut self.past.is_taken_up);
        let options = BatchOptions { cancel: cancel.child_token(), ..self.options.clone() };
        let planned = Some((self.crib().clone(), plan));
        Ok(LiveBatch { planned, calls, options, left: self.time_left(), is_taken_up })
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

/// The outcome with the answers of the team, each in its place. `places`: of the others.
fn in_places(
    mut outcome: BatchOutcome,
    places: Vec<usize>,
    theirs: Vec<(usize, Response)>,
) -> BatchOutcome {
    let mut all: Vec<_> = places.into_iter().zip(outcome.report.responses).collect();
    all.extend(theirs);
    all.sort_by_key(|(place, _)| *place);
    outcome.report.responses = all.into_iter().map(|(_, response)| response).collect();
    outcome
}
