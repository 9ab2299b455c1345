//! Opens the file: owned by one process, ours alone to read, of a form that we know.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use toolcrib_core::failpoint;

use crate::clock::WallTime;
use crate::error::StoreError;
use crate::sqlite::statements::claimed_tickets;

/// The forms of the file, each as the change from the one before.
const STEPS: &[&str] = &[
    include_str!("../schema/1.sql"),
    include_str!("../schema/2.sql"),
    include_str!("../schema/3.sql"),
    include_str!("../schema/4.sql"),
    include_str!("../schema/5.sql"),
    include_str!("../schema/6.sql"),
    include_str!("../schema/7.sql"),
    include_str!("../schema/8.sql"),
    include_str!("../schema/9.sql"),
    include_str!("../schema/10.sql"),
    include_str!("../schema/11.sql"),
    include_str!("../schema/12.sql"),
];

/// Says that a file of SQLite is a store: "crib" in ASCII.
const APPLICATION: i64 = 0x6372_6962;

/// How long a lock of somebody else is waited for: a person may look into the file.
pub(crate) const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// The right to use a file; ends with the process, however that ends.
pub(crate) struct FileLock {
    pub(crate) path: PathBuf,
    _lock: File,
}

/// Takes the file for this process alone, and makes it if it is not there.
///
/// The lock is on a file beside it: closing any handle of the database would drop those locks
/// that SQLite holds on it.
pub(crate) fn own(path: &Path) -> Result<FileLock, StoreError> {
    let path = real(path).map_err(|error| StoreError::file(path, error))?;
    let fault = |error| StoreError::file(&path, error);
    let beside = lock_of(&path);
    let mut private = OpenOptions::new();
    private.read(true).write(true).mode(0o600);
    let lock = private.clone().create(true).truncate(false).open(beside).map_err(fault)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::Owned { path }),
        Err(TryLockError::Error(error)) => return Err(fault(error)),
    }
    match private.create_new(true).open(&path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let now = fs::metadata(&path).map_err(fault)?;
            if !now.is_file() {
                return Err(StoreError::Foreign { path });
            }
            if now.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(fault)?;
            }
        }
        Err(error) => return Err(fault(error)),
    }
    Ok(FileLock { path, _lock: lock })
}

/// Whether the file could be opened here: owned, and of a form that we know. Leaves all as it is,
/// and makes nothing that stays. One that another process has open is one that can be.
pub(crate) fn try_out(path: &Path) -> Result<(), StoreError> {
    let path = real(path).map_err(|error| StoreError::file(path, error))?;
    let beside = lock_of(&path);
    let (had_file, had_lock) = (path.exists(), beside.exists());
    let tried = match own(&path) {
        Err(StoreError::Owned { .. }) => return Ok(()),
        Ok(owned) if had_file => waits(&owned.path),
        owned => owned.map(|_| ()),
    };
    for (name, was_there) in [(&path, had_file), (&beside, had_lock)] {
        if !was_there {
            // What is not there was not made.
            let _ = fs::remove_file(name);
        }
    }
    tried
}

fn lock_of(path: &Path) -> PathBuf {
    let mut beside = path.to_owned().into_os_string();
    beside.push(".lock");
    beside.into()
}

/// One name for one file, so that two ways to it meet at one lock.
fn real(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        known => return known,
    }
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok(fs::canonicalize(directory.unwrap_or(Path::new(".")))?.join(name))
}

/// The connection that writes, with the form brought up to date and the past put in order; and how
/// many calls had no end in it.
pub(crate) fn writer(
    path: &Path,
    max_bytes: Option<u64>,
) -> Result<(Connection, usize), StoreError> {
    let fault = |error| StoreError::opening(path, error);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
    let found = form(&connection, path)?;
    if !settings(&connection, max_bytes).map_err(fault)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    migrate(&mut connection, found).map_err(fault)?;
    let interrupted = recover(&mut connection).map_err(fault)?;
    Ok((connection, interrupted))
}

/// Whether a file is one that will be opened once its disk has room. As it stands, without its log,
/// for which there is no room.
///
/// While there is a log, a file may lack pages that stand in the log alone: the one of a young
/// store was never brought home, or not to its end. That is no damage, and its first page tells the
/// form.
pub(crate) fn waits(path: &Path) -> Result<(), StoreError> {
    let mode = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let address = format!("file:{}?immutable=1", escaped(path));
    let fault = |error| StoreError::opening(path, error);
    match form(&Connection::open_with_flags(address, mode).map_err(fault)?, path) {
        Err(damaged @ StoreError::Damaged { .. }) if has_log(path) => match first_page(path) {
            Some([application, found, schema]) => {
                known(path, (application, found, schema)).map(|_| ())
            }
            None => Err(damaged),
        },
        formed => formed.map(|_| ()),
    }
}

