//! What comes to a run is kept on its tape, or comes from there: past this file, nothing knows which.

mod restore;

use serde_json::Map;
use toolcrib_core::{Call, Content, Plan, RawArguments, Report, Response, TicketId, ToolOutcome};
use toolcrib_dialect::{HostedCall, HostedWork};

use super::{AgentRun, Listener, now};
use crate::event::{CallEnd, CallOutcome, CalledTool, RunEvent, WaitingTool};
use crate::item::{CallText, Echo, ThreadItem};
use crate::model::{ModelAnswer, ModelDelta, ModelFault};
use crate::record::response_entry::ResponseEntry;
use crate::record::run_tape::{RunTape, TapePlayer};
use crate::record::tape::{
    AnswerEntry, BatchEntry, CallEntry, TAPE_FORM, TapeAgent, TapeEntry, TapeHead, TurnEnd,
    TurnEntry,
};
use crate::record::words::{NoSuchText, words_of};
use crate::run::RunInput;
use crate::run::verdict::CheckVerdict;
use crate::stop::StopReason;
use crate::usage::Usage;

/// Tells of a turn while it comes, and remembers what was said.
pub(super) struct TurnTeller<'a> {
    tell: Listener<'a>,
    turn: u32,
    is_last: bool,
    /// Calls that the provider made.
    pub(super) hosted: u32,
    keeps: bool,
    was_asked: bool,
    /// What it cost.
    pub(super) used: Usage,
    deltas: Vec<ModelDelta>,
}

/// What a turn came to.
pub(super) enum TurnOutcome {
    /// With the source of each called tool.
    Answered(Box<ModelAnswer>, Vec<Option<String>>),
    Failed(ModelFault),
    Deferred {
        fault: ModelFault,
        wait: u64,
        until: u64,
    },
    /// So many of the oldest items are left out of requests, and this stands for them.
    Compacted {
        hides: usize,
        text: String,
    },
    /// The model reads less than was thought.
    AskAgain,
    Exhausted(StopReason),
    Cancelled,
    /// The process ends, and another one is to ask again.
    Held,
}

/// What a batch came to.
#[derive(Default)]
pub(super) struct BatchOutcome {
    pub(super) no_plan: Option<String>,
    pub(super) progress: Vec<String>,
    pub(super) report: Report,
}

impl TurnTeller<'_> {
    /// The model is asked.
    pub(super) fn begin(&mut self) {
        self.was_asked = true;
        if !self.is_last {
            (self.tell)(RunEvent::TurnStarted { turn: self.turn });
        }
    }

    pub(super) fn piece(&mut self, delta: ModelDelta) {
        if self.keeps {
            self.deltas.push(delta.clone());
        }
        let event = match delta {
            ModelDelta::Text(delta) => RunEvent::Text { delta },
            ModelDelta::Reasoning(delta) => RunEvent::Reasoning { delta },
            ModelDelta::Retracted(why) => RunEvent::Retracted { why },
            ModelDelta::OtherModel(text) => RunEvent::Notice { text },
            ModelDelta::Hosted(call) => {
                self.hosted += 1;
                let [called, done] = hosted_events(*call, (self.turn, self.hosted));
                (self.tell)(called);
                done
            }
        };
        (self.tell)(event);
    }

    pub(super) fn tell(&mut self, event: RunEvent) {
        (self.tell)(event);
    }
}

