//! The durable record: calls, tickets, kept results, keys, runs of agents and sessions of clients in
//! one SQLite file.
//!
//! Read in this order: [`Store`], [`StoreOptions`], [`CallFilter`], [`IdempotencyKey`]. The SQL
//! stands in `schema` and `sqlite/statements`.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # fn make() -> Result<(), Box<dyn std::error::Error>> {
//! let store = toolcrib_store::open("sqlite://crib.db")?;
//! let crib = toolcrib_engine::Crib::builder().ledger(Arc::new(store.clone()));
//! # Ok(())
//! # }
//! ```
//!
//! This crate opens no socket and reads no environment. One thread writes, and commits what has
//! come meanwhile as one group; a call that may change something waits for the group's sync, a
//! call that reads waits for nothing. What a killed process left without an end has one when the
//! file is opened again: `NotExecuted` if it still waited for its turn, else `Unknown`, as nobody
//! can say whether it was sent.

mod address;
#[doc(hidden)]
pub mod cache;
#[doc(hidden)]
pub mod clock;
pub mod copy;
mod error;
mod options;
#[doc(hidden)]
pub mod reads;
#[doc(hidden)]
pub mod rows;
mod sqlite;
mod store;
#[doc(hidden)]
pub mod writes;

pub use address::path;
pub use error::StoreError;
pub use options::StoreOptions;
pub use rows::call_state::{CallState, KnownEnd};
pub use rows::history::{CallCursor, CallFilter, CallPage, CallRecord, Decider};
pub use rows::keys::{IdempotencyKey, KeyState};
pub use rows::results::ResultPiece;
pub use sqlite::copied_file::CopiedFile;
pub use store::run_archive::RunArchive;
pub use store::{Store, open};
