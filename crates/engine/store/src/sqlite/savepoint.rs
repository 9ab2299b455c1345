//! Some writes of a group that stand or fall together.

use rusqlite::Connection;

/// Does all of it or nothing: what fails is undone before the group goes on, unless SQLite has
/// undone the whole.
pub(crate) fn all_or_nothing<T>(
    connection: &Connection,
    work: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.execute_batch("SAVEPOINT part")?;
    let done = work();
    let end = if done.is_ok() { "RELEASE part" } else { "ROLLBACK TO part; RELEASE part" };
    if !connection.is_autocommit() {
        connection.execute_batch(end)?;
    }
    done
}
