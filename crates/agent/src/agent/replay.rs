//! A run that is played again: the loop is the real one, and what came to it comes from its record.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolcrib_core::{Caller, PlanRequest, Run, Toolset};
use toolcrib_engine::Crib;
use url::Url;

use super::check::CheckPolicy;
use super::drift::{CallDrift, LiveTools};
use super::{Agent, AgentRun, RunOrder, RunPause};
use crate::budget::Budget;
use crate::event::RunEvent;
use crate::item::ThreadItem;
use crate::model::{CallChoice, ModelApi, ModelClient, ModelSettings};
use crate::record::cassette::{Cassette, CassetteError, CassetteTape};
use crate::record::run_tape::{RunTape, TapePlayer};
use crate::record::tape::{TapeAgent, TapeEntry};
use crate::run::RunInput;

/// What a replay gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// What the loop told, in order; the record has the same.
    pub events: Vec<RunEvent>,
    /// Of calls that were made live: how each differs from what is on record.
    pub drift: Vec<CallDrift>,
}

/// A run cannot be played, or is not what it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// The record contradicts itself: what is wrong, behind so many events that are right.
    #[error("the record was changed or is damaged, behind event {after}: {what}")]
    Damaged { after: usize, what: String },
    #[error("{0}")]
    Differs(Box<ReplayDifference>),
}

/// The first place at which a replay is not what is on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayDifference {
    pub place: ReplayPlace,
    /// As JSON; `None`: there is none.
    pub recorded: Option<String>,
    /// As JSON; `None`: there is none.
    pub replayed: Option<String>,
}

/// A place in the record of a run; the first has the number 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayPlace {
    Event(usize),
    /// In the thread.
    Item(usize),
}

impl std::fmt::Display for ReplayDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
        match self.place {
            ReplayPlace::Event(number) => write!(f, "event {number} differs")?,
            ReplayPlace::Item(number) => write!(f, "item {number} of the thread differs")?,
        }
        write!(f, "\n  recorded: {}", side(&self.recorded))?;
        write!(f, "\n  replayed: {}", side(&self.replayed))
    }
}

/// Compares what is told with what is on record, while it is told.
struct EventCheck {
    recorded: Vec<String>,
    told: Vec<RunEvent>,
    difference: Option<ReplayDifference>,
}

impl EventCheck {
    fn hear(&mut self, event: RunEvent) {
        // The first difference counts.
        if self.difference.is_some() {
            return;
        }
        let number = self.told.len();
        let replayed = serde_json::to_string(&event).unwrap_or_default();
        match self.recorded.get(number) {
            Some(recorded) if *recorded == replayed => self.told.push(event),
            recorded => {
                self.difference = Some(ReplayDifference {
                    place: ReplayPlace::Event(number),
                    recorded: recorded.cloned(),
                    replayed: Some(replayed),
                });
            }
        }
    }

    /// What was not told.
    fn finish(&mut self) {
        let number = self.told.len();
        if let (None, Some(recorded)) = (&self.difference, self.recorded.get(number)) {
            self.difference = Some(ReplayDifference {
                place: ReplayPlace::Event(number),
                recorded: Some(recorded.clone()),
                replayed: None,
            });
        }
    }
}

impl Cassette {
    /// Plays the run: the real loop, with the model and the tools as they are on record. Nothing is
    /// asked and nothing runs.
    ///
    /// # Errors
    /// The first event or item that is not the one on record.
    pub async fn replay(&self) -> Result<Replay, ReplayError> {
        self.play(None).await
    }

    /// The same, and every call is made as well, so far as `live` lets it: the run hears what is on
    /// record, and what differs is told beside it.
    pub async fn replay_with(&self, live: &LiveTools) -> Result<Replay, ReplayError> {
        self.play(Some(live)).await
    }

