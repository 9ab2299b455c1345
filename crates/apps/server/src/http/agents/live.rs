//! The runs of this server: those that somebody drives now, and those that wait for a person.
//!
//! A run that is written down is known by its id in every process. Here stands only what this one
//! does with it: [`live_run`] has what is told of a run while it goes on, [`driver`] takes it from
//! step to step, [`recovery`] takes up what the process before left.

pub(in crate::http) mod driver;
pub(crate) mod live_run;
pub(crate) mod recovery;
pub(in crate::http) mod thread_hold;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use toolcrib_agent::events_of;
use toolcrib_auth::{AccessLevel, reach};
use toolcrib_core::{Caller, LedgerError, RunLedger, RunSummary, TicketId};

use live_run::{LiveRun, LiveState, RunMeta, is_edit, seconds};
use thread_hold::{HeldThreads, ThreadHold};

pub(crate) struct LiveRuns {
    pub(crate) ledger: Arc<dyn RunLedger>,
    /// How long the keys of calls are remembered.
    pub(crate) keys_for: Duration,
    /// Cancelled when no more is to be begun.
    stop: CancellationToken,
    table: Mutex<LiveTable>,
    /// Conversations to which somebody adds now.
    held: Arc<HeldThreads>,
}

#[derive(Default)]
struct LiveTable {
    /// Those that somebody drives or looks at; whoever does holds them.
    runs: HashMap<String, Weak<LiveRun>>,
    /// What is waited for.
    tickets: HashMap<TicketId, WaitingRun>,
}

/// A run that waits for a ticket, and how long that is good.
struct WaitingRun {
    run: String,
    until: Instant,
}

impl LiveTable {
    fn get(&self, id: &str) -> Option<Arc<LiveRun>> {
        self.runs.get(id).and_then(Weak::upgrade)
    }

    /// The one that is there; else this one is from now on, as long as somebody holds it.
    fn get_or_put(&mut self, run: Arc<LiveRun>) -> Arc<LiveRun> {
        if let Some(known) = self.get(&run.meta.id) {
            return known;
        }
        self.runs.insert(run.meta.id.clone(), Arc::downgrade(&run));
        run
    }
}

impl LiveRuns {
    pub(crate) fn new(
        ledger: Arc<dyn RunLedger>,
        keys_for: Duration,
        stop: CancellationToken,
    ) -> Self {
        Self { ledger, keys_for, stop, table: Mutex::default(), held: Arc::default() }
    }

    fn locked(&self) -> MutexGuard<'_, LiveTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps others from adding to a thread meanwhile; `None`: somebody adds to it.
    pub(in crate::http) fn hold(&self, caller: &Caller, thread: &str) -> Option<ThreadHold> {
        self.held.hold(caller, thread)
    }

    /// How many of this caller are worked on for nobody who waits.
    pub(super) fn working(&self, caller: &Caller) -> usize {
        let table = self.locked();
        let runs = table.runs.values().filter_map(Weak::upgrade);
        let theirs = runs.filter(|live| live.meta.caller.is(caller));
        theirs.filter(|live| live.meta.request.is_durable && live.is_driven()).count()
    }

    /// A run of this caller that they may see, whether it is driven now or not.
    pub(in crate::http) async fn find(
        &self,
        id: &str,
        caller: &Caller,
    ) -> Result<Option<Arc<LiveRun>>, LedgerError> {
        let live = self.locked().get(id);
        let live = match live {
            Some(live) => Some(live),
            None => self.load(id).await?,
        };
        Ok(live.filter(|live| {
            let RunMeta { agent, profile, .. } = &live.meta;
            live.meta.caller.is(caller) && is_seen(caller, agent, profile.as_deref())
        }))
    }

    /// The same for somebody who listens to what is still to come, as long as they hold it.
    pub(in crate::http) async fn follow(
        &self,
        id: &str,
        caller: &Caller,
    ) -> Result<Option<Arc<LiveRun>>, LedgerError> {
        let Some(found) = self.find(id, caller).await? else { return Ok(None) };
        let live = self.locked().get_or_put(Arc::clone(&found));
        if Arc::ptr_eq(&live, &found) && !live.is_driven() {
            // It may have gone on before it stood here; from now on whoever drives it tells this one.
            self.refresh(&live).await?;
        }
        Ok(Some(live))
    }

    /// Has a run that nobody drives told as it is written.
    async fn refresh(&self, live: &LiveRun) -> Result<(), LedgerError> {
        if let Some(stored) = self.ledger.load(&live.meta.id).await? {
            live.becomes(self.written(&stored.summary).await?);
        }
        Ok(())
    }

    /// A run as it was written last.
    async fn load(&self, id: &str) -> Result<Option<Arc<LiveRun>>, LedgerError> {
        let Some(stored) = self.ledger.load(id).await? else { return Ok(None) };
        let written = self.written(&stored.summary).await?;
        let meta = RunMeta::of(stored.summary, &stored.request)?;
        Ok(Some(Arc::new(LiveRun::new(meta, written, self.stop.clone()))))
    }

    /// How far a run has come, as it was written last.
    async fn written(&self, run: &RunSummary) -> Result<LiveState, LedgerError> {
        let rows = self.ledger.events(&run.id, 0, usize::MAX).await?;
        Ok(LiveState {
            events: events_of(&rows).map_err(LedgerError::new)?,
            stage: run.stage,
            tickets: run.tickets.clone(),
            changed: seconds(run.changed),
        })
    }

    /// Forgets those that nobody holds any more.
    fn tidy(&self) {
        self.locked().runs.retain(|_, live| live.strong_count() > 0);
    }
}

/// Whether a token sees a run of its caller: one that may not use the profile of the run does not.
/// An edit of a conversation was made under none.
pub(in crate::http) fn is_seen(caller: &Caller, agent: &str, profile: Option<&str>) -> bool {
    is_edit(agent) || reach(caller, profile) > AccessLevel::Nothing
}
