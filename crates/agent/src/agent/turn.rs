//! A turn of the model: what it is shown, what it may cost, what it says.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolcrib_core::Plan;

use super::{AgentRun, Listener, RunPause, now};
use crate::event::{CalledTool, RunEvent};
use crate::item::{InputPart, ThreadItem};
use crate::model::{ModelAnswer, ModelDelta, ModelFault, ModelFaultKind, ModelRequest};
use crate::run::RunInput;
use crate::stop::StopReason;
use crate::usage::{Usage, tokens};

/// Longer than that no model is waited for at a time.
const LONGEST_DEFERRAL: Duration = Duration::from_hours(24);

impl AgentRun {
    pub(super) fn plan(&self) -> Result<Plan, ModelFault> {
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
    pub(super) fn time_left(&self) -> Duration {
        let left = self.agent.budget.time.map(|time| time.saturating_sub(self.busy));
        left.unwrap_or(Duration::from_hours(24))
    }

    /// `None`: the process ends, and another one is to ask again.
    pub(super) async fn ask(
        &mut self,
        is_last: bool,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> Option<RunInput> {
        if !is_last && let Some(stop) = self.spent() {
            return Some(RunInput::Exhausted(stop));
        }
        let plan = match self.plan() {
            Ok(plan) => plan,
            Err(fault) => return Some(RunInput::ModelFailed(fault)),
        };
        self.plan = Some(plan.clone());
        let guidance = plan.guidance();
        let instructions = self.instructions(&guidance.system);
        let items = guided(&self.state.items, &guidance.user, &guidance.reminders);
        let model = Arc::clone(&self.agent.model);
        let mut request = ModelRequest {
            instructions: &instructions,
            items: &items,
            plan: Some(&plan),
            is_last,
            caller_tools: self.state.caller_tools(),
            max_tokens: u64::from(model.settings().max_tokens),
        };
        let weight = model.weight(&request);
        let reserved = match self.account.reserve(tokens(weight), request.max_tokens, is_last) {
            Ok(reserved) => reserved,
            Err(stop) => return Some(RunInput::Exhausted(stop)),
        };
        request.max_tokens = reserved.output_tokens;
        if !is_last {
            tell(RunEvent::TurnStarted { turn: self.state.turn + 1 });
        }
        let (mut used, mut said) = (Usage::default(), 0_usize);
        if std::mem::take(&mut self.past.has_lost_request) {
            // Nobody says what the one cost whose answer nobody heard.
            used.add(Usage::estimated(weight, 0));
        }
        let mut pass_on = |delta: ModelDelta| {
            said += delta.words().len();
            tell(event_of(delta));
        };
        let left = if is_last { Duration::from_hours(24) } else { self.time_left() };
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Some(RunInput::Cancelled)),
            () = self.hold.cancelled() => Err(None),
            () = tokio::time::sleep(left) => Err(Some(RunInput::Exhausted(StopReason::Time))),
            answered = model.answer(&request, &mut used, &mut pass_on) => Ok(answered),
        };
        if answered.is_err() {
            // What was given up has cost too.
            used.add(Usage::estimated(weight, said));
        }
        self.account.settle(reserved, &used);
        self.usage.add(used);
        match answered {
            Ok(Ok(answer)) => Some(heard(answer, &plan, tell)),
            Ok(Err(fault)) => self.failed(fault, tell),
            Err(input) => input,
        }
    }

    /// `None`: it waits until the model wants to be asked.
    fn failed(&mut self, fault: ModelFault, tell: Listener<'_>) -> Option<RunInput> {
        let patience = self.agent.model.settings().timeouts.retry_after;
        let wait =
            fault.retry_after.filter(|wait| self.defers && fault.may_pass() && *wait > patience);
        let Some(wait) = wait else { return Some(RunInput::ModelFailed(fault)) };
        let wait = wait.as_secs().clamp(1, LONGEST_DEFERRAL.as_secs());
        let until = now().saturating_add(wait);
        self.deferred_until = Some(until);
        let told = format!("{}; it is asked again in {wait} s, at {until}", fault.message);
        tell(RunEvent::Notice { text: told });
        None
    }

    /// Whether the model is not to be asked yet.
    pub(super) fn deferral(&mut self, cancel: &CancellationToken) -> Option<RunPause> {
        let until = self.deferred_until.filter(|until| *until > now() && !cancel.is_cancelled());
        self.deferred_until = until;
        until.map(|until| RunPause::Deferred { until })
    }

    /// What the author of the agent says, and what the tools want said of themselves.
    fn instructions(&self, of_tools: &str) -> String {
        let texts = [self.agent.instructions.as_str(), of_tools];
        let parts: Vec<_> = texts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }
}

/// The thread with what the tools want said beside the words of the user, at the last of these. The
/// log has it not: it is of this request alone.
fn guided<'a>(items: &'a [ThreadItem], user: &str, reminders: &[String]) -> Cow<'a, [ThreadItem]> {
    let texts = std::iter::once(user).chain(reminders.iter().map(String::as_str));
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    let last = items.iter().rposition(|item| matches!(item, ThreadItem::User { .. }));
    let Some(last) = last.filter(|_| !texts.is_empty()) else { return Cow::Borrowed(items) };
    let mut items = items.to_vec();
    if let Some(ThreadItem::User { parts }) = items.get_mut(last) {
        parts.push(InputPart::Text { text: texts.join("\n\n") });
    }
    Cow::Owned(items)
}

fn event_of(delta: ModelDelta) -> RunEvent {
    match delta {
        ModelDelta::Text(delta) => RunEvent::Text { delta },
        ModelDelta::Reasoning(delta) => RunEvent::Reasoning { delta },
        ModelDelta::Retracted(why) => RunEvent::Retracted { why },
        ModelDelta::OtherModel(text) => RunEvent::Notice { text },
    }
}

fn heard(answer: ModelAnswer, plan: &Plan, tell: Listener<'_>) -> RunInput {
    if !answer.call_texts.is_empty() {
        let called = answer.calls.iter().zip(&answer.call_texts).map(|(call, text)| {
            let tool = plan.get(&call.name);
            let source = tool.map(|tool| tool.listed.spec.origin.source.to_string());
            CalledTool { call: text.clone(), source }
        });
        tell(RunEvent::Calls { calls: called.collect() });
    }
    RunInput::Answered(Box::new(answer))
}
