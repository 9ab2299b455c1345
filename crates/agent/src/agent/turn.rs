//! A turn of the model: what it is shown, what it may cost, what it says.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{Exposure, HostedPlacement, Plan, ProvidedCall};
use toolcrib_dialect::HostedCall;
use toolcrib_engine::Crib;

use super::tape::{TurnOutcome, TurnTeller, sources};
use super::trace::{AskedRequest, MOST_TOOLS};
use super::{AgentRun, Listener, RunPause, now};
use crate::event::{CalledTool, RunEvent};
use crate::item::{InputPart, ThreadItem};
use crate::model::{
    CallChoice, CallerTool, ModelAnswer, ModelDelta, ModelFault, ModelFaultKind, ModelRequest,
};
use crate::run::RunInput;
use crate::run::trace::RequestPurpose;
use crate::stop::StopReason;
use crate::team::gate;
use crate::team::mode::AgentMode;
use crate::team::names::AGENTS;
use crate::team::tools::report_missing;
use crate::usage::{Usage, tokens};

/// What a model is told once a result has named a source.
const CITE: &str = "\
Results name their sources by numbers in brackets. Where your answer rests on one, put its number \
behind the words: [1]. Use no other numbers in this way.";

/// Longer than that no model is waited for at a time.
const LONGEST_DEFERRAL: Duration = Duration::from_hours(24);

/// What a model answered; or what ended the wait for it.
type AnsweredRequest = Result<Result<ModelAnswer, ModelFault>, TurnOutcome>;

impl AgentRun {
    pub(super) fn plan(&self) -> Result<Plan, ModelFault> {
        self.plan_in(self.shown())
    }

    /// All tools that it has itself.
    pub(super) fn crib(&self) -> &Crib {
        let team = self.agent.team.as_ref();
        let decided = team.zip(self.state.team.mode.as_ref());
        let whose = decided.and_then(|(team, mode)| team.find(mode.specialist.as_deref()?));
        let own = whose.map_or(&self.agent.crib, |specialist| &specialist.agent.crib);
        let planner = self.team().filter(|(_, mode)| *mode == AgentMode::Planner);
        planner.and_then(|(team, mode)| team.shown(mode)).unwrap_or(own)
    }

    /// Decides how the team is used, where that depends on the task; what was decided and why.
    fn decide_mode(&mut self) -> Option<String> {
        let team = self.agent.team.clone().filter(|team| team.mode == AgentMode::Auto)?;
        if self.state.team.mode.is_some() {
            return None;
        }
        let said = self.state.items.iter().rev().find_map(|item| match item {
            ThreadItem::User { parts } => Some(parts),
            ThreadItem::System { .. }
            | ThreadItem::Assistant { .. }
            | ThreadItem::Results { .. }
            | ThreadItem::Summary { .. } => None,
        });
        let words = said.into_iter().flatten().filter_map(|part| match part {
            InputPart::Text { text } => Some(text.as_str()),
            InputPart::Image { .. } | InputPart::ImageUrl { .. } | InputPart::File { .. } => None,
        });
        let task = words.collect::<Vec<_>>().join("\n");
        let plan = self.plan_in(&self.agent.crib).ok()?;
        let (mode, why) = gate::decide(&team, &plan, &self.caller, &task);
        self.state.team.mode = Some(mode);
        Some(why)
    }

    /// Those of them that its model is shown.
    fn shown(&self) -> &Crib {
        let router = self.team().filter(|(_, mode)| *mode == AgentMode::Router);
        router.and_then(|(team, mode)| team.shown(mode)).unwrap_or_else(|| self.crib())
    }

    /// The tools that the model is shown beside those of the plan.
    pub(super) fn further_tools(&self) -> Vec<CallerTool> {
        let mut tools = self.state.caller_tools().to_vec();
        if let Some((team, mode)) = self.team()
            && self.state.team.lineage.depth() < self.tree.depth
        {
            tools.extend(team.tools(mode, &|specialist| self.routed_tools(specialist)));
        }
        if !self.state.team.lineage.is_first() {
            tools.push(report_missing());
        }
        tools
    }

