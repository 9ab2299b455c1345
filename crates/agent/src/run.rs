//! The loop of an agent as a function: what came goes in, what is to be done comes out. It has no
//! clock, no socket and no randomness, so that the same inputs always give the same run.

pub(crate) mod end;
mod judged;
pub(crate) mod notes;
pub(crate) mod reference;
mod results;
mod slot;
pub(crate) mod team_memory;
pub(crate) mod trace;
pub(crate) mod verdict;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use toolcrib_core::{Call, Fingerprint, NextStep, Report, Response, Run, TicketId};
use toolcrib_dialect::Dialect;

use crate::item::{CallText, ResultText, ThreadItem};
use crate::model::{CallChoice, CallerTool, ModelAnswer, ModelFault};
use crate::stop::StopReason;
use end::{RunEnd, lapsed};
use reference::RunReference;
pub(crate) use slot::WaitingCall;
use slot::{CallSlot, StoredCall, in_words};
use team_memory::TeamMemory;
use verdict::{CheckRules, CheckVerdict};

/// Where a run stands. It is data: what is written and read back goes on as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Unique among all runs that are written down; empty: this one is not.
    id: String,
    /// The thread as it was, and what came since. It is written beside the rest, as it grows.
    #[serde(skip)]
    pub items: Vec<ThreadItem>,
    /// What tools left behind: used ones, references, checks.
    pub run: Run,
    pub turn: u32,
    phase: RunPhase,
    /// Tools that whoever asks runs itself.
    caller_tools: Vec<CallerTool>,
    /// What whoever asks wants of its calls.
    #[serde(default, skip_serializing_if = "CallChoice::is_free")]
    pub(crate) choice: CallChoice,
    /// To see repetitions.
    done: Vec<DoneCall>,
    /// Whether a batch is put to the model only when nothing of it waits any more.
    waits_for_people: bool,
    /// Items that the thread had when the run began; of one of an earlier release nobody knows.
    #[serde(default = "unknown_place")]
    began_at: usize,
    /// As its agent has it now.
    #[serde(skip)]
    pub(crate) checks: CheckRules,
    /// What it is to those above and below it.
    #[serde(default, skip_serializing_if = "TeamMemory::is_empty")]
    pub(crate) team: TeamMemory,
}

fn unknown_place() -> usize {
    usize::MAX
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
enum RunPhase {
    /// The model is asked; `stop`: for the last time, without tools, and why.
    Asking {
        stop: Option<StopReason>,
    },
    /// Calls run. `left`: those that the caller runs.
    Calling {
        calls: Vec<StoredCall>,
        left: Vec<CallText>,
        refused: Vec<ResultText>,
    },
    /// Some of its calls wait for a person.
    Waiting {
        slots: Vec<CallSlot>,
        left: Vec<CallText>,
        refused: Vec<ResultText>,
    },
    /// The model has answered, and judges are asked. `held`: what the thread gets once the answer
    /// has passed.
    Checking {
        stop: StopReason,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<ThreadItem>,
    },
    Ended,
}

/// A call that was made, with what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct DoneCall {
    call: Fingerprint,
    result: Fingerprint,
}

/// What comes to a run.
pub enum RunInput {
    Answered(Box<ModelAnswer>),
    ModelFailed(ModelFault),
    /// So many of the oldest items are left out of requests from now on, and this is told in their
    /// place.
    Compacted {
        hides: usize,
        text: String,
    },
    /// The budget lets no further request be made.
    Exhausted(StopReason),
    Ran(Report),
    /// What became of each check.
    Judged(Vec<CheckVerdict>),
    /// What became of the call that waited under a ticket.
    Decided(TicketId, Box<Response>),
    /// Nobody decided about a ticket in time, as far as is known.
    Lapsed {
        ticket: TicketId,
        may_have_run: bool,
    },
    /// Nobody waits for the decisions any more: the model is told that its calls wait.
    GoOn,
    /// Whoever asked is to decide: the run ends, and a next one of the thread goes on.
    HandBack,
    Cancelled,
    /// The process that drove it is gone, and nobody waits for it any more.
    Abandoned,
}

/// What is to be done next.
pub enum RunEffect {
    /// Ask the model. `is_last`: without tools.
    Ask {
        is_last: bool,
    },
    /// Run these.
    Call(Vec<Call>),
    /// Wait for decisions about these.
    Wait(Vec<TicketId>),
    /// Have the answer judged by the checks of these names.
    Check {
        names: Vec<String>,
        answer: String,
    },
    End(RunEnd),
}

