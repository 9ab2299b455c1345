//! The SQLite file: opened, read by a pool, written by one thread, and pruned.
mod execute;
pub(crate) mod file;
mod prune;
pub(crate) mod read_pool;
pub(crate) mod savepoint;
pub(crate) mod writer;
