//! Runs of agents and their steps.

use sha2::{Digest as _, Sha256};
use toolcrib_core::{LedgerError, NewRun, RunLedgerError, RunStage, RunStep};

/// A step that is about to be written.
pub struct NewStep {
    pub number: i64,
    pub stage: RunStage,
    pub tickets: String,
    pub state: String,
    pub items_from: i64,
    pub items: Vec<NewItem>,
    pub events: Vec<String>,
}

impl NewStep {
    pub fn of(step: RunStep) -> Result<Self, LedgerError> {
        Ok(Self {
            number: i64::try_from(step.number).unwrap_or(i64::MAX),
            stage: step.stage,
            tickets: serde_json::to_string(&step.tickets).map_err(LedgerError::new)?,
            state: step.state,
            items_from: count(step.items_from),
            items: step.items.into_iter().map(NewItem::of).collect(),
            events: step.events,
        })
    }

    /// How much a run has with it.
    pub fn after(&self, before: RunLength) -> RunLength {
        let items = self.items_from.saturating_add(count(self.items.len()));
        RunLength { items, events: before.events.saturating_add(count(self.events.len())) }
    }
}

/// A text of a thread that is about to be kept.
pub struct NewItem {
    pub hash: [u8; 32],
    pub text: String,
}

impl NewItem {
    fn of(text: String) -> Self {
        Self { hash: Sha256::digest(text.as_bytes()).into(), text }
    }
}

/// How many items and events a run has.
#[derive(Default, Clone, Copy)]
pub struct RunLength {
    pub items: i64,
    pub events: i64,
}

/// A run that is about to be written, with its first step.
pub struct NewRunRow {
    pub run: NewRun,
    pub caller: String,
    pub step: NewStep,
}

impl NewRunRow {
    pub fn of(run: NewRun, step: RunStep) -> Result<Self, LedgerError> {
        let caller = serde_json::to_string(&run.caller).map_err(LedgerError::new)?;
        Ok(Self { run, caller, step: NewStep::of(step)? })
    }
}

pub fn gap() -> RunLedgerError {
    LedgerError::new("items cannot stand behind a gap").into()
}

pub fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