impl RunState {
    /// A run that goes on with a thread. Its first effect is [`RunEffect::Ask`].
    ///
    /// `id`: of one that is written down, unique among all; else it is empty.
    pub fn new(
        id: String,
        items: Vec<ThreadItem>,
        caller_tools: Vec<CallerTool>,
        waits_for_people: bool,
    ) -> Self {
        Self {
            id,
            began_at: items.len(),
            items,
            run: Run::default(),
            turn: 0,
            phase: RunPhase::Asking { stop: None },
            caller_tools,
            choice: CallChoice::Free,
            done: Vec::new(),
            waits_for_people,
            checks: CheckRules::default(),
            team: TeamMemory::default(),
        }
    }

    /// The same at its beginning, with the thread that there was then.
    pub(crate) fn begun(&self, items: Vec<ThreadItem>) -> Self {
        let (id, tools) = (self.id.clone(), self.caller_tools.clone());
        let choice = self.choice.clone();
        let team = self.team.begun();
        Self { choice, team, ..Self::new(id, items, tools, self.waits_for_people) }
    }

    /// The same without the items of the thread.
    pub(crate) fn bare(&self) -> Self {
        Self {
            id: self.id.clone(),
            items: Vec::new(),
            run: self.run.clone(),
            turn: self.turn,
            phase: self.phase.clone(),
            caller_tools: self.caller_tools.clone(),
            choice: self.choice.clone(),
            done: self.done.clone(),
            waits_for_people: self.waits_for_people,
            began_at: self.began_at,
            checks: self.checks.clone(),
            team: self.team.clone(),
        }
    }

