//! What a door keeps beside a run.

use rusqlite::{Connection, OptionalExtension as _, params};
use toolcrib_core::MOST_NOTES;

/// Writes a note in the place of the one with its name, or takes it away; whether it was written. A
/// run that is not there has none.
pub(crate) fn write(
    connection: &Connection,
    run: &str,
    name: &str,
    text: Option<&str>,
) -> rusqlite::Result<bool> {
    let mut find = connection.prepare_cached("SELECT number FROM runs WHERE id = ?1")?;
    let found: Option<i64> = find.query_row([run], |row| row.get(0)).optional()?;
    let Some(number) = found else { return Ok(false) };
    let Some(text) = text else {
        let sql = "DELETE FROM run_notes WHERE run = ?1 AND name = ?2";
        return Ok(connection.prepare_cached(sql)?.execute(params![number, name])? > 0);
    };
    // The one who writes is alone.
    let sql = "SELECT count(*) FROM run_notes WHERE run = ?1 AND name <> ?2";
    let others: i64 =
        connection.prepare_cached(sql)?.query_row(params![number, name], |row| row.get(0))?;
    if usize::try_from(others).is_ok_and(|others| others >= MOST_NOTES) {
        return Ok(false);
    }
    let sql = "INSERT OR REPLACE INTO run_notes (run, name, text) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![number, name, text])?;
    Ok(true)
}

/// The notes of a run with their names, in the order of these.
pub(crate) fn of(connection: &Connection, run: &str) -> rusqlite::Result<Vec<(String, String)>> {
    let mut list = connection.prepare_cached(
        "SELECT name, text FROM run_notes WHERE run = (SELECT number FROM runs WHERE id = ?1) \
         ORDER BY name",
    )?;
    list.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Removes those of a run that goes.
pub(super) fn remove(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM run_notes WHERE run = ?1")?.execute([number])?;
    Ok(())
}