impl AgentRun {
    pub(super) fn teller<'a>(&self, is_last: bool, tell: Listener<'a>) -> TurnTeller<'a> {
        TurnTeller {
            tell,
            turn: self.state.turn + 1,
            is_last,
            hosted: 0,
            keeps: self.tape.is_kept(),
            was_asked: false,
            used: Usage::default(),
            deltas: Vec::new(),
        }
    }

    pub(super) fn begin_tape(&mut self) {
        self.tape = RunTape::Kept(vec![TapeEntry::Begun(TapeHead {
            form: TAPE_FORM,
            items: self.state.items.len(),
            sources: self.sources(),
            agent: self.tape_agent(),
        })]);
    }

    pub(super) fn resume_tape(&mut self) {
        self.tape = RunTape::Kept(vec![TapeEntry::Resumed(self.tape_agent())]);
    }

    fn tape_agent(&self) -> TapeAgent {
        let dialect = self.agent.model.dialect().name().to_owned();
        TapeAgent { dialect, checks: self.state.checks.clone() }
    }

    /// What the tape has of the turn; `None`: the model is to be asked.
    pub(super) fn played_turn(&mut self, teller: &mut TurnTeller<'_>) -> Option<TurnOutcome> {
        let player = self.tape.player()?;
        let Some(turn) = player.turn() else { return Some(TurnOutcome::Held) };
        let number = self.state.turn + 1;
        Some(play_turn(player, *turn, teller).unwrap_or_else(|NoSuchText| {
            player.fails(format!("what turn {number} came to is not what was recorded"));
            TurnOutcome::Held
        }))
    }

    /// Keeps a turn. What is held comes again.
    pub(super) fn note_turn(&mut self, teller: TurnTeller<'_>, outcome: &TurnOutcome) {
        let TurnTeller { was_asked, used, deltas, .. } = teller;
        let (item, is_held) = (self.state.items.len(), self.state.checks.gate);
        let end = match outcome {
            TurnOutcome::Held => return,
            TurnOutcome::Answered(answer, sources) => TurnEnd::Answered(AnswerEntry {
                item,
                is_held,
                was_cut: answer.was_cut,
                is_paused: answer.is_paused,
                citations: answer.hosted.citations.clone(),
                calls: call_entries(answer, sources, is_held),
            }),
            TurnOutcome::Failed(fault) => TurnEnd::Failed(fault.clone()),
            TurnOutcome::Deferred { fault, wait, until } => {
                TurnEnd::Deferred { fault: fault.clone(), wait: *wait, until: *until }
            }
            TurnOutcome::Compacted { hides, .. } => TurnEnd::Compacted { hides: *hides, item },
            TurnOutcome::AskAgain => TurnEnd::AskAgain,
            TurnOutcome::Exhausted(stop) => TurnEnd::Exhausted(*stop),
            TurnOutcome::Cancelled => TurnEnd::Cancelled,
        };
        self.tape.note(|| {
            let said = words_of(deltas);
            TapeEntry::Turn(Box::new(TurnEntry { was_asked, said, used, end }))
        });
    }

    /// What the tape has of the judges, or what ended the wait for them; `None`: they are to be
    /// asked.
    pub(super) fn played_verdicts(
        &mut self,
    ) -> Option<Result<Vec<CheckVerdict>, Option<RunInput>>> {
        Some(match self.tape.player()?.next() {
            Some(TapeEntry::Judged(verdicts)) => Ok(verdicts),
            Some(TapeEntry::Cancelled) => Err(Some(RunInput::Cancelled)),
            _ => Err(None),
        })
    }

    /// What the tape has of the batch, and how many of its calls were let run; `None`: they are to
    /// be run.
    pub(super) fn played_batch(&mut self, tell: Listener<'_>) -> Option<(usize, BatchOutcome)> {
        let place = self.state.items.len();
        let player = self.tape.player()?;
        let BatchEntry { may_run, no_plan, progress, responses } = player.batch()?;
        let mut report = Report::default();
        for entry in &responses {
            let found = entry.response(&mut player.pool).and_then(|response| {
                if entry.is_held() { of_thread(response, player, place) } else { Ok(response) }
            });
            let Ok(response) = found else {
                player.fails(format!(
                    "the result of the call `{}` is not the one that was recorded",
                    entry.id
                ));
                break;
            };
            report.responses.push(response);
        }
        for text in &progress {
            tell(RunEvent::Progress { text: text.clone() });
        }
        Some((may_run, BatchOutcome { no_plan, progress, report }))
    }

    /// `is_held`: the events have not what the calls gave.
    pub(super) fn note_batch(&mut self, may_run: usize, is_held: bool, outcome: &BatchOutcome) {
        let entry = if is_held { ResponseEntry::held } else { ResponseEntry::of };
        self.tape.note(|| {
            TapeEntry::Batch(BatchEntry {
                may_run,
                no_plan: outcome.no_plan.clone(),
                progress: outcome.progress.clone(),
                responses: outcome.report.responses.iter().map(entry).collect(),
            })
        });
    }

    /// What is known of calls that came to wait.
    pub(super) async fn waiting_tools(&mut self, tickets: &[TicketId]) -> Vec<WaitingTool> {
        if tickets.is_empty() {
            return Vec::new();
        }
        if let Some(player) = self.tape.player() {
            return player.waiting();
        }
        let mut calls = Vec::new();
        for ticket in tickets {
            calls.extend(self.parked(ticket).await.map(WaitingTool::of));
        }
        self.tape.note(|| TapeEntry::Waiting(calls.clone()));
        calls
    }

    /// Takes what came from outside of the loop.
    pub(super) fn come(&mut self, input: RunInput) {
        if self.tape.is_kept()
            && let Some(entry) = outer_entry(&input)
        {
            self.tape.note(|| entry);
        }
        self.next = self.take(input);
        self.is_ahead = true;
    }

    /// When it ended, in seconds since 1970.
    pub(super) fn end_time(&mut self) -> u64 {
        self.tape.end(now())
    }
}