    pub(super) fn plan_in(&self, crib: &Crib) -> Result<Plan, ModelFault> {
        let wishes = self.agent.wishes.clone().after(&self.state.run);
        let has_caller_tools = !self.state.caller_tools().is_empty()
            || self.agent.team.is_some()
            || !self.state.team.lineage.is_first();
        let wishes = self.agent.model.wishes(wishes, has_caller_tools);
        // What a provider runs is not to be held back by a word of every API.
        let wishes = match self.state.choice {
            CallChoice::Never => wishes.takes_hosted(HostedPlacement::Nowhere),
            CallChoice::Free | CallChoice::Any | CallChoice::CallerTool(_) => wishes,
        };
        crib.plan(&self.caller, wishes).map_err(|error| ModelFault {
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

    /// `None`: the process ends, and another one is to ask again; or it waits until the model wants
    /// to be asked.
    pub(super) async fn ask(
        &mut self,
        is_last: bool,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> Option<RunInput> {
        let mut teller = self.teller(is_last, tell);
        let outcome = match self.played_turn(&mut teller) {
            Some(played) => played,
            None => self.ask_live(is_last, &mut teller, cancel).await,
        };
        self.usage.add(teller.used);
        let input = self.heard(&outcome, &mut teller);
        self.note_turn(teller, &outcome);
        if let TurnOutcome::Answered(answer, _) = outcome {
            return Some(RunInput::Answered(answer));
        }
        input
    }

    async fn ask_live(
        &mut self,
        is_last: bool,
        teller: &mut TurnTeller<'_>,
        cancel: &CancellationToken,
    ) -> TurnOutcome {
        if !is_last && let Some(stop) = self.spent() {
            return TurnOutcome::Exhausted(stop);
        }
        let notice = self.decide_mode();
        let plan = match self.plan() {
            Ok(plan) => plan,
            Err(fault) => return TurnOutcome::Failed(fault),
        };
        self.plan = Some(plan.clone());
        let choice = self.state.choice.of_turn(self.state.turn);
        let mut draft = TurnDraft::of(plan, &self.agent.instructions, is_last, choice);
        draft.tools = self.further_tools();
        draft.notice = notice;
        match Box::pin(self.fitted(&draft, teller, cancel)).await {
            Ok(items) => self.ask_for_turn(&draft, &items, teller, cancel).await,
            Err(outcome) => outcome,
        }
    }

    async fn ask_for_turn(
        &mut self,
        draft: &TurnDraft,
        items: &[ThreadItem],
        teller: &mut TurnTeller<'_>,
        cancel: &CancellationToken,
    ) -> TurnOutcome {
        let (is_last, plan) = (draft.is_last, &draft.plan);
        let model = Arc::clone(&self.agent.model);
        let mut request = draft.request(items, model.settings().max_tokens.into());
        let weight = model.weight(&request);
        let reserved = match self.account.reserve(tokens(weight), request.max_tokens, is_last) {
            Ok(reserved) => reserved,
            Err(stop) => return TurnOutcome::Exhausted(stop),
        };
        request.max_tokens = reserved.output_tokens;
        request.before = self.notes.as_ref().and_then(|notes| notes.sequence());
        teller.begin();
        if let Some(notice) = draft.notice.clone() {
            teller.piece(ModelDelta::OtherModel(notice));
        }
        let (mut used, began) = (Usage::default(), Instant::now());
        let since = self.noted_time();
        if std::mem::take(&mut self.past.has_lost_request) {
            // Nobody says what the one cost whose answer nobody heard.
            used.add(Usage::estimated(weight, 0));
        }
        let (answered, notes) = self.heard_out(&request, (weight, &mut used), teller, cancel).await;
        self.account.settle(reserved, &used);
        teller.used.add(used);
        let fault = answered.as_ref().ok().and_then(|answered| answered.as_ref().err());
        let (entries, took) = (items.len(), began.elapsed());
        let purpose = if is_last { RequestPurpose::LastTurn } else { RequestPurpose::Turn };
        let (tools, guidance) = (Some(draft.tool_names(MOST_TOOLS)), Some(draft.guidance()));
        let usage = used;
        self.remember(AskedRequest {
            purpose,
            tools,
            guidance,
            entries,
            weight,
            usage,
            took,
            notes,
            fault,
        });
        match answered {
            Ok(Ok(mut answer)) => {
                self.room.answered(weight, &answer.usage);
                self.note_answer(&mut answer, (plan, since, usage));
                let sources = self.sources_of(&answer, plan);
                TurnOutcome::Answered(Box::new(answer), sources)
            }
            Ok(Err(fault)) if self.room.refused(weight, &fault) => TurnOutcome::AskAgain,
            Ok(Err(fault)) => self.failed(fault),
            Err(outcome) => outcome,
        }
    }

    /// Where the tool of each call is from.
    fn sources_of(&self, answer: &ModelAnswer, plan: &Plan) -> Vec<Option<String>> {
        let names = answer.call_texts.iter().map(|call| call.name.as_str());
        let known = sources(answer, plan).into_iter().zip(names);
        let of_team = |name: &str| self.is_of_team(name).then(|| AGENTS.to_owned());
        known.map(|(source, name)| source.or_else(|| of_team(name))).collect()
    }

    /// An answer while it comes, and what was told beside it. `used` counts what it cost.
    async fn heard_out(
        &self,
        request: &ModelRequest<'_>,
        (weight, used): (usize, &mut Usage),
        teller: &mut TurnTeller<'_>,
        cancel: &CancellationToken,
    ) -> (AnsweredRequest, Vec<String>) {
        let (is_held, mut said) = (self.state.checks.gate, 0_usize);
        let mut notes = Vec::new();
        let mut pass_on = |delta: ModelDelta| {
            said += delta.words().len();
            if let ModelDelta::Retracted(note) | ModelDelta::OtherModel(note) = &delta {
                notes.push(note.clone());
            }
            if let ModelDelta::Hosted(call) = &delta {
                self.observe(call);
            }
            let is_of_answer = matches!(delta, ModelDelta::Text(_) | ModelDelta::Reasoning(_));
            if !(is_held && is_of_answer) {
                teller.piece(delta);
            }
        };
        let answered = self.asked(request, used, &mut pass_on, cancel).await;
        if answered.is_err() {
            // What was given up has cost too.
            used.add(Usage::estimated(weight, said));
        }
        // They have run, whatever is left.
        self.account.take_calls(teller.hosted);
        (answered, notes)
    }

    /// A call of the provider comes to no gate, and whoever observes that hears of it here.
    fn observe(&self, call: &HostedCall) {
        let executor = self.agent.crib.executor();
        let Some(observer) = executor.observer() else { return };
        observer.provided(ProvidedCall {
            caller: &self.caller,
            agent: &self.agent.name,
            run: self.state.id(),
            name: &call.name,
            source: call.source.as_ref(),
            arguments: &call.arguments,
            is_failed: call.is_failed,
        });
    }

    /// What the model answers; or what ends the wait for it.
    pub(super) async fn asked(
        &self,
        request: &ModelRequest<'_>,
        used: &mut Usage,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
        cancel: &CancellationToken,
    ) -> AnsweredRequest {
        let left = if request.is_last { LONGEST_DEFERRAL } else { self.time_left() };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TurnOutcome::Cancelled),
            () = self.hold.cancelled() => Err(TurnOutcome::Held),
            () = tokio::time::sleep(left) => Err(TurnOutcome::Exhausted(StopReason::Time)),
            answered = self.agent.model.answer(request, used, tell) => Ok(answered),
        }
    }

    /// Whether it waits until the model wants to be asked.
    pub(super) fn failed(&self, fault: ModelFault) -> TurnOutcome {
        let patience = self.agent.model.settings().timeouts.retry_after;
        let wait =
            fault.retry_after.filter(|wait| self.defers && fault.may_pass() && *wait > patience);
        let Some(wait) = wait else { return TurnOutcome::Failed(fault) };
        let wait = wait.as_secs().clamp(1, LONGEST_DEFERRAL.as_secs());
        TurnOutcome::Deferred { fault, wait, until: now().saturating_add(wait) }
    }

    /// Tells what a turn came to; an answer itself is left to whoever asks.
    fn heard(&mut self, outcome: &TurnOutcome, teller: &mut TurnTeller<'_>) -> Option<RunInput> {
        match outcome {
            TurnOutcome::Held => None,
            TurnOutcome::Answered(answer, sources) => {
                if !answer.call_texts.is_empty() {
                    let called = answer.call_texts.iter().zip(sources);
                    let called = called.map(|(text, source)| CalledTool {
                        call: text.clone(),
                        source: source.clone(),
                    });
                    teller.tell(RunEvent::Calls { calls: called.collect() });
                }
                None
            }
            TurnOutcome::AskAgain => Some(RunInput::GoOn),
            TurnOutcome::Compacted { hides, text } => {
                let (hides, text) = (*hides, text.clone());
                teller.tell(RunEvent::Compacted { hides, text: text.clone() });
                Some(RunInput::Compacted { hides, text })
            }
            TurnOutcome::Failed(fault) => Some(RunInput::ModelFailed(fault.clone())),
            TurnOutcome::Deferred { fault, wait, until } => {
                self.deferred_until = Some(*until);
                let told = format!("{}; it is asked again in {wait} s, at {until}", fault.message);
                teller.tell(RunEvent::Notice { text: told });
                None
            }
            TurnOutcome::Exhausted(stop) => Some(RunInput::Exhausted(*stop)),
            TurnOutcome::Cancelled => Some(RunInput::Cancelled),
        }
    }

    /// Whether the model is not to be asked yet.
    pub(super) fn deferral(&mut self, cancel: &CancellationToken) -> Option<RunPause> {
        let waits = |until: &u64| *until > now() && !cancel.is_cancelled();
        // What is played is not waited for.
        let until = self.deferred_until.filter(|until| !self.tape.is_played() && waits(until));
        self.deferred_until = until;
        until.map(|until| RunPause::Deferred { until })
    }
}

/// What a turn has beside the thread.
pub(super) struct TurnDraft {
    plan: Plan,
    instructions: String,
    /// What the tools want said beside the words of the user.
    beside: String,
    pub(super) is_last: bool,
    choice: CallChoice,
    /// What the model is shown beside the tools of the plan.
    tools: Vec<CallerTool>,
    /// What is told of the turn before all.
    notice: Option<String>,
}

impl TurnDraft {
    /// `instructions`: what the author of the agent says. What the tools want said of themselves
    /// stands behind it.
    fn of(plan: Plan, instructions: &str, is_last: bool, choice: CallChoice) -> Self {
        let guidance = plan.guidance();
        let parts = [instructions, guidance.system.as_str()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let instructions = parts.join("\n\n");
        let reminders = guidance.reminders.iter().map(String::as_str);
        let cite = plan.run().sources().next().map(|_| CITE);
        let beside = std::iter::once(guidance.user.as_str()).chain(reminders).chain(cite);
        let beside: Vec<_> = beside.filter(|text| !text.is_empty()).collect();
        Self {
            instructions,
            beside: beside.join("\n\n"),
            plan,
            is_last,
            choice,
            tools: Vec::new(),
            notice: None,
        }
    }

    pub(super) fn request<'a>(
        &'a self,
        items: &'a [ThreadItem],
        max_tokens: u64,
    ) -> ModelRequest<'a> {
        ModelRequest {
            instructions: &self.instructions,
            items,
            plan: Some(&self.plan),
            is_last: self.is_last,
            choice: &self.choice,
            caller_tools: &self.tools,
            max_tokens,
            before: None,
        }
    }

    /// All that the tools wanted said.
    pub(super) fn guidance(&self) -> String {
        let guidance = self.plan.guidance().system;
        let parts = [guidance.as_str(), self.beside.as_str()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }

    /// The first of the tools that the model is shown.
    pub(super) fn tool_names(&self, most: usize) -> Vec<String> {
        let shown = self.plan.tools().filter(|tool| tool.exposure != Exposure::Hidden);
        shown.take(most).map(|tool| tool.listed.spec.name.to_string()).collect()
    }

    /// Bytes of what stands beside the words of the user.
    pub(super) fn guidance_size(&self) -> usize {
        self.beside.len()
    }

    /// The thread with what the tools want said, at the last words of the user. The log has it not:
    /// it is of this request alone.
    pub(super) fn guided<'a>(&self, items: &'a [ThreadItem]) -> Cow<'a, [ThreadItem]> {
        let last = items.iter().rposition(|item| matches!(item, ThreadItem::User { .. }));
        let Some(last) = last.filter(|_| !self.beside.is_empty()) else {
            return Cow::Borrowed(items);
        };
        let mut items = items.to_vec();
        if let Some(ThreadItem::User { parts }) = items.get_mut(last) {
            parts.push(InputPart::Text { text: self.beside.clone() });
        }
        Cow::Owned(items)
    }
}
