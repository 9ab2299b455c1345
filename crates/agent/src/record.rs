//! What a run writes down while it goes on.

pub(crate) mod cassette;
pub(crate) mod response_entry;
pub(crate) mod run_tape;
pub(crate) mod tape;
pub(crate) mod words;

use std::sync::Arc;

use toolcrib_core::{
    LedgerError, NewRun, RunLedger, RunLedgerError, RunStage, RunStep, TicketId, failpoint,
};

use crate::event::RunEvent;
use crate::event::stored::{input_row, packed};
use crate::item::ThreadItem;
use crate::saved::SavedRun;
use tape::TapeEntry;

/// The way from a run to its rows.
pub(crate) struct RunRecord {
    ledger: Arc<dyn RunLedger>,
    id: String,
    /// Steps that were written.
    steps: u64,
    /// Items of the thread that were written.
    items: usize,
    /// What was told and is not written yet.
    told: Vec<RunEvent>,
}

impl RunRecord {
    /// One of a run of which nothing is written yet.
    pub(crate) fn new(ledger: Arc<dyn RunLedger>, id: String) -> Self {
        Self { ledger, id, steps: 0, items: 0, told: Vec::new() }
    }

    /// One that goes on behind what was written.
    pub(crate) fn after(ledger: Arc<dyn RunLedger>, id: String, steps: u64, items: usize) -> Self {
        Self { ledger, id, steps, items, told: Vec::new() }
    }

    pub(crate) fn note(&mut self, event: RunEvent) {
        self.told.push(event);
    }

    /// Writes the first step.
    pub(crate) async fn begin(
        &mut self,
        run: NewRun,
        saved: &SavedRun,
        items: &[ThreadItem],
        tape: &[TapeEntry],
    ) -> Result<(), RunLedgerError> {
        let step = self.step(saved, items, (RunStage::Running, Vec::new()), tape)?;
        self.ledger.create(run, step).await?;
        self.wrote(items);
        Ok(())
    }

    /// Writes what came since the step before.
    pub(crate) async fn write(
        &mut self,
        saved: &SavedRun,
        items: &[ThreadItem],
        stands: (RunStage, Vec<TicketId>),
        tape: &[TapeEntry],
    ) -> Result<(), RunLedgerError> {
        let step = self.step(saved, items, stands, tape)?;
        self.ledger.advance(&self.id, step).await?;
        self.wrote(items);
        Ok(())
    }

    fn wrote(&mut self, items: &[ThreadItem]) {
        failpoint::reached("run written");
        self.steps += 1;
        self.items = items.len();
        self.told.clear();
    }

    fn step(
        &self,
        saved: &SavedRun,
        items: &[ThreadItem],
        (stage, tickets): (RunStage, Vec<TicketId>),
        tape: &[TapeEntry],
    ) -> Result<RunStep, LedgerError> {
        let new = items.get(self.items..).unwrap_or_default();
        let items = new.iter().map(serde_json::to_string).collect::<Result<_, _>>();
        let events = packed(&self.told).iter().map(serde_json::to_string).collect();
        let events: Result<Vec<_>, _> = events;
        let mut events = events.map_err(LedgerError::new)?;
        for entry in tape {
            events.push(input_row(entry).map_err(LedgerError::new)?);
        }
        Ok(RunStep {
            number: self.steps,
            stage,
            tickets,
            state: serde_json::to_string(saved).map_err(LedgerError::new)?,
            items_from: self.items,
            items: items.map_err(LedgerError::new)?,
            events,
        })
    }
}
