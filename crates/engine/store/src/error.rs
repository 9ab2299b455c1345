//! What can go wrong with the file.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;
use toolcrib_core::LedgerError;

/// The store cannot be opened, written or read. One fault may be told to many who wait.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error(
        "a store cannot be opened at an address of {0}: write `sqlite://` and a path, or a path"
    )]
    Address(&'static str),
    #[error("the store `{path}` is in use by another process: end that one, or name another file")]
    Owned { path: PathBuf },
    #[error(
        "the store `{path}` was written by a newer release (its form is {found}, this release \
         knows {known}): use that release, or name another file"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("`{path}` is the file of something else: name another file")]
    Foreign { path: PathBuf },
    #[error(
        "the store `{path}` cannot be written, or its disk cannot keep a log beside it: allow \
         this process to write it, or put it on a disk of this machine"
    )]
    ReadOnly { path: PathBuf },
    #[error("the store `{path}` is damaged: put a copy back, or move it away to begin anew")]
    Damaged { path: PathBuf, source: Arc<rusqlite::Error> },
    #[error("the store `{path}` is full: make room on its disk, or raise its limit")]
    Full { path: PathBuf, source: Arc<rusqlite::Error> },
    #[error(
        "the disk did not confirm what was written to `{path}`: look at the disk and start anew"
    )]
    Unsynced { path: PathBuf },
    #[error("cannot use the store `{path}`")]
    Unusable { path: PathBuf, source: Arc<rusqlite::Error> },
    #[error(
        "cannot open the store `{path}`: its directory must be there, and this process must be \
         allowed to write in it"
    )]
    File { path: PathBuf, source: Arc<io::Error> },
    #[error("a row of the store `{path}` cannot be read: it is of another release or damaged")]
    Unreadable { path: PathBuf },
    #[error("the store `{place}` {told}")]
    Database {
        /// Its address without the password.
        place: String,
        told: Cow<'static, str>,
        source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    },
    #[error(
        "the store `{path}` was not written: this process has a fault, which its log tells; it \
         tries again"
    )]
    Panicked { path: PathBuf },
    #[error("the store `{place}` holds something already: name one that is empty")]
    Occupied { place: String },
    #[error(
        "of `{table}` {copied} of {of} rows came to `{place}`, which was left as it was: try again"
    )]
    Miscopied { place: String, table: &'static str, copied: u64, of: u64 },
    /// What was copied may be there as a whole, or not at all.
    #[error(
        "the store `{place}` did not confirm the copy: look at what it holds, or copy again into \
         an empty one"
    )]
    Unconfirmed { place: String, source: Arc<StoreError> },
    #[error("the store `{path}` was closed")]
    Closed { path: PathBuf },
    #[error("{what} may have {most} bytes at most: use a shorter one")]
    TooLong { what: &'static str, most: usize },
}

impl StoreError {
    /// A fault of SQLite as what it means for the file.
    pub(crate) fn of(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if is_unsynced(&error) {
            return Self::Unsynced { path };
        }
        if matches!(
            error,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
        ) {
            return Self::Unreadable { path };
        }
        let source = Arc::new(error);
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, source }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path, source },
            _ => Self::Unusable { path, source },
        }
    }

    /// The same where the file is opened: there a disk without room for the index of the log has a
    /// code of its own.
    pub(crate) fn opening(path: &Path, error: rusqlite::Error) -> Self {
        let code = error.sqlite_error().map(|error| error.extended_code);
        if code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) {
            return Self::Full { path: path.to_owned(), source: Arc::new(error) };
        }
        Self::of(path, error)
    }

    pub(crate) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), source: Arc::new(error) }
    }
}

/// Whether the system could not bring what was written to the disk: trying again would find the
/// pages clean and lose them.
pub(crate) fn is_unsynced(error: &rusqlite::Error) -> bool {
    const UNSYNCED: [i32; 2] =
        [rusqlite::ffi::SQLITE_IOERR_FSYNC, rusqlite::ffi::SQLITE_IOERR_DIR_FSYNC];
    error.sqlite_error().is_some_and(|error| UNSYNCED.contains(&error.extended_code))
}

impl From<StoreError> for LedgerError {
    fn from(error: StoreError) -> Self {
        Self::new(error)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn each_fault_of_sqlite_says_what_it_means_for_the_file() {
        let told = |code| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            StoreError::of(Path::new("crib.db"), error).to_string()
        };
        let begins = [
            (ffi::SQLITE_IOERR_FSYNC, "the disk did not confirm what was written to `crib.db`"),
            (ffi::SQLITE_IOERR_WRITE, "cannot use the store `crib.db`"),
            (ffi::SQLITE_FULL, "the store `crib.db` is full"),
            (ffi::SQLITE_CORRUPT, "the store `crib.db` is damaged"),
            (ffi::SQLITE_NOTADB, "the store `crib.db` is damaged"),
            (ffi::SQLITE_BUSY, "cannot use the store `crib.db`"),
        ];
        for (code, begin) in begins {
            assert!(told(code).starts_with(begin), "{}", told(code));
        }
        let no_room = ffi::Error::new(ffi::SQLITE_IOERR_SHMSIZE);
        let no_room = rusqlite::Error::SqliteFailure(no_room, None);
        let opening = StoreError::opening(Path::new("crib.db"), no_room).to_string();
        assert_eq!(
            opening,
            "the store `crib.db` is full: make room on its disk, or raise its limit"
        );
    }
}
