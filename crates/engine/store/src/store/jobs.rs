//! Runs that any of the processes that share a record may take.

use std::collections::HashMap;
use std::time::Duration;

use crate::error::StoreError;
use crate::reads::JobLoad;
use crate::store::Store;
use crate::writes::job::Durability;
use crate::writes::run_requests::job_requests::{ClaimRuns, HoldRun, ReleaseRun, RunHold};

impl Store {
    /// Takes up to so many runs that are ready, fairly among their tenants: this process has them
    /// until it gives them back, or is taken for dead. A process that is alone is given none.
    pub async fn claim_runs(&self, most: usize) -> Result<Vec<String>, StoreError> {
        self.0.writer.ask(Durability::Commit, ClaimRuns { most }).await
    }

    /// Takes this run, whether it is ready or not; whether this process has it from now on. Whoever
    /// has it looks at it again, unless it is taken from them.
    pub async fn hold_run(&self, run: &str, hold: RunHold) -> Result<bool, StoreError> {
        let asked = HoldRun { run: run.to_owned(), hold };
        self.0.writer.ask(Durability::Commit, asked).await
    }

    /// Gives a run back. One that is to go on is ready after the pause; one that waits for a person
    /// is ready once somebody has decided, and at once if that was meanwhile.
    pub async fn release_run(&self, run: &str, pause: Duration) -> Result<(), StoreError> {
        let release = ReleaseRun { run: run.to_owned(), pause };
        self.0.writer.ask(Durability::Commit, release).await
    }

    /// How many events each of these runs has told; of one that is gone nothing.
    pub async fn event_counts(
        &self,
        runs: Vec<String>,
    ) -> Result<HashMap<String, u64>, StoreError> {
        self.0.readers.event_counts(runs).await
    }

    /// Whether any run is ready for a process. A look that writes nothing.
    pub async fn any_ready(&self) -> Result<bool, StoreError> {
        self.0.readers.any_ready().await
    }

    /// What there is to do, with what is of a tenant.
    pub async fn job_load(&self, tenant: &str) -> Result<JobLoad, StoreError> {
        self.0.readers.load(tenant.to_owned()).await
    }
}
