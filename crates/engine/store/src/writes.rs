//! What the writer is asked to do, as plain data: nothing in here knows where it is written.

pub(crate) mod awaited;
pub(crate) mod job;
pub(crate) mod key_claim;
pub(crate) mod read_calls;
pub(crate) mod requests;
pub(crate) mod retry_queue;
pub(crate) mod run_requests;
pub(crate) mod shared;
#[cfg(test)]
pub(crate) mod stop;
pub(crate) mod task;
pub(crate) mod unwritten_end;
