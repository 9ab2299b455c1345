//! One `tools/call`: begun, taken up again, put to a person, and answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderMap;
use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};
use toolcrib_core::{
    BatchOptions, Call, Decision, ErrorKind, FormFallback, HostQuestion, ParkedCall, PendingTicket,
    Plan, QuestionKind, RawArguments, Response, TicketError, TicketId, ToolOutcome, Trace,
    TraceState,
};
use toolcrib_engine::Crib;

use super::answer::{MethodAnswer, MethodResult, asking};
use super::approval;
use super::idempotency;
use super::report::{CallReport, undecided, under_way};
use super::result::refusal;
use super::running::{
    CallIdentity, CallLifetime, McpCallEnd, McpCallStep, RunningMcpCall, request,
};
use super::tool_plan::{check_mirrored_headers, plan_for};
use crate::door::client::channel::ClientChannel;
use crate::door::persistence::{NamedPlace, elsewhere};
use crate::door::state::{McpRequestContext, McpServerState};
use crate::door::tasks::{self, TaskCallContext, TaskStage};

/// What one request is about.
struct ToolCallHandler {
    server_state: Arc<McpServerState>,
    line: ClientChannel,
    crib: Crib,
    plan: Plan,
    identity: CallIdentity,
    /// As the client named it.
    tool: String,
    /// The tool that it means, where it goes through another one.
    meant: Option<String>,
    trace: Option<Trace>,
    session: Option<Arc<str>>,
    trace_state: Option<TraceState>,
    /// The caller's own name for the call.
    key: Option<String>,
    /// Its caller means it once more.
    anew: bool,
}

/// What a request says of itself beside the call.
#[derive(Clone, Copy)]
pub(crate) struct ToolCallMetadata<'a> {
    pub(crate) trace: Option<&'a str>,
    pub(crate) key: Option<&'a Value>,
    pub(crate) again: Option<&'a Value>,
    /// Those of a request whose revision has some arguments repeated in them.
    pub(crate) headers: Option<&'a HeaderMap>,
}

/// What a client brings back that was asked something: the name of the call, and its answers.
pub(crate) type ResumedAnswers = (String, BTreeMap<String, Value>);

/// Where a call stands that says so itself: its client knows better than what lies between us, save
/// whoever heard it before us and made a step of it in the same trace.
pub(crate) fn traced(own: Trace, said: Option<&str>) -> Trace {
    let said = said.filter(|_| own.goes_on()).and_then(Trace::parse);
    said.filter(|said| !said.is_with(own)).unwrap_or(own)
}

/// Answers one `tools/call`, with what is told and asked on the way.
pub(crate) async fn answer(
    server_state: &Arc<McpServerState>,
    request_context: McpRequestContext,
    line: ClientChannel,
    marks: ToolCallMetadata<'_>,
    (tool, arguments, back): (String, Option<Value>, Option<ResumedAnswers>),
) -> MethodAnswer {
    let calling = ToolCallHandler::of(
        server_state,
        request_context,
        line,
        marks,
        (tool, arguments.as_ref()),
    )?;
    if let Some((state, answers)) = back.filter(|_| calling.line.client.is_modern) {
        return Box::pin(calling.take_up(&state, answers, arguments)).await;
    }
    if let Some((command, session)) = calling.decided_elsewhere() {
        // Rare, and large.
        let recalled = Box::pin(calling.recalled(command, session)).await;
        if let Some(answer) = recalled {
            return answer;
        }
    }
    calling.follow(calling.begin(arguments, false)?).await
}

impl ToolCallHandler {
    fn of(
        server_state: &Arc<McpServerState>,
        request_context: McpRequestContext,
        line: ClientChannel,
        marks: ToolCallMetadata<'_>,
        (tool, arguments): (String, Option<&Value>),
    ) -> Result<Self, ErrorData> {
        let plan = plan_for(&request_context, &tool)?;
        if let Some(headers) = marks.headers {
            let is_whole = || request_context.sole().is_some();
            check_mirrored_headers(&plan, (&tool, arguments), headers, is_whole)?;
        }
        let trace = request_context.trace.map(|own| traced(own, marks.trace));
        let McpRequestContext { caller, profile, crib, trace_state, key, session, .. } =
            request_context;
        let key = idempotency::key(key.as_deref(), marks.key)?;
        let anew = idempotency::again(marks.again)?;
        let identity =
            CallIdentity { caller, profile, digest: idempotency::digest(&tool, arguments) };
        let raw = || RawArguments::from(arguments.cloned());
        let meant = plan.meant(&tool, raw, &server_state.settings.request);
        let server_state = Arc::clone(server_state);
        Ok(Self {
            server_state,
            line,
            crib,
            plan,
            identity,
            tool,
            meant,
            trace,
            session,
            trace_state,
            key,
            anew,
        })
    }

