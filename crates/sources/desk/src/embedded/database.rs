//! The file: opened, brought to the form of today, and asked off the threads that serve.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::backend::{BackendError, BackendErrorKind};

/// The forms of the file, each as the change from the one before.
const STEPS: &[&str] = &[concat!(include_str!("calendar.sql"), include_str!("mail.sql"))];

/// Says that a file of SQLite is a desk: "desk" in ASCII.
const APPLICATION: i64 = 0x6465_736b;

/// How long another process that writes is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// Why a file cannot be used; nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum DeskDatabaseError {
    #[error("the desk cannot be opened at {path}: {cause}")]
    File { path: String, cause: Box<dyn std::error::Error + Send + Sync> },
    #[error("{path} is a file of something else: name another one for the desk")]
    Foreign { path: String },
    #[error("{path} was written by a newer toolcrib (form {found}, {known} is known): update it")]
    Newer { path: String, found: i64, known: i64 },
}

/// An open desk. Cheap to clone. Several processes may have the same file open.
#[derive(Clone)]
pub struct DeskDatabase(Arc<Mutex<Connection>>);

impl DeskDatabase {
    /// Opens a file for us alone to read, and makes it if it is not there.
    pub fn open(path: &Path) -> Result<Self, DeskDatabaseError> {
        let name = || path.display().to_string();
        let fault = |cause: Box<dyn std::error::Error + Send + Sync>| DeskDatabaseError::File {
            path: name(),
            cause,
        };
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        if let Err(error) = made {
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(fault(error.into()));
            }
            let now = fs::metadata(path).map_err(|error| fault(error.into()))?;
            if now.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(path, Permissions::from_mode(0o600))
                    .map_err(|error| fault(error.into()))?;
            }
        }
        Self::of(Connection::open(path).map_err(|error| fault(error.into()))?, &name())
    }

    /// A desk that is gone with the process.
    pub fn in_memory() -> Result<Self, DeskDatabaseError> {
        let path = "memory";
        let opened = Connection::open_in_memory();
        let fault = |cause| DeskDatabaseError::File { path: path.to_owned(), cause };
        Self::of(opened.map_err(|error| fault(Box::new(error)))?, path)
    }

    fn of(mut connection: Connection, path: &str) -> Result<Self, DeskDatabaseError> {
        let fault = |error: rusqlite::Error| DeskDatabaseError::File {
            path: path.to_owned(),
            cause: Box::new(error),
        };
        connection.busy_timeout(LOCK_PATIENCE).map_err(fault)?;
        let found = form(&connection, path)?;
        settings(&connection).map_err(fault)?;
        migrate(&mut connection, found).map_err(fault)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Asks the file on a thread that may wait. `ask` makes its own transaction where it writes
    /// more than one row.
    pub async fn ask<T, F>(&self, ask: F) -> Result<T, BackendError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, BackendError> + Send + 'static,
    {
        let connection = Arc::clone(&self.0);
        let asked = tokio::task::spawn_blocking(move || {
            ask(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
        });
        asked.await.unwrap_or_else(|error| {
            Err(BackendError::new(BackendErrorKind::Broken, "the desk could not do it")
                .because(error))
        })
    }
}

/// Which form the file has: 0 for a new one.
fn form(connection: &Connection, path: &str) -> Result<i64, DeskDatabaseError> {
    let number = |pragma| {
        let value = connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        value.map_err(|error| DeskDatabaseError::File {
            path: path.to_owned(),
            cause: Box::new(error),
        })
    };
    let (application, found, schema) =
        (number("application_id")?, number("user_version")?, number("schema_version")?);
    let path = path.to_owned();
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    match (application, found, schema) {
        (0, 0, 0) => Ok(0),
        (APPLICATION, found, _) if found > known => {
            Err(DeskDatabaseError::Newer { path, found, known })
        }
        (APPLICATION, found, _) if found > 0 => Ok(found),
        _ => Err(DeskDatabaseError::Foreign { path }),
    }
}

fn settings(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

fn migrate(connection: &mut Connection, found: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(found).unwrap_or_default();
    for (step, change) in STEPS.iter().enumerate().skip(done) {
        let turn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        let now: i64 = turn.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if usize::try_from(now).unwrap_or_default() > step {
            continue;
        }
        turn.execute_batch(change)?;
        turn.pragma_update(None, "application_id", APPLICATION)?;
        turn.pragma_update(None, "user_version", now + 1)?;
        turn.commit()?;
    }
    Ok(())
}

impl From<rusqlite::Error> for BackendError {
    fn from(error: rusqlite::Error) -> Self {
        let (kind, message) = match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                (BackendErrorKind::Busy, "the desk is busy: try again")
            }
            Some(rusqlite::ErrorCode::DiskFull) => {
                (BackendErrorKind::Broken, "the disk of the desk is full: nothing was changed")
            }
            _ => {
                (BackendErrorKind::Broken, "the desk's file could not be used: nothing was changed")
            }
        };
        Self::new(kind, message).because(error)
    }
}