    async fn play(&self, live: Option<&LiveTools>) -> Result<Replay, ReplayError> {
        let CassetteTape { head, entries, saved, items, pool, events } = self.tape()?;
        let bytes = events.iter().map(String::len).sum();
        let thread = items.get(..head.items).unwrap_or_default().to_vec();
        let mut player = TapePlayer::new(entries, items.clone(), pool);
        if live.is_some() {
            player.stop_at_batches();
        }
        let order = RunOrder {
            agent: stand_in(&head.agent.dialect)?,
            caller: Arc::new(Caller::local()),
            thread: Vec::new(),
            sources: Vec::new(),
            caller_tools: Vec::new(),
            choice: CallChoice::Free,
            waits_for_people: true,
        };
        let mut run = AgentRun::new(order);
        run.state = saved.state.begun(thread);
        run.state.run = Run::with_sources(head.sources);
        run.state.checks = head.agent.checks;
        run.next = run.state.again();
        run.tape = RunTape::Played(Box::new(player));
        let check = EventCheck { recorded: events, told: Vec::new(), difference: None };
        let mut playing = RunPlayer { run, check, bytes, drift: Vec::new() };
        playing.play(live).await?;
        playing.compare(&items)?;
        Ok(Replay { events: playing.check.told, drift: playing.drift })
    }
}

/// A run that is being played.
struct RunPlayer {
    run: AgentRun,
    check: EventCheck,
    /// Of all events on record: no more is told.
    bytes: usize,
    drift: Vec<CallDrift>,
}

impl RunPlayer {
    async fn play(&mut self, live: Option<&LiveTools>) -> Result<(), ReplayError> {
        let never = CancellationToken::new();
        loop {
            let check = &mut self.check;
            let pause = self.run.go(&mut |event| check.hear(event), &never).await;
            if self.check.difference.is_some() || self.fault().is_some() {
                return Ok(());
            }
            if matches!(pause, RunPause::Ended(_)) {
                return self.is_over();
            }
            if let Some(live) = live {
                live.compare(&mut self.run, &mut self.drift).await;
            }
            let Some(player) = self.run.tape.player() else { return Ok(()) };
            if live.is_some() && matches!(player.front(), Some(TapeEntry::Batch(_))) {
                player.let_pass();
                // One that stands where no batch is to be run is found out below.
                if matches!(pause, RunPause::Held) && self.run.expects_batch() {
                    continue;
                }
            }
            if !self.comes()? {
                return Ok(());
            }
        }
    }

    /// Lets come what comes from outside, up to what the loop brings about itself; `false`: there
    /// is no more.
    fn comes(&mut self) -> Result<bool, ReplayError> {
        let mut has_come = false;
        loop {
            let Some(player) = self.run.tape.player() else { return Ok(false) };
            match player.front() {
                None => return Ok(has_come),
                Some(
                    TapeEntry::Turn(_)
                    | TapeEntry::Batch(_)
                    | TapeEntry::Judged(_)
                    | TapeEntry::Waiting(_)
                    | TapeEntry::Ended { .. }
                    | TapeEntry::Begun(_),
                ) if has_come => return Ok(true),
                Some(_) => {}
            }
            let Some(entry) = player.next() else { return Ok(has_come) };
            self.take(entry)?;
            has_come = true;
        }
    }

