//! Runs of agents, as a ledger keeps them: it knows where they stand and nothing of what they do.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::error::LedgerError;
use super::ticket::TicketId;
use crate::BoxFuture;
use crate::call::caller::Caller;

/// Keeps runs. Equal items of one tenant are kept once, however many runs have them.
pub trait RunLedger: Send + Sync {
    /// Begins a run of a thread, with its first step. A thread has one run at a time that is not
    /// ended: another is refused with [`RunLedgerError::Busy`].
    fn create(&self, run: NewRun, step: RunStep) -> BoxFuture<'_, Result<(), RunLedgerError>>;

    /// Writes a step of a run, all of it or nothing; when this resolves it outlives the process.
    /// One that does not follow the step before it is refused with [`RunLedgerError::Moved`], and
    /// so is every step of a run that has ended.
    fn advance<'a>(
        &'a self,
        run: &'a str,
        step: RunStep,
    ) -> BoxFuture<'a, Result<(), RunLedgerError>>;

    /// A run, whoever's it is, with all that is needed to go on with it.
    fn load<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Option<StoredRun>, LedgerError>>;

    /// Events of a run in order, from this number on; the first has the number 0.
    fn events<'a>(
        &'a self,
        run: &'a str,
        from: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>>;

    /// Runs of a caller, newest first, that began before the run with this number.
    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        before: Option<u64>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>>;

    /// The runs of a thread of a caller, oldest first.
    fn thread<'a>(
        &'a self,
        caller: &'a Caller,
        thread: &'a str,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>>;

    /// The runs of all callers that have not ended, oldest first.
    fn unfinished(&self) -> BoxFuture<'_, Result<Vec<RunSummary>, LedgerError>>;

    /// Removes a run of a caller that has ended, with those that worked for it; whether there was
    /// one.
    fn forget<'a>(
        &'a self,
        caller: &'a Caller,
        run: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// Writes a note beside a run, in the place of the one with its name, or takes it away (`None`);
    /// whether it did: a run that is not there has no notes, and none has more than [`MOST_NOTES`].
    /// They go with their run. A ledger that does not say otherwise keeps none.
    fn note<'a>(
        &'a self,
        _run: &'a str,
        _name: &'a str,
        _text: Option<String>,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async { Ok(false) })
    }

    /// The notes of a run with their names, in the order of these.
    fn notes<'a>(
        &'a self,
        _run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(String, String)>, LedgerError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// Notes that stand beside one run.
pub const MOST_NOTES: usize = 12;

/// What a run is from its beginning on.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// Unique among all runs.
    pub id: String,
    pub caller: Caller,
    /// Of its caller's; a run of no other's thread.
    pub thread: String,
    /// The run whose items it went on from.
    pub previous: Option<String>,
    /// The run that it works for, which drives it.
    pub parent: Option<String>,
    pub agent: String,
    /// The profile under which it works.
    pub profile: Option<String>,
    /// What was asked, as JSON.
    pub request: String,
}

/// What one step adds to a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStep {
    /// How many steps were written before it; 0 for the first.
    pub number: u64,
    pub stage: RunStage,
    /// The tickets that it waits for.
    pub tickets: Vec<TicketId>,
    /// The state of whoever drives it, as JSON, in the place of the one before.
    pub state: String,
    /// From which place on `items` stand; what stood there before is gone.
    pub items_from: usize,
    /// Items of the thread, each as JSON.
    pub items: Vec<String>,
    /// Events that follow those before, each as JSON.
    pub events: Vec<String>,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStage {
    /// Somebody drives it, or is to.
    Running,
    /// Nobody does until somebody decides about one of its tickets.
    Waiting,
    /// Nothing is added to it any more.
    Ended,
}

impl RunStage {
    pub const ALL: [Self; 3] = [Self::Running, Self::Waiting, Self::Ended];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Ended => "ended",
        }
    }
}

/// A run as it stands, without what was said.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Grows from run to run.
    pub number: u64,
    pub id: String,
    pub caller: Caller,
    pub thread: String,
    pub previous: Option<String>,
    /// The run that it works for, which drives it.
    pub parent: Option<String>,
    pub agent: String,
    pub profile: Option<String>,
    pub stage: RunStage,
    pub tickets: Vec<TicketId>,
    pub created: SystemTime,
    pub changed: SystemTime,
}

/// A run with what was said.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    pub summary: RunSummary,
    pub request: String,
    pub state: String,
    /// Steps that were written.
    pub steps: u64,
    pub items: Vec<String>,
    /// How many events it has told.
    pub events: u64,
}

/// A run was not begun, or a step of it was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunLedgerError {
    #[error("the thread has a run already that has not ended: `{run}`")]
    Busy { run: String },
    #[error("somebody else went on with the run, or it has ended")]
    Moved,
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
