//! What the writer is asked to do, as plain data: nothing in here knows where it is written.

pub mod awaited;
pub mod job;
pub mod key_claim;
pub mod read_calls;
pub mod requests;
pub mod retry_queue;
pub mod run_requests;
pub mod shared;
#[cfg(test)]
pub mod stop;
pub mod task;
pub mod unwritten_end;
pub mod writer;
