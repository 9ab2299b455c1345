//! Runs of agents in memory: truthful while the process lives, and bounded.

mod rows;
mod texts;

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolcrib_core::{
    BoxFuture, Caller, LedgerError, NewRun, RunLedger, RunLedgerError, RunStep, RunSummary,
    StoredRun,
};

use rows::RunRows;

/// Keeps the last 1,000 runs that have ended, and 256 MiB of those: the oldest go first, of the
/// caller that has most.
///
/// A run that has not ended is never forgotten.
#[derive(Default)]
pub struct MemoryRuns(Mutex<RunRows>);

impl MemoryRuns {
    fn locked(&self) -> MutexGuard<'_, RunRows> {
        // Nothing panics between the first change of a step and its last.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunLedger for MemoryRuns {
    fn create(&self, run: NewRun, step: RunStep) -> BoxFuture<'_, Result<(), RunLedgerError>> {
        Box::pin(async move { self.locked().create(run, step) })
    }

    fn advance<'a>(
        &'a self,
        run: &'a str,
        step: RunStep,
    ) -> BoxFuture<'a, Result<(), RunLedgerError>> {
        Box::pin(async move { self.locked().advance(run, step) })
    }

    fn load<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Option<StoredRun>, LedgerError>> {
        Box::pin(async move { Ok(self.locked().load(run)) })
    }

    fn events<'a>(
        &'a self,
        run: &'a str,
        from: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>> {
        Box::pin(async move { Ok(self.locked().events(run, from, limit)) })
    }

    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        before: Option<u64>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>> {
        Box::pin(async move { Ok(self.locked().list(caller, before, limit)) })
    }

    fn thread<'a>(
        &'a self,
        caller: &'a Caller,
        thread: &'a str,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>> {
        Box::pin(async move { Ok(self.locked().thread(caller, thread)) })
    }

    fn unfinished(&self) -> BoxFuture<'_, Result<Vec<RunSummary>, LedgerError>> {
        Box::pin(async move { Ok(self.locked().unfinished()) })
    }

    fn forget<'a>(
        &'a self,
        caller: &'a Caller,
        run: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move { Ok(self.locked().forget(caller, run)) })
    }

    fn note<'a>(
        &'a self,
        run: &'a str,
        name: &'a str,
        text: Option<String>,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move { Ok(self.locked().note(run, name, text)) })
    }

    fn notes<'a>(
        &'a self,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(String, String)>, LedgerError>> {
        Box::pin(async move { Ok(self.locked().notes(run)) })
    }
}
