//! Tools that are missing when another process goes on with a run, because their source is away.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use toolcrib_core::Call;

use super::super::AgentRun;

/// How long the source of a call is waited for. A call that was begun may have its answer there, so
/// that it is worth more than a turn; a source that is gone for good ends no run by itself.
const PATIENCE: Duration = Duration::from_mins(5);
/// How soon it is looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

impl AgentRun {
    /// Waits until the tools of calls that a process before may have begun are there, as long as a
    /// source that could have them starts or is away.
    pub(super) async fn await_sources(&self, calls: &[Call], cancel: &CancellationToken) {
        let last = Instant::now() + self.time_left().min(PATIENCE);
        while self.misses_one(calls) && Instant::now() < last {
            tokio::select! {
                () = sleep(LOOK_AGAIN) => {}
                () = cancel.cancelled() => return,
            }
        }
    }

    fn misses_one(&self, calls: &[Call]) -> bool {
        let crib = self.crib();
        let (Ok(plan), missing) = (self.plan_in(crib), crib.missing()) else { return false };
        calls.iter().any(|call| {
            let name = call.name.as_str();
            plan.get(name).is_none() && missing(&self.caller, name, plan.catalog()).is_some()
        })
    }
}
