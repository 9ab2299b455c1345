//! The bounds of a crib, each with a default that is safe to keep.

use std::time::Duration;

use toolcrib_json::repair;

use crate::catalog::CatalogBounds;
use crate::ledger::ticket::TicketBounds;
use crate::tool::spec::Validation;

/// Longer than anybody waits, and short enough that a clock can add it.
pub(crate) const FOREVER: Duration = Duration::from_hours(24 * 365);

/// Bounds on what one process does for its callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CribLimits {
    /// Calls of one batch that run; the rest is answered "not run".
    pub max_calls: usize,
    /// Calls of one batch that run at the same time.
    pub per_batch: usize,
    pub per_source: usize,
    pub per_tenant: usize,
    /// How long a call waits for a free place before it is answered "busy".
    pub queue: Duration,
    /// Calls that wait so at the same time; further ones are answered "busy" at once.
    pub most_queued: usize,
    /// How long a call may run, all attempts together, unless its tool says otherwise.
    pub timeout: Duration,
    /// How long a call may run whatever its tool says; `None`: as its tool says.
    pub longest_timeout: Option<Duration>,
    /// How long a started call may still answer after it was cancelled.
    pub grace: Duration,
    /// How long an answer that comes too late is still waited for, so that the record of a call
    /// that may have changed something can say how it ended.
    pub late: Duration,
    /// How long after a call whose outcome nobody knows the same call is held back, unless a
    /// person lets it run.
    pub guard: Duration,
    pub retries: u32,
    /// Wait before the first repetition; it doubles with each.
    pub backoff: Duration,
    /// Largest result that a model is shown, in bytes.
    pub max_result_bytes: usize,
    /// Images, files and data of one result that a program is given, in bytes, and all of it where
    /// nothing is cut for models; also the largest answer of a prompt or a resource.
    pub max_data_bytes: usize,
    /// How arguments meet the schema of a tool of which nobody says it; `None`: as with any tool.
    pub validation: Option<Validation>,
    pub ticket_lifetime: Duration,
    /// Questions of running calls that wait for a person at the same time.
    pub questions: usize,
    /// Those of one tenant: the people of the others must still be asked.
    pub questions_per_tenant: usize,
    /// What is read of arguments that come as text.
    pub arguments: repair::RepairBounds,
    /// What may wait for a person: read when a ledger is made.
    pub tickets: TicketBounds,
    /// What a catalog takes in: read when a crib is made.
    pub catalog: CatalogBounds,
}

impl Default for CribLimits {
    fn default() -> Self {
        Self {
            max_calls: 64,
            per_batch: 128,
            per_source: 128,
            per_tenant: 256,
            queue: Duration::from_mins(1),
            most_queued: 2_048,
            timeout: Duration::from_mins(1),
            longest_timeout: None,
            grace: Duration::from_millis(500),
            late: Duration::from_secs(30),
            guard: Duration::from_mins(10),
            retries: 2,
            backoff: Duration::from_millis(100),
            max_result_bytes: 256 * 1024,
            max_data_bytes: 16 * 1024 * 1024,
            validation: None,
            ticket_lifetime: Duration::from_mins(10),
            questions: 256,
            questions_per_tenant: 32,
            arguments: repair::RepairBounds::default(),
            tickets: TicketBounds::default(),
            catalog: CatalogBounds::default(),
        }
    }
}
