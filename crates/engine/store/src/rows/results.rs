//! Results that were too large for a model, for a while.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest, Sha256};
use toolcrib_core::{Caller, Content, Part, ResultHandle};

use crate::clock::WallTime;
use crate::options::StoreOptions;
use crate::sqlite::savepoint::all_or_nothing;

/// A result that is about to be kept.
pub(crate) struct NewResult {
    tenant: String,
    subject: String,
    hash: [u8; 32],
    bytes: Vec<u8>,
}

impl NewResult {
    /// `None` if it has no JSON or is larger than all that its tenant may keep.
    pub(crate) fn of(caller: &Caller, content: &Content, options: &StoreOptions) -> Option<Self> {
        let bytes = serde_json::to_vec(content).ok()?;
        let fits = u64::try_from(bytes.len()).ok()? <= options.result_bytes_per_tenant;
        let Caller { tenant, subject, .. } = caller.clone();
        fits.then(|| Self { tenant, subject, hash: Sha256::digest(&bytes).into(), bytes })
    }

    /// Whose it is.
    pub(crate) fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Writes it once for equal content; the tenant's oldest make room.
    pub(crate) fn write(
        &self,
        connection: &Connection,
        options: &StoreOptions,
    ) -> rusqlite::Result<ResultHandle> {
        // Two tables change or none.
        all_or_nothing(connection, || self.write_both(connection, options))
    }

    fn write_both(
        &self,
        connection: &Connection,
        options: &StoreOptions,
    ) -> rusqlite::Result<ResultHandle> {
        let expires = WallTime::now().after(options.results_for);
        let mut again = connection.prepare_cached(
            "UPDATE contents SET expires = max(expires, ?3) WHERE tenant = ?1 AND hash = ?2 \
             RETURNING id",
        )?;
        let known = again
            .query_row(params![self.tenant, self.hash, expires], |row| row.get::<_, i64>(0))
            .optional()?;
        let content = match known {
            Some(content) => content,
            None => self.insert(connection, options, expires)?,
        };
        let handle = ResultHandle::unguessable();
        let mut name = connection.prepare_cached(
            "INSERT INTO results (handle, content, tenant, subject, expires) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        name.execute(params![handle.0, content, self.tenant, self.subject, expires])?;
        Ok(handle)
    }

    fn insert(
        &self,
        connection: &Connection,
        options: &StoreOptions,
        expires: WallTime,
    ) -> rusqlite::Result<i64> {
        let size = i64::try_from(self.bytes.len()).unwrap_or(i64::MAX);
        let most = i64::try_from(options.result_bytes_per_tenant).unwrap_or(i64::MAX);
        let mut sum = connection
            .prepare_cached("SELECT coalesce(sum(size), 0) FROM contents WHERE tenant = ?1")?;
        let mut used: i64 = sum.query_row([&self.tenant], |row| row.get(0))?;
        while used.saturating_add(size) > most {
            let mut oldest = connection.prepare_cached(
                "SELECT id, size FROM contents WHERE tenant = ?1 ORDER BY id LIMIT 1",
            )?;
            let oldest = oldest.query_row([&self.tenant], |row| Ok((row.get(0)?, row.get(1)?)));
            let Some((id, freed)) = oldest.optional()? else { break };
            forget(connection, id)?;
            used -= i64::max(freed, 0);
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO contents (tenant, hash, size, expires, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        insert.insert(params![self.tenant, self.hash, size, expires, self.bytes])
    }
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

/// A part of a kept result's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPiece {
    pub text: String,
    /// Bytes of the whole text.
    pub of: usize,
    /// Where the next piece begins, in bytes; `None` after the last.
    pub next: Option<usize>,
}

impl ResultPiece {
    /// At most `bytes` bytes from `from`, cut between characters, but one character at the least.
    pub(crate) fn cut(content: &Content, from: usize, bytes: usize) -> Self {
        let parts: Vec<_> = content.parts.iter().map(Part::in_words).collect();
        let whole = parts.join("\n\n");
        let from = whole.floor_char_boundary(from);
        let rest = whole.get(from..).unwrap_or_default();
        let one = rest.chars().next().map_or(0, char::len_utf8);
        let text = rest.get(..rest.floor_char_boundary(bytes.max(one))).unwrap_or(rest);
        let next = from + text.len();
        Self { text: text.to_owned(), of: whole.len(), next: (next < whole.len()).then_some(next) }
    }
}