/// What tells of a call that the provider made and answered: the `number`th of the `turn`.
fn hosted_events(call: HostedCall, (turn, number): (u32, u32)) -> [RunEvent; 2] {
    let HostedCall { id, name, source, arguments, text, is_failed } = call;
    // Some APIs name none.
    let id = if id.is_empty() { format!("hosted_{turn}_{number}") } else { id };
    let outcome = if is_failed { CallOutcome::Failed } else { CallOutcome::Done };
    let more = Map::from_iter([("hosted".to_owned(), true.into())]);
    let called = CalledTool {
        call: CallText { id: id.clone(), name: name.clone(), arguments },
        source: source.map(|source| source.to_string()),
    };
    [
        RunEvent::Calls { calls: vec![called] },
        RunEvent::CallDone { response: CallEnd { id, name, outcome, text, more } },
    ]
}

/// `None`: the loop brings it about itself.
fn outer_entry(input: &RunInput) -> Option<TapeEntry> {
    match input {
        RunInput::Decided(ticket, response) => {
            let response = Box::new(ResponseEntry::of(response));
            Some(TapeEntry::Decided { ticket: ticket.clone(), response })
        }
        RunInput::Lapsed { ticket, may_have_run } => {
            Some(TapeEntry::Lapsed { ticket: ticket.clone(), may_have_run: *may_have_run })
        }
        RunInput::GoOn => Some(TapeEntry::GoOn),
        RunInput::HandBack => Some(TapeEntry::HandBack),
        RunInput::Cancelled => Some(TapeEntry::Cancelled),
        RunInput::Abandoned => Some(TapeEntry::Abandoned),
        RunInput::Answered(_)
        | RunInput::ModelFailed(_)
        | RunInput::Compacted { .. }
        | RunInput::Exhausted(_)
        | RunInput::Ran(_)
        | RunInput::Judged(_) => None,
    }
}

fn play_turn(
    player: &mut TapePlayer,
    turn: TurnEntry,
    teller: &mut TurnTeller<'_>,
) -> Result<TurnOutcome, NoSuchText> {
    if turn.was_asked {
        teller.begin();
    }
    teller.used = turn.used;
    for words in &turn.said {
        words.deltas(&mut player.pool)?.into_iter().for_each(|delta| teller.piece(delta));
    }
    Ok(match turn.end {
        TurnEnd::Answered(entry) => {
            let (answer, sources) = answer_of(&entry, &player.items).ok_or(NoSuchText)?;
            TurnOutcome::Answered(Box::new(answer), sources)
        }
        TurnEnd::Failed(fault) => TurnOutcome::Failed(fault),
        TurnEnd::Deferred { fault, wait, until } => TurnOutcome::Deferred { fault, wait, until },
        TurnEnd::Compacted { hides, item } => {
            let Some(ThreadItem::Summary { text, .. }) = player.items.get(item) else {
                return Err(NoSuchText);
            };
            TurnOutcome::Compacted { hides, text: text.clone() }
        }
        TurnEnd::AskAgain => TurnOutcome::AskAgain,
        TurnEnd::Exhausted(stop) => TurnOutcome::Exhausted(stop),
        TurnEnd::Cancelled => TurnOutcome::Cancelled,
    })
}

