//! The SQLite file: opened, read by a pool, written by one thread, and pruned.
pub(crate) mod file;
pub(crate) mod key_claims;
pub(crate) mod prune;
pub(crate) mod read_calls;
pub(crate) mod read_pool;
pub(crate) mod retry_queue;
pub(crate) mod savepoint;
pub(crate) mod unwritten_end;
pub(crate) mod writer;
