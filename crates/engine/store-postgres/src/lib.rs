//! The durable record in a database of Postgres, for one process at a time.
//!
//! Read in this order: [`open`], `address`, `session`, `group`. The rows, and what is asked of
//! them, are those of `toolcrib_store`; the SQL stands in `schema` and `statements`.
//!
//! One thread writes. What has come meanwhile is one group and one transaction, and many rows of a
//! kind are one statement. The thread's session holds a lock of the database, so that no second
//! process writes beside it. Two more sessions read.

mod address;
mod error;
mod group;
mod reads;
mod session;
mod statements;

use std::path::PathBuf;
use std::sync::Arc;

use toolcrib_store::writes::shared::WriterShared;
use toolcrib_store::{Store, StoreError, StoreOptions};

use address::DatabaseAddress;
use group::PostgresGroup;
use reads::PostgresReads;

/// Opens the store in the database at `postgres://USER:PASSWORD@HOST/DATABASE`, and makes its
/// tables if they are not there. Calls that the process before left without an end get one.
pub fn open(url: &str, options: StoreOptions) -> Result<Store, StoreError> {
    let address = Arc::new(DatabaseAddress::parse(url)?);
    if options.max_bytes.is_some() {
        return Err(StoreError::Database {
            place: address.place.clone(),
            told: "is as large as its server lets it be: leave out its largest size",
            source: None,
        });
    }
    let shared = Arc::new(WriterShared::of(PathBuf::from(&address.place)));
    let reads = PostgresReads::start(Arc::clone(&address))?;
    let group = PostgresGroup::open(address, Arc::clone(&shared), options.clone())?;
    Store::over(reads, group, shared, options)
}
