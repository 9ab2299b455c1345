//! What is asked of the rows of tasks of clients.

use std::time::Duration;

use toolcrib_core::TaskRecord;

use crate::writes::awaited::WriteRequest;

/// Writes how far one has come; its end is never written over.
pub struct WriteClientTask {
    pub task: TaskRecord,
    pub life: Duration,
}

impl WriteRequest for WriteClientTask {
    type Answer = ();
}