    /// The calls that are to run now.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let RunPhase::Calling { calls, .. } = &self.phase else { return Vec::new() };
        calls.iter().map(StoredCall::call).collect()
    }

    /// Whether the model hears of a batch only when nothing of it waits for a person any more.
    pub(crate) fn waits_for_people(&self) -> bool {
        self.waits_for_people
    }

    /// Whether the model is to be asked next.
    pub fn asks(&self) -> bool {
        matches!(self.phase, RunPhase::Asking { .. })
    }

    /// The calls that wait for a person, each with its ticket.
    pub(crate) fn waiting_calls(&self) -> Vec<WaitingCall> {
        let RunPhase::Waiting { slots, .. } = &self.phase else { return Vec::new() };
        slots.iter().filter_map(|slot| slot.waits.clone()).collect()
    }

    /// Empty of one that is not written down.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub fn caller_tools(&self) -> &[CallerTool] {
        &self.caller_tools
    }

    /// Takes what came and says what is to be done. An input that does not belong to where the run
    /// stands ends nothing and changes nothing: the same is to be done as before.
    pub fn step(&mut self, input: RunInput, dialect: &dyn Dialect) -> RunEffect {
        match self.next(input, dialect) {
            RunEffect::End(end) => {
                let references = RunReference::all(&self.run, &end.text);
                RunEffect::End(RunEnd { references, ..end })
            }
            effect @ (RunEffect::Ask { .. }
            | RunEffect::Call(_)
            | RunEffect::Wait(_)
            | RunEffect::Check { .. }) => effect,
        }
    }

    fn next(&mut self, input: RunInput, dialect: &dyn Dialect) -> RunEffect {
        let phase = std::mem::replace(&mut self.phase, RunPhase::Ended);
        match (phase, input) {
            (RunPhase::Ended, _) => self.end(StopReason::Done, String::new()),
            (RunPhase::Asking { stop }, RunInput::Answered(answer)) => self.answered(*answer, stop),
            (RunPhase::Asking { .. }, RunInput::ModelFailed(fault)) => {
                RunEffect::End(RunEnd::of_fault(fault))
            }
            (RunPhase::Asking { stop }, RunInput::Compacted { hides, text }) => {
                self.items.push(ThreadItem::Summary { text, hides });
                self.ask(stop)
            }
            (RunPhase::Asking { stop: None }, RunInput::Exhausted(reason)) => {
                self.ask(Some(reason))
            }
            (RunPhase::Asking { stop: Some(reason) }, RunInput::Exhausted(_)) => {
                self.end(reason, end::limit_told(reason))
            }
            (RunPhase::Calling { calls, left, refused }, RunInput::Ran(report)) => {
                let report = if self.holds(&report) { in_words(report) } else { report };
                self.team.keep(&report.responses);
                let slots = report.responses.iter().zip(&calls);
                let slots = slots.map(|(told, call)| CallSlot::of(told, call, dialect)).collect();
                self.ran(&report, slots, left, refused, dialect)
            }
            (RunPhase::Waiting { mut slots, left, refused }, RunInput::Decided(ticket, told)) => {
                self.run.absorb_late(&told);
                self.team.keep(std::slice::from_ref(&*told));
                decide(&mut slots, &ticket, &told, dialect);
                self.wait_or_go_on(slots, left, refused, dialect)
            }
            (
                RunPhase::Waiting { mut slots, left, refused },
                RunInput::Lapsed { ticket, may_have_run },
            ) => {
                decide(&mut slots, &ticket, &lapsed(may_have_run), dialect);
                self.wait_or_go_on(slots, left, refused, dialect)
            }
            (RunPhase::Waiting { slots, left, refused }, RunInput::GoOn) => {
                self.told(&slots, left, &refused, dialect)
            }
            (RunPhase::Waiting { slots, left, refused }, RunInput::HandBack) => {
                self.push_results(&slots, &refused, dialect);
                self.end_with(StopReason::Approval, left)
            }
            (RunPhase::Checking { stop, text, held }, RunInput::Judged(checks)) => {
                self.judged((stop, text), held, checks)
            }
            (phase, RunInput::Cancelled) => self.cancel(phase, dialect),
            (phase, RunInput::Abandoned) => self.abandon(phase, dialect),
            (phase, _) => {
                self.phase = phase;
                self.again()
            }
        }
    }

    fn cancel(&mut self, phase: RunPhase, dialect: &dyn Dialect) -> RunEffect {
        match phase {
            RunPhase::Waiting { slots, refused, .. } => {
                self.push_results(&slots, &refused, dialect);
            }
            RunPhase::Checking { held, .. } => self.leave_unjudged(held),
            RunPhase::Asking { .. } | RunPhase::Calling { .. } | RunPhase::Ended => {}
        }
        self.end(StopReason::Cancelled, String::new())
    }

    /// Ends a run that nobody waits for; calls that may have begun are told so.
    fn abandon(&mut self, phase: RunPhase, dialect: &dyn Dialect) -> RunEffect {
        match phase {
            RunPhase::Calling { calls, mut refused, .. } => {
                refused.extend(calls.iter().map(StoredCall::abandoned));
                self.push_results(&[], &refused, dialect);
            }
            RunPhase::Checking { held, .. } => self.leave_unjudged(held),
            RunPhase::Asking { .. } | RunPhase::Waiting { .. } | RunPhase::Ended => {}
        }
        self.end(StopReason::Cancelled, String::new())
    }

    /// Answers calls of this turn that are not run.
    pub fn refuse(&mut self, results: impl IntoIterator<Item = ResultText>) {
        if let RunPhase::Calling { refused, .. } = &mut self.phase {
            refused.extend(results);
        }
    }

    /// What is to be done where the run stands.
    pub fn again(&self) -> RunEffect {
        match &self.phase {
            RunPhase::Asking { stop } => RunEffect::Ask { is_last: stop.is_some() },
            RunPhase::Calling { calls, .. } => {
                RunEffect::Call(calls.iter().map(StoredCall::call).collect())
            }
            RunPhase::Waiting { slots, .. } => RunEffect::Wait(open_tickets(slots)),
            RunPhase::Checking { text, .. } => {
                RunEffect::Check { names: self.wanted_checks(), answer: text.clone() }
            }
            RunPhase::Ended => RunEffect::End(RunEnd::new(StopReason::Done, String::new())),
        }
    }

    fn ask(&mut self, stop: Option<StopReason>) -> RunEffect {
        self.phase = RunPhase::Asking { stop };
        RunEffect::Ask { is_last: stop.is_some() }
    }

    fn end(&mut self, stop: StopReason, text: String) -> RunEffect {
        self.phase = RunPhase::Ended;
        RunEffect::End(RunEnd::new(stop, text))
    }

    fn answered(&mut self, answer: ModelAnswer, stop: Option<StopReason>) -> RunEffect {
        self.turn += u32::from(stop.is_none());
        let ModelAnswer { text, calls, call_texts, echo, was_cut, hosted, is_paused, .. } = answer;
        self.run.cite(hosted.citations);
        let item = ThreadItem::Assistant {
            text: text.clone(),
            calls: call_texts.clone(),
            echo: Some(echo),
        };
        if let Some(reason) = stop {
            // It may have called something all the same; nothing of that runs.
            return self.conclude(reason, text, item);
        }
        if calls.is_empty() && is_paused {
            self.items.push(item);
            return self.ask(None);
        }
        if calls.is_empty() || self.choice == CallChoice::Never {
            let stop = if was_cut { StopReason::Length } else { StopReason::Done };
            return self.conclude(stop, text, item);
        }
        self.items.push(item);
        let is_of_caller =
            |call: &CallText| self.caller_tools.iter().any(|tool| tool.name == call.name);
        let (mut ours, mut left, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (mut call, told)) in calls.into_iter().zip(call_texts).enumerate() {
            if !self.id.is_empty() {
                call.key = Some(format!("run:{}:{}:{place}", self.id, self.turn));
            }
            if is_of_caller(&told) {
                left.push(told);
            } else if let Some(result) = self.repeated(&told) {
                refused.push(result);
            } else {
                ours.push(call);
            }
        }
        let calls = ours.iter().cloned().map(StoredCall::of).collect();
        self.phase = RunPhase::Calling { calls, left, refused };
        RunEffect::Call(ours)
    }

    fn ran(
        &mut self,
        report: &Report,
        slots: Vec<CallSlot>,
        left: Vec<CallText>,
        refused: Vec<ResultText>,
        dialect: &dyn Dialect,
    ) -> RunEffect {
        if let NextStep::HandedOver { text, .. } = self.run.absorb(report) {
            let stop = StopReason::HandedOver;
            return match self.results(&slots, &refused, dialect) {
                Some(item) => self.conclude(stop, text, item),
                None => self.end(stop, text),
            };
        }
        self.wait_or_go_on(slots, left, refused, dialect)
    }

    fn wait_or_go_on(
        &mut self,
        slots: Vec<CallSlot>,
        left: Vec<CallText>,
        refused: Vec<ResultText>,
        dialect: &dyn Dialect,
    ) -> RunEffect {
        let open = open_tickets(&slots);
        if !open.is_empty() && self.waits_for_people {
            self.phase = RunPhase::Waiting { slots, left, refused };
            return RunEffect::Wait(open);
        }
        self.told(&slots, left, &refused, dialect)
    }

    /// Puts the results into the thread; then the model goes on, or the caller has calls to run.
    fn told(
        &mut self,
        slots: &[CallSlot],
        left: Vec<CallText>,
        refused: &[ResultText],
        dialect: &dyn Dialect,
    ) -> RunEffect {
        let waiting = slots.iter().filter_map(|slot| slot.waits.as_ref());
        self.team.told_waiting.extend(waiting.map(|waiting| waiting.ticket.clone()));
        self.push_results(slots, refused, dialect);
        if left.is_empty() {
            return self.ask(None);
        }
        self.end_with(StopReason::CallerCalls, left)
    }

    /// `calls`: those that the caller runs.
    fn end_with(&mut self, stop: StopReason, calls: Vec<CallText>) -> RunEffect {
        self.phase = RunPhase::Ended;
        RunEffect::End(RunEnd { calls, ..RunEnd::new(stop, String::new()) })
    }
}

/// The tickets that are waited for, each once.
fn open_tickets(slots: &[CallSlot]) -> Vec<TicketId> {
    let waiting = slots.iter().filter_map(|slot| slot.waits.as_ref());
    let mut tickets: Vec<_> = waiting.map(|waiting| waiting.ticket.clone()).collect();
    let mut seen = HashSet::new();
    tickets.retain(|ticket| seen.insert(ticket.clone()));
    tickets
}

/// Puts the answer into the places of all calls that waited under a ticket.
fn decide(slots: &mut [CallSlot], ticket: &TicketId, told: &Response, dialect: &dyn Dialect) {
    for slot in slots.iter_mut().filter(|slot| slot.waits_under(ticket)) {
        if let Some(waiting) = slot.waits.take() {
            *slot = CallSlot::of(told, &waiting.call, dialect);
        }
    }
}
