//! One batch of calls over REST: its job, its events, its idempotency key and who may read its
//! reply.
pub(crate) mod active_batches;
pub(crate) mod events;
pub(crate) mod idempotency;
pub(crate) mod job;
pub(crate) mod replay_access;
