//! Who runs a run: asks the model, lets the crib run the calls, keeps the budget.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    BatchOptions, Call, CallKey, Caller, Decision, Host, ParkedCall, Plan, PlanRequest, Progress,
    Redemption, Report, TicketError, TicketId,
};
use toolcrib_engine::Crib;

use crate::budget::{Account, Budget, Spent};
use crate::event::RunEvent;
use crate::item::{ResultText, ThreadItem};
use crate::model::{
    CallerTool, ModelAnswer, ModelClient, ModelDelta, ModelFault, ModelFaultKind, ModelRequest,
};
use crate::run::{RunEffect, RunEnd, RunInput, RunState};
use crate::stop::StopReason;
use crate::usage::{Usage, tokens};

/// A model with instructions, over a crib.
pub struct Agent {
    pub name: String,
    pub description: String,
    pub instructions: String,
    pub model: Arc<ModelClient>,
    pub crib: Crib,
    /// What is wished of every plan.
    pub wishes: PlanRequest,
    pub budget: Budget,
}

/// One run of an agent for a caller.
pub struct AgentRun {
    agent: Arc<Agent>,
    caller: Arc<Caller>,
    state: RunState,
    account: Arc<Account>,
    next: RunEffect,
    /// Of the request that the model answered last: its calls are judged by what it was shown.
    plan: Option<Plan>,
    usage: Usage,
    /// While nobody was waited for.
    busy: Duration,
    is_closing: bool,
    /// What goes with every batch; a host of its own hears of the calls in the place of the events.
    options: BatchOptions,
}

/// A run at a pause, as data: whoever reads it back goes on with it, in another process too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedRun {
    /// Of this form; a later one reads it too.
    version: u32,
    state: RunState,
    spent: Spent,
    usage: Usage,
    busy: Duration,
}

/// The form that is written.
const SAVED_VERSION: u32 = 1;

/// A run that was saved by a later version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was saved by a later version (form {0}): update toolcrib")]
pub struct UnknownRunVersion(u32);

/// Why a run does not go on by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum RunPause {
    /// Each of these is to be decided by [`AgentRun::decide`]; or [`AgentRun::go_on`].
    Waiting(Vec<TicketId>),
    Ended(RunEnd),
}

/// Tells of the run while it goes on.
type Listener<'a> = &'a mut (dyn FnMut(RunEvent) + Send);

impl AgentRun {
    /// A run that goes on with a thread, whose last item is what the user says.
    ///
    /// `waits_for_people`: whether the model hears of a batch only when nothing of it waits for a
    /// person any more; else it is told of the ticket, and may answer in words.
    pub fn new(
        agent: Arc<Agent>,
        caller: Arc<Caller>,
        thread: Vec<ThreadItem>,
        caller_tools: Vec<CallerTool>,
        waits_for_people: bool,
    ) -> Self {
        let account = Account::new(agent.budget, agent.model.settings().price);
        let state = RunState::new(thread, caller_tools, waits_for_people);
        let next = state.again();
        Self {
            agent,
            caller,
            state,
            account,
            next,
            plan: None,
            usage: Usage::default(),
            busy: Duration::ZERO,
            is_closing: false,
            options: BatchOptions::default(),
        }
    }

    /// The run as it is now. At a pause it can be gone on with; what was asked of the model and is
    /// not answered yet is asked again.
    pub fn saved(&self) -> SavedRun {
        SavedRun {
            version: SAVED_VERSION,
            state: self.state.clone(),
            spent: self.account.saved(),
            usage: self.usage,
            busy: self.busy,
        }
    }

    /// A run that was saved, for the agent and the caller that it was of.
    pub fn restored(
        agent: Arc<Agent>,
        caller: Arc<Caller>,
        saved: SavedRun,
    ) -> Result<Self, UnknownRunVersion> {
        if saved.version > SAVED_VERSION {
            return Err(UnknownRunVersion(saved.version));
        }
        let price = agent.model.settings().price;
        let account = Account::going_on(agent.budget, price, saved.spent);
        let next = saved.state.again();
        Ok(Self {
            agent,
            caller,
            state: saved.state,
            account,
            next,
            plan: None,
            usage: saved.usage,
            busy: saved.busy,
            is_closing: false,
            options: BatchOptions::default(),
        })
    }

    /// What goes with every batch. A host among it hears what calls tell, and answers what they ask.
    #[must_use]
    pub fn with_options(self, options: BatchOptions) -> Self {
        Self { options, ..self }
    }