    /// Whether the tool is one that no request is held open for, and this client takes no tasks.
    fn needs_a_task(&self) -> bool {
        let planned = self.plan.get(self.meant.as_ref().unwrap_or(&self.tool));
        !self.line.client.takes_tasks
            && planned.is_some_and(|tool| tasks::is_required(&tool.listed.spec))
    }

    /// Fails where the tool needs a client that takes tasks, and this one does not. `again`: it was
    /// made before, and nobody knows what came of that.
    fn begin(&self, arguments: Option<Value>, again: bool) -> Result<RunningMcpCall, ErrorData> {
        if self.needs_a_task() {
            return Err(tasks::undeclared());
        }
        let arguments = RawArguments::from(arguments);
        let id = self.line.id.to_string();
        let key = self.key.clone();
        // Who goes away and comes back with the key finds the answer.
        let hold = if key.is_some() { CallLifetime::OnItsOwn } else { CallLifetime::WithItsClient };
        let anew = self.anew;
        let call = Call { key, again, anew, ..Call::new(id, self.tool.as_str(), arguments) };
        let (unheard, audience) = (self.unheard(), self.telling().audience());
        Ok(RunningMcpCall::start(self.identity.clone(), &self.line.client, hold, |options| {
            let mark = Some(Arc::clone(&self.identity.digest));
            let trace_state = self.trace_state.clone();
            let trace = self.trace;
            let options = BatchOptions { trace, trace_state, mark, unheard, audience, ..options };
            let (crib, plan) = (self.crib.clone(), self.plan.clone());
            Box::pin(async move {
                let mut report = crib.run_with(&plan, vec![call], options).await;
                McpCallEnd::of_call(report.responses.pop().ok_or(TicketError::Unknown))
            })
        }))
    }

    /// A door that stands for one server passes on what its client can answer, and no more.
    fn unheard(&self) -> FormFallback {
        let asks = self.line.client.can_answer(QuestionKind::Form);
        if !asks && self.crib.sole().is_some() {
            FormFallback::Refused
        } else {
            FormFallback::Ticket
        }
    }

    /// The client comes back with what it was asked for.
    async fn take_up(
        &self,
        state: &str,
        answers: BTreeMap<String, Value>,
        arguments: Option<Value>,
    ) -> MethodAnswer {
        if let Some((ticket, digest)) = state.split_once('.').filter(|_| state.starts_with("t_")) {
            if digest != &*self.identity.digest {
                return Err(stale());
            }
            let ticket = TicketId::claimed(ticket);
            return self.decided(ticket, answers.get(approval::KEY)).await;
        }
        match self.server_state.waiting.place(state).await {
            NamedPlace::Here => {}
            NamedPlace::Elsewhere => return Err(elsewhere()),
            // What it was asked is gone with the call, which may have taken effect: what reads is
            // made anew, and about anything else the person is asked.
            NamedPlace::Gone => {
                return self.follow(self.begin(arguments, true)?).await;
            }
        }
        let taken = self.server_state.waiting.take(state, &self.identity);
        let mut running = taken.ok_or_else(stale)?;
        if running.answer(answers) {
            return self.follow(running).await;
        }
        self.wait(running).await
    }

    async fn follow(&self, running: RunningMcpCall) -> MethodAnswer {
        if !self.line.client.takes_tasks {
            return self.step(running.go_on(&self.line).await).await;
        }
        match running.go_on_for(&self.line, self.server_state.settings.task_after).await {
            Ok(step) => self.step(step).await,
            Err(running) => match self.become_task(TaskStage::Running(running)) {
                Ok(answer) => answer,
                // Without a place for a task its request is held open.
                Err(TaskStage::Running(running)) => {
                    self.step(running.go_on(&self.line).await).await
                }
                Err(TaskStage::Parked(_)) => Err(stale()),
            },
        }
    }