/// Whether something was written that is not in the file itself yet.
fn has_log(path: &Path) -> bool {
    let mut log = path.to_owned().into_os_string();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// What the first page of a file of SQLite says: whose it is, its form, and the number of changes
/// of its tables (<https://www.sqlite.org/fileformat.html>, 1.3). `None`: it is none.
fn first_page(path: &Path) -> Option<[i64; 3]> {
    let mut head = [0; 100];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    head.starts_with(b"SQLite format 3\0").then_some(())?;
    let number = |start: usize| {
        let four = head.get(start..)?.first_chunk()?;
        Some(i64::from(i32::from_be_bytes(*four)))
    };
    Some([number(68)?, number(60)?, number(40)?])
}

/// A path as it stands in an address of SQLite.
fn escaped(path: &Path) -> String {
    let path = path.display().to_string();
    path.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// A connection that only reads.
pub(crate) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// The same of a file that another process may own, and the form that it has.
pub(crate) fn foreign_reader(path: &Path) -> Result<(Connection, i64), StoreError> {
    let connection = reader(path).map_err(|error| StoreError::opening(path, error))?;
    let found = form(&connection, path)?;
    Ok((connection, found))
}

fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LOCK_PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Which form the file has: 0 for a new one.
fn form(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let number = |pragma| {
        let value = connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        value.map_err(|error| StoreError::opening(path, error))
    };
    let (application, found, schema) =
        (number("application_id")?, number("user_version")?, number("schema_version")?);
    known(path, (application, found, schema))
}

/// The same of the numbers of a file.
fn known(path: &Path, numbers: (i64, i64, i64)) -> Result<i64, StoreError> {
    let path = path.to_owned();
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    match numbers {
        (0, 0, 0) => Ok(0),
        (APPLICATION, found, _) if found > known => Err(StoreError::Newer { path, found, known }),
        (APPLICATION, found, _) if found > 0 => Ok(found),
        _ => Err(StoreError::Foreign { path }),
    }
}

/// Whether the file can be written as it must be: with a log beside it.
fn settings(connection: &Connection, max_bytes: Option<u64>) -> rusqlite::Result<bool> {
    if connection.is_readonly("main")? {
        return Ok(false);
    }
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Ok(false);
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    // Arguments that were parked do not stay in free pages.
    connection.pragma_update(None, "secure_delete", "FAST")?;
    if let Some(bytes) = max_bytes {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
        let _: i64 =
            connection.pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0))?;
    }
    Ok(true)
}

fn migrate(connection: &mut Connection, found: i64) -> rusqlite::Result<()> {
    for (number, step) in (1_i64..).zip(STEPS).filter(|(number, _)| *number > found) {
        // A step that is cut off leaves the file in the form before it.
        let step_by_step = connection.transaction()?;
        step_by_step.execute_batch(step)?;
        step_by_step.pragma_update(None, "application_id", APPLICATION)?;
        step_by_step.pragma_update(None, "user_version", number)?;
        failpoint::reached("migrated");
        step_by_step.commit()?;
    }
    Ok(())
}

/// Gives an end to what the process before left without one. A call that still waited for its turn
/// was not sent; of any other nobody can say that it was not. A key is free again if nothing under
/// it had gone further than that, and so is a ticket. Gives how many calls may have taken effect.
fn recover(connection: &mut Connection) -> rusqlite::Result<usize> {
    let whole = connection.transaction()?;
    let now = WallTime::now();
    whole.execute(
        "UPDATE calls SET ending = 'not_executed', ended = ?1, interrupted = 1 \
         WHERE ending IS NULL AND NOT dispatched",
        [now],
    )?;
    let interrupted = whole.execute(
        "UPDATE calls SET ending = 'unknown', ended = ?1, interrupted = 1 WHERE ending IS NULL",
        [now],
    )?;
    claimed_tickets::reopen(&whole)?;
    whole.execute("DELETE FROM keys WHERE state = 'running' AND NOT bound", [])?;
    whole.execute("UPDATE keys SET state = 'unknown' WHERE state = 'running'", [])?;
    whole.commit()?;
    Ok(interrupted)
}
