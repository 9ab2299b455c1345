//! Kept results, as SQLite is told of them.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use toolcrib_core::{Caller, Content, ResultHandle};

use crate::clock::WallTime;
use crate::options::StoreOptions;
use crate::rows::results::NewResult;
use crate::sqlite::savepoint::all_or_nothing;

/// Writes it once for equal content; the tenant's oldest make room.
pub(crate) fn write(
    connection: &Connection,
    result: &NewResult,
    options: &StoreOptions,
) -> rusqlite::Result<ResultHandle> {
    // Two tables change or none.
    all_or_nothing(connection, || write_both(connection, result, options))
}

fn write_both(
    connection: &Connection,
    result: &NewResult,
    options: &StoreOptions,
) -> rusqlite::Result<ResultHandle> {
    let expires = WallTime::now().after(options.results_for);
    let mut again = connection.prepare_cached(
        "UPDATE contents SET expires = max(expires, ?3) WHERE tenant = ?1 AND hash = ?2 \
         RETURNING id",
    )?;
    let known = again
        .query_row(params![result.tenant, result.hash, expires], |row| row.get::<_, i64>(0))
        .optional()?;
    let content = match known {
        Some(content) => content,
        None => insert(connection, result, options, expires)?,
    };
    let handle = ResultHandle::unguessable();
    let mut name = connection.prepare_cached(
        "INSERT INTO results (handle, content, tenant, subject, expires) \
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    name.execute(params![handle.0, content, result.tenant, result.subject, expires])?;
    Ok(handle)
}

fn insert(
    connection: &Connection,
    result: &NewResult,
    options: &StoreOptions,
    expires: WallTime,
) -> rusqlite::Result<i64> {
    let size = i64::try_from(result.bytes.len()).unwrap_or(i64::MAX);
    let most = i64::try_from(options.result_bytes_per_tenant).unwrap_or(i64::MAX);
    let mut sum = connection
        .prepare_cached("SELECT coalesce(sum(size), 0) FROM contents WHERE tenant = ?1")?;
    let mut used: i64 = sum.query_row([&result.tenant], |row| row.get(0))?;
    while used.saturating_add(size) > most {
        let mut oldest = connection.prepare_cached(
            "SELECT id, size FROM contents WHERE tenant = ?1 ORDER BY id LIMIT 1",
        )?;
        let oldest = oldest.query_row([&result.tenant], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((id, freed)) = oldest.optional()? else { break };
        forget(connection, id)?;
        used -= i64::max(freed, 0);
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO contents (tenant, hash, size, expires, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    insert.insert(params![result.tenant, result.hash, size, expires, result.bytes])
}

/// Removes a content and all handles of it.
pub(crate) fn forget(connection: &Connection, content: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM results WHERE content = ?1")?.execute([content])?;
    connection.prepare_cached("DELETE FROM contents WHERE id = ?1")?.execute([content])?;
    Ok(())
}

/// A kept result, for the caller whose call gave it.
pub(crate) fn kept(
    connection: &Connection,
    caller: &Caller,
    handle: &ResultHandle,
) -> rusqlite::Result<Option<Arc<Content>>> {
    let mut find = connection.prepare_cached(
        "SELECT bytes FROM results JOIN contents ON contents.id = results.content \
         WHERE handle = ?1 AND results.tenant = ?2 AND subject = ?3 AND results.expires > ?4",
    )?;
    let whose = params![handle.0, caller.tenant, caller.subject, WallTime::now()];
    let bytes = find.query_row(whose, |row| row.get::<_, Vec<u8>>(0)).optional()?;
    let read = |bytes: Vec<u8>| {
        serde_json::from_slice(&bytes).map(Arc::new).map_err(|error| {
            let blob = rusqlite::types::Type::Blob;
            rusqlite::Error::FromSqlConversionFailure(0, blob, error.into())
        })
    };
    bytes.map(read).transpose()
}

/// Until when each caller has a result that can be read: one row a caller.
pub(crate) fn holders(
    connection: &Connection,
    tenant: Option<&str>,
) -> rusqlite::Result<Vec<(String, String, WallTime)>> {
    let mut list = connection.prepare_cached(
        "SELECT tenant, subject, max(expires) FROM results INDEXED BY results_of_caller \
         WHERE tenant = ?1 OR ?1 IS NULL GROUP BY tenant, subject",
    )?;
    let rows = list.query_map([tenant], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}
