//! What others see of the calls: observers, spans of outgoing requests, failpoints of tests.
pub mod failpoint;
pub(crate) mod observer;
pub(crate) mod outbound;
