//! The runs of this server: those that somebody drives now, and those that wait for a person.
//!
//! A run that is written down is known by its id in every process. Here stands only what this one
//! does with it: [`live_run`] has what is told of a run while it goes on, [`driver`] takes it from
//! step to step, [`recovery`] takes up what the process before left.

pub(super) mod driver;
pub(crate) mod live_run;
pub(crate) mod recovery;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use toolcrib::agent::events_of;
use toolcrib::{Caller, LedgerError, RunLedger, RunStage, TicketId};

use live_run::{LiveRun, LiveState, RunMeta, seconds};

pub(crate) struct LiveRuns {
    pub(crate) ledger: Arc<dyn RunLedger>,
    table: Mutex<LiveTable>,
}

#[derive(Default)]
struct LiveTable {
    /// Those that are driven, and those that somebody listens to.
    runs: HashMap<String, Arc<LiveRun>>,
    /// What is waited for.
    tickets: HashMap<TicketId, WaitingRun>,
}

/// A run that waits for a ticket, and how long that is good.
struct WaitingRun {
    run: String,
    until: Instant,
}

impl LiveRuns {
    pub(crate) fn new(ledger: Arc<dyn RunLedger>) -> Self {
        Self { ledger, table: Mutex::default() }
    }

    fn locked(&self) -> MutexGuard<'_, LiveTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of this caller are worked on for nobody who waits.
    pub(super) fn working(&self, caller: &Caller) -> usize {
        let table = self.locked();
        let theirs = table.runs.values().filter(|live| live.meta.caller.is(caller));
        theirs.filter(|live| live.meta.request.is_durable && live.is_driven()).count()
    }

    /// A run of this caller, whether it is driven now or not.
    pub(super) async fn find(
        &self,
        id: &str,
        caller: &Caller,
    ) -> Result<Option<Arc<LiveRun>>, LedgerError> {
        let live = self.locked().runs.get(id).cloned();
        let live = match live {
            Some(live) => Some(live),
            None => self.load(id).await?,
        };
        Ok(live.filter(|live| live.meta.caller.is(caller)))
    }

    /// The same for somebody who listens to what is still to come.
    pub(super) async fn follow(
        &self,
        id: &str,
        caller: &Caller,
    ) -> Result<Option<Arc<LiveRun>>, LedgerError> {
        let Some(found) = self.find(id, caller).await? else { return Ok(None) };
        if found.stage() == RunStage::Ended {
            return Ok(Some(found));
        }
        let mut table = self.locked();
        Ok(Some(Arc::clone(table.runs.entry(id.to_owned()).or_insert(found))))
    }

    /// A run as it was written last.
    async fn load(&self, id: &str) -> Result<Option<Arc<LiveRun>>, LedgerError> {
        let Some(stored) = self.ledger.load(id).await? else { return Ok(None) };
        let rows = self.ledger.events(id, 0, usize::MAX).await?;
        let events = events_of(&rows).map_err(LedgerError::new)?;
        let summary = stored.summary;
        let reached = LiveState {
            events,
            stage: summary.stage,
            tickets: summary.tickets.clone(),
            changed: seconds(summary.changed),
        };
        let meta = RunMeta::of(summary, &stored.request)?;
        Ok(Some(Arc::new(LiveRun::new(meta, reached))))
    }
}
