//! The durable record in a database of Postgres, for one process at a time or for several replicas.
//!
//! Read in this order: [`open`], `address`, `session`, `progress`, `group`. The rows, and what is asked of
//! them, are those of `toolcrib_store`; the SQL stands in `schema` and `statements`.
//!
//! One thread writes. What has come meanwhile is one group and one transaction, and many rows of a
//! kind are one statement. The thread's session holds a lock of the database, so that no second
//! process writes beside it. Two more sessions read.
//!
//! Replicas share that lock. Each has a number and a lease, which another thread renews, and begins
//! each group with a look at its own row, so that nothing is written under a number that the others
//! took for dead: see `replica`.

mod address;
mod client_sessions;
mod copied_database;
mod encryption;
mod error;
mod group;
mod progress;
mod reads;
mod replica;
mod session;
mod statements;

use std::path::PathBuf;
use std::sync::Arc;

use toolcrib_store::writes::shared::WriterShared;
use toolcrib_store::{Store, StoreError, StoreOptions};

use address::DatabaseAddress;
pub use copied_database::CopiedDatabase;
use group::PostgresGroup;
use reads::PostgresReads;
pub use replica::ReplicaSettings;

/// Opens the store in the database at `postgres://USER:PASSWORD@HOST/DATABASE`, and makes its
/// tables if they are not there. Calls that the process before left without an end get one.
///
/// Another machine is spoken to by TLS, and must prove its name; `sslrootcert=FILE` names who
/// vouches for it, else those do whom the system trusts.
pub fn open(url: &str, options: StoreOptions) -> Result<Store, StoreError> {
    Database::at(url)?.open(options)
}

/// A database whose address was looked at.
pub struct Database {
    address: Arc<DatabaseAddress>,
    note: Option<PathBuf>,
    replica: Option<ReplicaSettings>,
}

impl Database {
    /// Fails if nothing may be said to it as its address says. No error repeats a password.
    pub fn at(url: &str) -> Result<Self, StoreError> {
        Ok(Self { address: Arc::new(DatabaseAddress::parse(url)?), note: None, replica: None })
    }

    /// Has a file tell the next process how far the record had come, so that it notices a database
    /// that went back in time while nobody used it.
    #[must_use]
    pub fn noting(self, file: PathBuf) -> Self {
        Self { note: Some(file), ..self }
    }

    /// Opens it as one of several that share it, all of which are opened so.
    #[must_use]
    pub fn shared(self, replica: ReplicaSettings) -> Self {
        Self { replica: Some(replica), ..self }
    }

    /// The address without its password.
    pub fn place(&self) -> &str {
        &self.address.place
    }

    pub fn open(self, options: StoreOptions) -> Result<Store, StoreError> {
        self.bounded(&options)?;
        let shared = Arc::new(WriterShared::of(PathBuf::from(&self.address.place)));
        let reads = PostgresReads::start(Arc::clone(&self.address))?;
        let note = self.note.as_deref();
        let of = (note, self.replica);
        let group = PostgresGroup::open(self.address, Arc::clone(&shared), options.clone(), of)?;
        Store::over(reads, group, shared, options)
    }

    /// Fails as [`Database::open`] would, and leaves all as it is. One that another process uses is
    /// one that can be opened.
    pub fn try_out(self, options: &StoreOptions) -> Result<(), StoreError> {
        self.bounded(options)?;
        group::try_out(self.address, self.note.as_deref())
    }

    /// The whole of it, to be read.
    pub fn source(&self) -> Result<CopiedDatabase, StoreError> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        CopiedDatabase::open(&self.address, begin)
    }

    /// The whole of it, to be written.
    pub fn target(&self) -> Result<CopiedDatabase, StoreError> {
        CopiedDatabase::open(&self.address, "BEGIN")
    }

    fn bounded(&self, options: &StoreOptions) -> Result<(), StoreError> {
        if options.max_bytes.is_none() {
            return Ok(());
        }
        Err(StoreError::Database {
            place: self.address.place.clone(),
            told: "is as large as its server lets it be: leave out its largest size".into(),
            source: None,
        })
    }
}
