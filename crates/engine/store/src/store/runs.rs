//! The store as a ledger of runs. Whoever writes waits for the commit, so that what is read
//! afterwards has it.

use toolcrib_core::{
    BoxFuture, Caller, LedgerError, NewRun, RunLedger, RunLedgerError, RunStep, RunSummary,
    StoredRun,
};

use super::Store;
use crate::rows::runs::{NewRunRow, NewStep};
use crate::writes::job::Durability;
use crate::writes::run_requests::{AdvanceRun, CreateRun, ForgetRun, WriteNote};

impl RunLedger for Store {
    fn create(&self, run: NewRun, step: RunStep) -> BoxFuture<'_, Result<(), RunLedgerError>> {
        Box::pin(async move {
            let create = CreateRun(NewRunRow::of(run, step)?);
            self.0.writer.ask(Durability::Commit, create).await.map_err(LedgerError::from)?
        })
    }

    fn advance<'a>(
        &'a self,
        run: &'a str,
        step: RunStep,
    ) -> BoxFuture<'a, Result<(), RunLedgerError>> {
        let run = run.to_owned();
        Box::pin(async move {
            let advance = AdvanceRun { run, step: NewStep::of(step)? };
            self.0.writer.ask(Durability::Commit, advance).await.map_err(LedgerError::from)?
        })
    }

    fn load<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Option<StoredRun>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.run(run.to_owned()).await?) })
    }

    fn events<'a>(
        &'a self,
        run: &'a str,
        from: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.events(run.to_owned(), from, limit).await?) })
    }

    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        before: Option<u64>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.runs(caller.clone(), before, limit).await?) })
    }

    fn thread<'a>(
        &'a self,
        caller: &'a Caller,
        thread: &'a str,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>> {
        let thread = thread.to_owned();
        Box::pin(async move { Ok(self.0.readers.thread(caller.clone(), thread).await?) })
    }

    fn unfinished(&self) -> BoxFuture<'_, Result<Vec<RunSummary>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.unfinished().await?) })
    }

    fn forget<'a>(
        &'a self,
        caller: &'a Caller,
        run: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let forget = ForgetRun { caller: caller.clone(), run: run.to_owned() };
        Box::pin(async move { Ok(self.0.writer.ask(Durability::Commit, forget).await?) })
    }

    fn note<'a>(
        &'a self,
        run: &'a str,
        name: &'a str,
        text: Option<String>,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let write = WriteNote { run: run.to_owned(), name: name.to_owned(), text };
        Box::pin(async move { Ok(self.0.writer.ask(Durability::Commit, write).await?) })
    }

    fn notes<'a>(
        &'a self,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(String, String)>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.notes(run.to_owned()).await?) })
    }
}