/// A result that was held back, as the thread got it. `place`: of the results in the thread.
fn of_thread(
    mut response: Response,
    player: &mut TapePlayer,
    place: usize,
) -> Result<Response, NoSuchText> {
    let results = match player.items.get(place) {
        Some(ThreadItem::Results { results, .. }) => results.as_slice(),
        _ => &[],
    };
    let result = results.iter().find(|result| result.call_id == response.id);
    let text = result.map_or(WITHHELD, |result| &result.text);
    player.pool.spend(text.len())?;
    response.outcome = ToolOutcome::Done(Content::text(text));
    Ok(response)
}

/// What stands in a replay for words that were never given.
const WITHHELD: &str = "(withheld)";

/// The answer that became an item of the thread, with the sources of its calls. Of one that was held
/// and did not pass, only that there was one. `None`: the item is of another kind.
fn answer_of(
    entry: &AnswerEntry,
    items: &[ThreadItem],
) -> Option<(ModelAnswer, Vec<Option<String>>)> {
    let nothing = || Echo { dialect: String::new(), messages: Vec::new() };
    let (text, call_texts, echo) = match items.get(entry.item) {
        Some(ThreadItem::Assistant { text, calls, echo: Some(echo) }) => {
            (text.clone(), calls.clone(), echo.clone())
        }
        _ if entry.is_held => {
            let calls = entry.calls.iter().map(|call| call.told.clone());
            (WITHHELD.to_owned(), calls.collect::<Option<_>>()?, nothing())
        }
        _ => return None,
    };
    let mut calls = Vec::with_capacity(call_texts.len());
    for (place, told) in call_texts.iter().enumerate() {
        calls.push(entry.calls.get(place)?.call(told));
    }
    let sources = entry.calls.iter().map(|call| call.source.clone()).collect();
    let answer = ModelAnswer {
        text,
        calls,
        call_texts,
        echo,
        usage: Usage::default(),
        was_cut: entry.was_cut,
        hosted: HostedWork { calls: Vec::new(), citations: entry.citations.clone() },
        is_paused: entry.is_paused,
        sampled: None,
    };
    Some((answer, sources))
}

/// `is_held`: the thread may not get the answer.
fn call_entries(answer: &ModelAnswer, sources: &[Option<String>], is_held: bool) -> Vec<CallEntry> {
    let calls = answer.calls.iter().zip(&answer.call_texts).enumerate();
    let entries = calls.map(|(place, (call, text))| {
        let source = sources.get(place).cloned().flatten();
        let told = is_held.then(|| text.clone());
        CallEntry { told, source, ..CallEntry::of(call, text) }
    });
    entries.collect()
}

impl CallEntry {
    fn of(call: &Call, told: &CallText) -> Self {
        let is_plain = call.wire.name == told.name && call.wire.echo.is_empty();
        Self {
            name: (call.name != told.name).then(|| call.name.clone()),
            named: call.named,
            fault: call.fault.clone(),
            wire: (!is_plain).then(|| call.wire.clone()),
            told: None,
            source: None,
        }
    }

    fn call(&self, told: &CallText) -> Call {
        let arguments = match told.arguments.as_str() {
            "" => RawArguments::Absent,
            text => RawArguments::Text(text.to_owned()),
        };
        let name = self.name.clone().unwrap_or_else(|| told.name.clone());
        let plain = Call::new(told.id.clone(), told.name.clone(), arguments);
        let wire = self.wire.clone().unwrap_or_else(|| plain.wire.clone());
        Call { name, named: self.named, fault: self.fault.clone(), wire, ..plain }
    }
}

/// Where the tool of each call is from.
pub(super) fn sources(answer: &ModelAnswer, plan: &Plan) -> Vec<Option<String>> {
    let source = |call: &Call| {
        let tool = plan.get(&call.name);
        tool.map(|tool| tool.listed.spec.origin.source.to_string())
    };
    answer.calls.iter().map(source).collect()
}
