//! The SQLite file: opened, read by a pool, written by one thread, and pruned. Besides the errors
//! that tell of it, nothing else of this crate names SQLite's library.
pub(crate) mod copied_file;
mod execute;
pub(crate) mod file;
pub(crate) mod group;
mod prune;
pub(crate) mod read_pool;
mod reads;
mod savepoint;
pub(crate) mod statements;
