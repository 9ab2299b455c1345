//! What stands in the threads of runs: texts, each kept once for its tenant.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::rows::runs::NewItem;

/// Puts items from a place on into a thread, for what stood there.
pub(crate) fn replace(
    connection: &Connection,
    (run, tenant): (i64, &str),
    from: i64,
    items: &[NewItem],
) -> rusqlite::Result<()> {
    let left = take_out(connection, run, from)?;
    let mut insert = connection
        .prepare_cached("INSERT INTO run_items (run, place, content) VALUES (?1, ?2, ?3)")?;
    for (place, item) in (from..).zip(items) {
        insert.execute([run, place, content(connection, tenant, item)?])?;
    }
    // After the new ones, among which what was taken out may stand again.
    sweep(connection, left)
}

/// The number of an item's content, which is written if its tenant does not have it yet.
fn content(connection: &Connection, tenant: &str, item: &NewItem) -> rusqlite::Result<i64> {
    let mut find =
        connection.prepare_cached("SELECT id FROM run_contents WHERE tenant = ?1 AND hash = ?2")?;
    let known = find.query_row(params![tenant, item.hash], |row| row.get(0)).optional()?;
    if let Some(content) = known {
        return Ok(content);
    }
    let mut insert = connection
        .prepare_cached("INSERT INTO run_contents (tenant, hash, text) VALUES (?1, ?2, ?3)")?;
    insert.insert(params![tenant, item.hash, item.text])
}

/// Removes all items of a run.
pub(crate) fn remove(connection: &Connection, run: i64) -> rusqlite::Result<()> {
    let left = take_out(connection, run, 0)?;
    sweep(connection, left)
}

/// The items of a run in their order.
pub(crate) fn of(connection: &Connection, run: i64) -> rusqlite::Result<Vec<String>> {
    let mut list = connection.prepare_cached(
        "SELECT text FROM run_items JOIN run_contents ON id = content WHERE run = ?1 \
         ORDER BY place",
    )?;
    list.query_map([run], |row| row.get(0))?.collect()
}

/// Takes items out of a run, and gives the contents that they had.
fn take_out(connection: &Connection, run: i64, from: i64) -> rusqlite::Result<Vec<i64>> {
    let mut take = connection
        .prepare_cached("DELETE FROM run_items WHERE run = ?1 AND place >= ?2 RETURNING content")?;
    take.query_map([run, from], |row| row.get(0))?.collect()
}

/// Removes those of these contents that no run has any more.
fn sweep(connection: &Connection, mut contents: Vec<i64>) -> rusqlite::Result<()> {
    contents.sort_unstable();
    contents.dedup();
    let mut remove = connection.prepare_cached(
        "DELETE FROM run_contents WHERE id = ?1 \
         AND NOT EXISTS (SELECT 1 FROM run_items WHERE content = ?1)",
    )?;
    contents.into_iter().try_for_each(|content| remove.execute([content]).map(|_| ()))
}
