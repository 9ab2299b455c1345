//! The durable record: calls, tickets, kept results and keys in one SQLite file.
//!
//! Read in this order: [`Store`], [`Options`], [`Filter`], [`Key`]. The SQL stands in
//! `schema`.
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
mod beginning;
mod calls;
mod error;
mod file;
mod history;
mod holders;
mod kept;
mod keys;
mod options;
mod owed;
mod part;
mod prune;
mod readers;
mod reading;
mod state;
mod store;
mod tickets;
mod told;
mod wall;
mod writer;

pub use address::path;
pub use error::StoreError;
pub use history::{CallRecord, Cursor, Decider, Filter, Page};
pub use kept::Piece;
pub use keys::{Begun, Key};
pub use options::Options;
pub use state::{KnownEnd, State};
pub use store::{Store, open};
