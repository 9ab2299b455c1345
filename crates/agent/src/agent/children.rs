//! The runs that work for a run.
//!
//! Read in this order: `work` (they are driven at the same time), `delegate` (calls that become
//! tasks), `begin` (a run for a task, new or taken up again), `answers` (what came of it).

pub(super) mod answers;
mod begin;
mod delegate;
pub(super) mod work;
