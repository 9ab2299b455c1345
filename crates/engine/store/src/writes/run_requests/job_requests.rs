//! What is asked of runs that any of the processes that share a record may take.

use std::time::Duration;

use crate::writes::awaited::WriteRequest;

/// Takes ready runs for this process, fairly among tenants. Answers their ids.
pub struct ClaimRuns {
    pub most: usize,
}

impl WriteRequest for ClaimRuns {
    type Answer = Vec<String>;
}

/// Which run is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunHold {
    /// One that nobody has.
    Free,
    /// One that another process may have, which writes nothing of it then.
    Any,
}

/// Takes one run, whether it is ready or not. Answers whether this process has it from then on;
/// else whoever has it looks at it again.
pub struct HoldRun {
    pub run: String,
    pub hold: RunHold,
}

impl WriteRequest for HoldRun {
    type Answer = bool;
}

/// Gives a run back that this process has.
pub struct ReleaseRun {
    pub run: String,
    /// How long nobody takes it, if it is to go on and waits for no person.
    pub pause: Duration,
}

impl WriteRequest for ReleaseRun {
    type Answer = ();
}
