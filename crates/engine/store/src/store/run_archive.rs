//! The runs of a file, for whoever only looks: it may be another process's, and nothing of it changes.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use toolcrib_core::{RunSummary, StoredRun};

use crate::error::StoreError;
use crate::sqlite::file;
use crate::sqlite::statements::runs;

/// The form of the file from which on there are runs in it.
const WITH_RUNS: i64 = 8;

/// The runs of a store, read and never written. Unlike [`crate::Store`] it owns nothing, and is
/// there while a server has the store open.
pub struct RunArchive {
    path: PathBuf,
    connection: Connection,
    has_runs: bool,
}

impl RunArchive {
    /// Opens a file that is there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (connection, form) = file::foreign_reader(path)?;
        Ok(Self { path: path.to_owned(), connection, has_runs: form >= WITH_RUNS })
    }

    /// The runs of all callers, newest first, that began before the run with this number.
    pub fn runs(&self, before: Option<u64>, limit: usize) -> Result<Vec<RunSummary>, StoreError> {
        if !self.has_runs {
            return Ok(Vec::new());
        }
        let found = runs::all(&self.connection, before, limit);
        found.map_err(|error| StoreError::opening(&self.path, error))
    }

    /// A run, and what was written of it one after the other.
    pub fn run(&self, id: &str) -> Result<Option<(StoredRun, Vec<String>)>, StoreError> {
        if !self.has_runs {
            return Ok(None);
        }
        let fault = |error| StoreError::opening(&self.path, error);
        let Some(stored) = runs::load(&self.connection, id).map_err(fault)? else {
            return Ok(None);
        };
        // It may have gone on since.
        let most = usize::try_from(stored.events).unwrap_or(usize::MAX);
        let log = runs::events(&self.connection, id, 0, most).map_err(fault)?;
        Ok(Some((stored, log)))
    }
}
