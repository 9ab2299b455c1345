//! Who runs a run: asks the model, lets the crib run the calls, keeps the budget.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    BatchOptions, Call, CallKey, Caller, Decision, Host, ParkedCall, Plan, PlanRequest, Progress,
    Redemption, Report, TicketError, TicketId,
};
use toolcrib_engine::Crib;

use crate::budget::{Account, Budget};
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
    usage: Usage,
    /// While nobody was waited for.
    busy: Duration,
    is_closing: bool,
    /// What goes with every batch; a host of its own hears of the calls in the place of the events.
    options: BatchOptions,
}

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
            usage: Usage::default(),
            busy: Duration::ZERO,
            is_closing: false,
            options: BatchOptions::default(),
        }
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

    /// What this run added.
    pub fn new_items(&self) -> &[ThreadItem] {
        self.state.items.get(self.state.begun_at..).unwrap_or_default()
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
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => RunInput::Cancelled,
                        input = self.ask(is_last, tell) => input,
                    }
                }
                RunEffect::Call(calls) => {
                    let calls = std::mem::take(calls);
                    let report = self.call(calls, tell, cancel).await;
                    if cancel.is_cancelled() {
                        // What ran is on record; the thread is told of it too.
                        self.next = self.take(RunInput::Ran(report));
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

    /// Ends the run where it waits.
    pub fn cancel(&mut self) {
        self.next = self.take(RunInput::Cancelled);
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

    async fn ask(&mut self, is_last: bool, tell: Listener<'_>) -> RunInput {
        if !is_last && let Some(stop) = self.spent() {
            return RunInput::Exhausted(stop);
        }
        let plan = match self.plan() {
            Ok(plan) => plan,
            Err(fault) => return RunInput::ModelFailed(fault),
        };
        let instructions = self.instructions(&plan);
        let model = Arc::clone(&self.agent.model);
        let mut request = ModelRequest {
            instructions: &instructions,
            items: &self.state.items,
            plan: (!is_last).then_some(&plan),
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
        let mut used = Usage::default();
        let mut pass_on = |delta| {
            tell(match delta {
                ModelDelta::Text(delta) => RunEvent::Text { delta },
                ModelDelta::Reasoning(delta) => RunEvent::Reasoning { delta },
                ModelDelta::Retracted(why) => RunEvent::Retracted { why },
            });
        };
        let answered = model.answer(&request, &mut used, &mut pass_on).await;
        self.account.settle(reserved, &used);
        self.usage.add(used);
        match answered {
            Ok(answer) => heard(answer, tell),
            Err(fault) => RunInput::ModelFailed(fault),
        }
    }

    /// What the author of the agent says, and what the tools want said.
    fn instructions(&self, plan: &Plan) -> String {
        let guidance = plan.guidance();
        let parts = [self.agent.instructions.as_str(), guidance.system.as_str()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
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
        let plan = match self.plan() {
            Ok(plan) if !calls.is_empty() => plan,
            Ok(_) | Err(_) => return Report { responses: Vec::new() },
        };
        let (sender, mut told) = mpsc::unbounded_channel();
        let host = self.options.host.clone();
        let host = host.unwrap_or_else(|| Arc::new(ProgressHost(sender)));
        let options =
            BatchOptions { cancel: cancel.clone(), host: Some(host), ..self.options.clone() };
        let mut running = Box::pin(self.agent.crib.run_with(&plan, calls, options));
        let report = loop {
            tokio::select! {
                biased;
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