    /// All of the thread, with what this run added.
    pub fn items(&self) -> &[ThreadItem] {
        &self.state.items
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn account(&self) -> &Account {
        &self.account
    }

    pub fn turn(&self) -> u32 {
        self.state.turn
    }

    /// Goes on until somebody is needed or the run has ended.
    pub async fn go(&mut self, tell: Listener<'_>, cancel: &CancellationToken) -> RunPause {
        loop {
            let began = Instant::now();
            let input = match &mut self.next {
                RunEffect::End(end) => {
                    let end = end.clone();
                    if !std::mem::replace(&mut self.is_closing, true) {
                        tell(RunEvent::Usage { usage: self.usage });
                        tell(RunEvent::Ended { end: end.clone() });
                    }
                    return RunPause::Ended(end);
                }
                RunEffect::Wait(tickets) => {
                    let tickets = tickets.clone();
                    for ticket in &tickets {
                        if let Some(parked) = self.parked(ticket).await {
                            tell(RunEvent::Waiting { parked: Box::new(parked) });
                        }
                    }
                    return RunPause::Waiting(tickets);
                }
                RunEffect::Ask { is_last } => {
                    let is_last = *is_last;
                    self.ask(is_last, tell, cancel).await
                }
                RunEffect::Call(calls) => {
                    let calls = std::mem::take(calls);
                    let report = self.call(calls, tell, cancel).await;
                    if cancel.is_cancelled() {
                        // What ran is on record; the thread is told of it too.
                        self.next = self.take(RunInput::Ran(report));
                        if matches!(self.next, RunEffect::End(_)) {
                            continue;
                        }
                        RunInput::Cancelled
                    } else {
                        RunInput::Ran(report)
                    }
                }
            };
            self.busy += began.elapsed();
            self.next = self.take(input);
        }
    }

    /// The call that waits under a ticket.
    pub async fn parked(&self, ticket: &TicketId) -> Option<ParkedCall> {
        self.agent.crib.ticket(&self.caller, ticket).await.ok().flatten()
    }

    /// Decides about a ticket that the run waits for. An error leaves the run as it was.
    pub async fn decide(
        &mut self,
        ticket: &TicketId,
        decision: Decision,
        tell: Listener<'_>,
    ) -> Result<(), TicketError> {
        let run = self.state.run.clone();
        let redemption = Redemption {
            caller: &self.caller,
            ticket,
            decision,
            run: &run,
            options: self.options.clone(),
        };
        let response = self.agent.crib.redeem(redemption).await?;
        tell(RunEvent::CallDone { response: Box::new(response.clone()) });
        self.next = self.take(RunInput::Decided(Box::new(response)));
        Ok(())
    }

    /// Waits for nobody any more: the model is told that its calls wait.
    pub fn go_on(&mut self) {
        self.next = self.take(RunInput::GoOn);
    }

    fn take(&mut self, input: RunInput) -> RunEffect {
        self.state.step(input, self.agent.model.dialect())
    }

    fn plan(&self) -> Result<Plan, ModelFault> {
        let wishes = self.agent.wishes.clone().after(&self.state.run);
        let wishes = wishes.api_defers(self.agent.model.dialect().defers());
        self.agent.crib.plan(&self.caller, wishes).map_err(|error| ModelFault {
            kind: ModelFaultKind::Refused,
            message: format!("there is no plan of the tools for this agent: {error}"),
            detail: None,
            retry_after: None,
        })
    }

    /// Why no further turn may be taken.
    fn spent(&self) -> Option<StopReason> {
        if self.agent.budget.time.is_some_and(|time| self.busy >= time) {
            return Some(StopReason::Time);
        }
        let (_, calls, _, _) = self.account.totals();
        let is_out = self.agent.budget.calls.is_some_and(|most| calls >= most);
        is_out.then_some(StopReason::Calls)
    }

    /// The time that is left; the last turn has as long as a model may take.
    fn time_left(&self) -> Duration {
        let left = self.agent.budget.time.map(|time| time.saturating_sub(self.busy));
        left.unwrap_or(Duration::from_hours(24))
    }

    async fn ask(
        &mut self,
        is_last: bool,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> RunInput {
        if !is_last && let Some(stop) = self.spent() {
            return RunInput::Exhausted(stop);
        }
        let plan = match self.plan() {
            Ok(plan) => plan,
            Err(fault) => return RunInput::ModelFailed(fault),
        };
        self.plan = Some(plan.clone());
        let instructions = self.instructions(&plan);
        let model = Arc::clone(&self.agent.model);
        let mut request = ModelRequest {
            instructions: &instructions,
            items: &self.state.items,
            plan: Some(&plan),
            is_last,
            caller_tools: self.state.caller_tools(),
            max_tokens: u64::from(model.settings().max_tokens),
        };
        let input = tokens(model.weight(&request));
        let reserved = match self.account.reserve(input, request.max_tokens, is_last) {
            Ok(reserved) => reserved,
            Err(stop) => return RunInput::Exhausted(stop),
        };
        request.max_tokens = reserved.output_tokens;
        if !is_last {
            tell(RunEvent::TurnStarted { turn: self.state.turn + 1 });
        }
        let (mut used, mut said) = (Usage::default(), 0_usize);
        let mut pass_on = |delta: ModelDelta| {
            let (ModelDelta::Text(piece)
            | ModelDelta::Reasoning(piece)
            | ModelDelta::Retracted(piece)) = &delta;
            said += piece.len();
            tell(match delta {
                ModelDelta::Text(delta) => RunEvent::Text { delta },
                ModelDelta::Reasoning(delta) => RunEvent::Reasoning { delta },
                ModelDelta::Retracted(why) => RunEvent::Retracted { why },
            });
        };
        let weight = model.weight(&request);
        let left = if is_last { Duration::from_hours(24) } else { self.time_left() };
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(RunInput::Cancelled),
            () = tokio::time::sleep(left) => Err(RunInput::Exhausted(StopReason::Time)),
            answered = model.answer(&request, &mut used, &mut pass_on) => Ok(answered),
        };
        if answered.is_err() {
            // What was given up has cost too.
            used.add(Usage::estimated(weight, said));
        }
        self.account.settle(reserved, &used);
        self.usage.add(used);
        match answered {
            Ok(Ok(answer)) => heard(answer, tell),
            Ok(Err(fault)) => RunInput::ModelFailed(fault),
            Err(input) => input,
        }
    }

    /// What the author of the agent says, and what the tools want said.
    fn instructions(&self, plan: &Plan) -> String {
        let guidance = plan.guidance();
        let texts = [&self.agent.instructions, &guidance.system, &guidance.user];
        let texts = texts.into_iter().chain(&guidance.reminders).map(String::as_str);
        let parts: Vec<_> = texts.filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }

    async fn call(
        &mut self,
        mut calls: Vec<Call>,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> Report {
        let wished = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let may_run = usize::try_from(self.account.take_calls(wished)).unwrap_or(usize::MAX);
        let beyond = calls.split_off(may_run.min(calls.len()));
        self.state.refuse(beyond.into_iter().map(|call| ResultText {
            call_id: call.id,
            name: call.wire.name,
            text: "This call was not run: the budget of this run has no further call.".to_owned(),
            is_error: true,
        }));
        let Some(plan) = self.plan.clone().filter(|_| !calls.is_empty()) else {
            return Report { responses: Vec::new() };
        };
        let (sender, mut told) = mpsc::unbounded_channel();
        let within = cancel.child_token();
        let host = self.options.host.clone();
        let host = host.unwrap_or_else(|| Arc::new(ProgressHost(sender)));
        let options =
            BatchOptions { cancel: within.clone(), host: Some(host), ..self.options.clone() };
        let left = self.time_left();
        let mut running = Box::pin(self.agent.crib.run_with(&plan, calls, options));
        let mut late = std::pin::pin!(tokio::time::sleep(left));
        let report = loop {
            tokio::select! {
                biased;
                () = &mut late, if !within.is_cancelled() => within.cancel(),
                Some(text) = told.recv() => tell(RunEvent::Progress { text }),
                report = &mut running => break report,
            }
        };
        for response in &report.responses {
            tell(RunEvent::CallDone { response: Box::new(response.clone()) });
        }
        report
    }
}

fn heard(answer: ModelAnswer, tell: Listener<'_>) -> RunInput {
    if !answer.call_texts.is_empty() {
        tell(RunEvent::Calls { calls: answer.call_texts.clone() });
    }
    RunInput::Answered(Box::new(answer))
}

/// Passes on what calls tell of themselves.
struct ProgressHost(mpsc::UnboundedSender<String>);

impl Host for ProgressHost {
    fn progress(&self, _: CallKey, progress: Progress) {
        let told = match (progress.message, progress.total) {
            (Some(message), _) => message,
            (None, Some(total)) => format!("{} of {total}", progress.done),
            (None, None) => return,
        };
        // Whoever heard it has gone.
        let _ = self.0.send(told);
    }
}