    fn take(&mut self, entry: TapeEntry) -> Result<(), ReplayError> {
        match entry {
            TapeEntry::Resumed(TapeAgent { dialect, checks }) => {
                self.run.agent = stand_in(&dialect)?;
                self.run.state.checks = checks;
            }
            TapeEntry::Decided { ticket, response } => {
                let response =
                    self.run.tape.player().map(|player| response.response(&mut player.pool));
                let Some(Ok(response)) = response else {
                    return Err(self.damaged("the result of a decided call is not on record"));
                };
                let waiting = self.run.state.waiting_calls();
                let under = waiting.iter().filter(|one| one.ticket == ticket).count();
                if response.text().len().saturating_mul(under) > self.bytes {
                    return Err(self.damaged("a decided call says more than all events"));
                }
                let check = &mut self.check;
                self.run.hear(&ticket, response, &mut |event| check.hear(event));
            }
            TapeEntry::Lapsed { ticket, may_have_run } => {
                self.run.come(RunInput::Lapsed { ticket, may_have_run });
            }
            TapeEntry::Used(used) => self.run.usage.add(used),
            TapeEntry::GoOn => self.run.come(RunInput::GoOn),
            TapeEntry::HandBack => self.run.come(RunInput::HandBack),
            TapeEntry::Cancelled => self.run.come(RunInput::Cancelled),
            TapeEntry::Abandoned => self.run.come(RunInput::Abandoned),
            TapeEntry::Begun(_)
            | TapeEntry::Turn(_)
            | TapeEntry::Batch(_)
            | TapeEntry::Judged(_)
            | TapeEntry::Waiting(_)
            | TapeEntry::Ended { .. } => {
                return Err(self.damaged("what came next does not belong where the run stands"));
            }
        }
        Ok(())
    }

    fn is_over(&mut self) -> Result<(), ReplayError> {
        let rest = self.run.tape.player().and_then(TapePlayer::next);
        match rest {
            None => Ok(()),
            Some(_) => Err(self.damaged("something came behind its end")),
        }
    }

    fn fault(&mut self) -> Option<String> {
        self.run.tape.player().and_then(|player| player.fault.clone())
    }

    fn damaged(&self, what: &str) -> ReplayError {
        ReplayError::Damaged { after: self.check.told.len(), what: what.to_owned() }
    }

    /// What was told, and the thread that came of it, with what is on record.
    fn compare(&mut self, recorded: &[ThreadItem]) -> Result<(), ReplayError> {
        if let Some(what) = self.fault().filter(|_| self.check.difference.is_none()) {
            return Err(self.damaged(&what));
        }
        self.check.finish();
        if let Some(difference) = self.check.difference.take() {
            return Err(ReplayError::Differs(Box::new(difference)));
        }
        let replayed = self.run.items();
        // As they are read back: some numbers are written in more than one way.
        let read = |item: &ThreadItem| {
            let written = serde_json::to_string(item).unwrap_or_default();
            serde_json::from_str::<ThreadItem>(&written).ok()
        };
        for number in 0..recorded.len().max(replayed.len()) {
            let (there, here) = (recorded.get(number), replayed.get(number));
            if there.cloned() == here.and_then(read) {
                continue;
            }
            let told = |item: &ThreadItem| serde_json::to_string(item).unwrap_or_default();
            let difference = ReplayDifference {
                place: ReplayPlace::Item(number),
                recorded: there.map(told),
                replayed: here.map(told),
            };
            return Err(ReplayError::Differs(Box::new(difference)));
        }
        Ok(())
    }
}

/// An agent that asks nobody and has no tool, and tells results in this dialect.
fn stand_in(dialect: &str) -> Result<Arc<Agent>, CassetteError> {
    let api = ModelApi::WORDS.into_iter().find(|(name, _)| *name == dialect);
    let unreadable = |what: String| CassetteError::Unreadable(what);
    let (_, api) = api.ok_or_else(|| unreadable(format!("there is no dialect `{dialect}`")))?;
    let nowhere =
        Url::parse("http://127.0.0.1:9/").map_err(|error| unreadable(error.to_string()))?;
    let model = ModelClient::new(ModelSettings::new(api, nowhere, "recorded"));
    let model = model.map_err(|fault| unreadable(fault.message))?;
    Ok(Arc::new(Agent {
        name: String::new(),
        description: String::new(),
        instructions: String::new(),
        model: Arc::new(model),
        crib: Crib::of(Toolset::default()),
        wishes: PlanRequest::default(),
        budget: Budget::default(),
        checks: CheckPolicy::default(),
        team: None,
    }))
}