    async fn step(&self, step: McpCallStep) -> MethodAnswer {
        match step {
            McpCallStep::Ended(McpCallEnd::Called(end)) => self.ended(&end).await,
            // Its digest is none of a call.
            McpCallStep::Ended(McpCallEnd::Read(_)) => Err(stale()),
            McpCallStep::Asks(running) => self.wait(running).await,
            // Nobody reads this.
            McpCallStep::Gone => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    /// Answers with a task, if this client takes one and there is a place for it.
    fn become_task(&self, stage: TaskStage) -> Result<MethodAnswer, TaskStage> {
        if !self.line.client.takes_tasks {
            return Err(stage);
        }
        let Self { crib, plan, identity, tool, trace, .. } = self;
        let case = TaskCallContext {
            cribs: Arc::clone(&self.server_state.cribs),
            crib: crib.clone(),
            client: self.line.client.clone(),
            plan: plan.clone(),
            identity: identity.clone(),
            tool: tool.clone(),
            trace: *trace,
            decides: self.server_state.settings.decides,
        };
        let task = self.server_state.tasks.begin(case, stage)?;
        Ok(Ok(MethodResult::of(&task.seed())))
    }

    /// Keeps the call until its client comes back.
    async fn wait(&self, running: RunningMcpCall) -> MethodAnswer {
        let (questions, around) = (running.questions(), running.around());
        match self.server_state.waiting.keep(running) {
            Ok(state) => Ok(asking(questions, &state, around)),
            Err(mut running) => {
                running.decline();
                Box::pin(self.follow(*running)).await
            }
        }
    }

    async fn ended(&self, end: &Result<Response, TicketError>) -> MethodAnswer {
        let response = match end {
            Ok(response) => response,
            Err(error) => {
                return Ok(MethodResult::of_call(&refusal(&error.to_string(), &self.line.client)));
            }
        };
        match &response.outcome {
            ToolOutcome::Pending(pending) => {
                let pending = pending.clone();
                // Rare, and large.
                Box::pin(self.pending(pending, response)).await
            }
            ToolOutcome::Failed(_) if self.line.client.can_answer(QuestionKind::Form) => {
                let Some(ticket) = held_back(response) else { return self.told(response) };
                let parked = self.telling().parked(&ticket).await.ok().flatten();
                let Some(parked) = parked else { return self.told(response) };
                Box::pin(self.pending(waiting(parked), response)).await
            }
            ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => {
                self.told(response)
            }
        }
    }

    /// A person is needed, which may take long.
    async fn pending(&self, pending: PendingTicket, response: &Response) -> MethodAnswer {
        let stage = TaskStage::Parked(pending.clone());
        match self.become_task(stage) {
            Ok(answer) => answer,
            Err(_) if self.line.client.can_answer(QuestionKind::Form) => {
                self.put_to_person(pending, response).await
            }
            Err(_) => self.leave_to_person(&pending, response).await,
        }
    }

    /// The person at this machine decides without this client, which may ask for the end.
    async fn leave_to_person(&self, pending: &PendingTicket, response: &Response) -> MethodAnswer {
        let parked = self.telling().parked(&pending.ticket).await.ok().flatten();
        let (Some((command, session)), Some(parked)) = (self.decided_elsewhere(), parked) else {
            return self.told(response);
        };
        self.server_state.awaited.note(session, &self.identity, &parked);
        Ok(MethodResult::of_call(&self.telling().awaited(pending, command)))
    }

    /// What is to be said of a call that waited when it was made before; `None`: it is to be made.
    async fn recalled(&self, command: &str, session: &Arc<str>) -> Option<MethodAnswer> {
        let (ticket, is_over) = self.server_state.awaited.of(session, &self.identity)?;
        let telling = self.telling();
        if let Some(parked) = telling.parked(&ticket).await.ok().flatten() {
            return Some(Ok(MethodResult::of_call(&telling.awaited(&waiting(parked), command))));
        }
        let redeemed = telling.redeemed(&ticket).await;
        if redeemed.is_none() && !is_over {
            // Somebody decided, and there is no end yet.
            return Some(Ok(MethodResult::of_call(&refusal(
                &under_way(&ticket),
                &self.line.client,
            ))));
        }
        self.server_state.awaited.forget(&ticket);
        let response = redeemed?;
        Some(match &response.outcome {
            // It goes on, and asks something else.
            ToolOutcome::Pending(pending) => self.leave_to_person(pending, &response).await,
            ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => {
                self.told(&response)
            }
        })
    }

    /// By which command a person decides about this call, and the conversation that it is of. A
    /// call under a key of its own is known by that.
    fn decided_elsewhere(&self) -> Option<(&'static str, &Arc<str>)> {
        let is_keyed = self.key.is_some();
        self.server_state.settings.decides.zip(self.session.as_ref()).filter(|_| !is_keyed)
    }

    fn told(&self, response: &Response) -> MethodAnswer {
        let said = self.telling().told(response)?;
        let has_failed = said.truth("isError");
        Ok(MethodResult { has_failed, ..MethodResult::of(&said) })
    }

    async fn put_to_person(&self, pending: PendingTicket, response: &Response) -> MethodAnswer {
        let parked = self.telling().parked(&pending.ticket).await.ok().flatten();
        let form = approval::form(&self.tool, &pending, parked.as_ref());
        if self.line.client.is_modern {
            return Ok(self.ask_back(&pending.ticket, &form));
        }
        let asked = self.line.ask(HostQuestion::new(QuestionKind::Form, form));
        let answer = tokio::select! {
            answer = asked => answer,
            () = self.line.gone() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let decision = answer.ok().and_then(|answer| approval::decision(&pending, &answer));
        match decision {
            Some(decision) => self.redeem(pending.ticket, decision).await,
            None => self.told(response),
        }
    }

    fn ask_back(&self, ticket: &TicketId, form: &Value) -> MethodResult {
        let question = request(QuestionKind::Form, form);
        let questions = Map::from_iter([(approval::KEY.to_owned(), question)]);
        let state = format!("{ticket}.{}", self.identity.digest);
        asking(questions, &state, Map::new())
    }

    /// What came of the question about a ticket. The ledger knows whose it is, and that it is
    /// good for one run.
    async fn decided(&self, ticket: TicketId, answer: Option<&Value>) -> MethodAnswer {
        let parked = self.telling().parked(&ticket).await.map_err(|_| stale())?;
        // The state says what its client wants it to say: the ticket knows what it is for.
        if parked.as_ref().is_some_and(|parked| parked.mark.as_ref() != Some(&self.identity.digest))
        {
            return Err(stale());
        }
        let used = || PendingTicket { ticket, reason: String::new(), question: None };
        let pending = parked.clone().map_or_else(used, waiting);
        if let Some(decision) = answer.and_then(|answer| approval::decision(&pending, answer)) {
            return self.redeem(pending.ticket, decision).await;
        }
        let parked = parked.ok_or_else(stale)?;
        if answer.is_none() {
            let form = approval::form(&self.tool, &pending, Some(&parked));
            return Ok(self.ask_back(&pending.ticket, &form));
        }
        Ok(MethodResult::of_call(&refusal(&undecided(&pending), &self.line.client)))
    }

    async fn redeem(&self, ticket: TicketId, decision: Decision) -> MethodAnswer {
        let caller = Arc::clone(&self.identity.caller);
        let running = self.telling().redeem(caller, ticket, decision, self.trace);
        Box::pin(self.follow(running)).await
    }

    fn telling(&self) -> CallReport<'_> {
        let Self { crib, plan, identity, tool, .. } = self;
        CallReport {
            cribs: &self.server_state.cribs,
            crib,
            client: &self.line.client,
            plan,
            identity,
            tool,
        }
    }
}

/// What waits under a ticket.
fn waiting(parked: ParkedCall) -> PendingTicket {
    let ParkedCall { ticket, reason, question, .. } = parked;
    PendingTicket { ticket, reason, question }
}

/// The ticket by which a person can let a call run that was held back, since one like it may have
/// taken effect.
fn held_back(response: &Response) -> Option<TicketId> {
    let error = response.error().filter(|error| error.kind == ErrorKind::DuplicateOfUnknown)?;
    let ticket = error.content.as_ref()?.structured.as_ref()?.get("ticket")?.as_str()?;
    Some(TicketId::claimed(ticket))
}

/// One answer for what was changed, used, timed out, or is somebody else's.
pub(crate) fn stale() -> ErrorData {
    let told = "`requestState` names no question that is open for this call: make the call again \
                without it";
    ErrorData::invalid_params(told, Some(json!({ "field": "requestState" })))
}
