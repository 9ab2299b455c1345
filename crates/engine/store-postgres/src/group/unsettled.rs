//! A group of which nobody knows whether it is there: its confirmation did not come.

use toolcrib_store::StoreError;
use toolcrib_store::writes::job::WriteJob;
use toolcrib_store::writes::unwritten_end::UnwrittenEnd;

/// What it was to write.
pub(super) struct UnsettledGroup {
    /// Its number.
    pub(super) number: i64,
    pub(super) owed: Vec<UnwrittenEnd>,
    /// Whoever asked waits until the database says it.
    pub(super) jobs: Vec<WriteJob>,
    /// Why its confirmation did not come.
    pub(super) error: StoreError,
}
