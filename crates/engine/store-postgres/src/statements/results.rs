//! Kept results.

use std::sync::Arc;

use toolcrib_core::{Caller, Content, ResultHandle};
use toolcrib_store::StoreOptions;
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::results::NewResult;

use super::schema::{self, TenantLock};
use crate::error::SessionError;
use crate::session::{Answer, Session};

/// Writes it once for equal content; the tenant's oldest make room.
pub(crate) async fn write(
    session: &Session,
    result: &NewResult,
    options: &StoreOptions,
) -> Answer<ResultHandle> {
    let NewResult { tenant, subject, hash, .. } = result;
    // Others may keep the same, or make room.
    schema::lock_tenant(session, TenantLock::RESULTS, tenant).await?;
    let (hash, expires) = (&hash[..], WallTime::now().after(options.results_for).0);
    let known = session
        .row(
            "UPDATE contents SET expires = greatest(expires, $3) WHERE tenant = $1 AND hash = $2 \
             RETURNING id",
            &[tenant, &hash, &expires],
        )
        .await?;
    let content: i64 = match known {
        Some(row) => row.try_get(0)?,
        None => insert(session, result, options, expires).await?,
    };
    let handle = ResultHandle::unguessable();
    session
        .change(
            "INSERT INTO results (handle, content, tenant, subject, expires) \
             VALUES ($1, $2, $3, $4, $5)",
            &[&handle.0, &content, tenant, subject, &expires],
        )
        .await?;
    Ok(handle)
}

async fn insert(
    session: &Session,
    result: &NewResult,
    options: &StoreOptions,
    expires: i64,
) -> Answer<i64> {
    let NewResult { tenant, hash, bytes, .. } = result;
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let most = i64::try_from(options.result_bytes_per_tenant).unwrap_or(i64::MAX);
    let sum = "SELECT coalesce(sum(size), 0)::bigint FROM contents WHERE tenant = $1";
    let mut used: i64 = session.row(sum, &[tenant]).await?.map_or(Ok(0), |row| row.try_get(0))?;
    while used.saturating_add(size) > most {
        let oldest = "SELECT id, size FROM contents WHERE tenant = $1 ORDER BY id LIMIT 1";
        let Some(row) = session.row(oldest, &[tenant]).await? else { break };
        forget(session, row.try_get(0)?).await?;
        used -= i64::max(row.try_get(1)?, 0);
    }
    let row = session
        .row(
            "INSERT INTO contents (tenant, hash, size, expires, bytes) VALUES ($1, $2, $3, $4, $5) \
             RETURNING id",
            &[tenant, &&hash[..], &size, &expires, bytes],
        )
        .await?;
    Ok(row.ok_or(SessionError::Unreadable("no number"))?.try_get(0)?)
}

/// Removes a content and all handles of it.
pub(super) async fn forget(session: &Session, content: i64) -> Answer<()> {
    session.change("DELETE FROM results WHERE content = $1", &[&content]).await?;
    session.change("DELETE FROM contents WHERE id = $1", &[&content]).await?;
    Ok(())
}

/// A kept result, for the caller whose call gave it.
pub(crate) async fn kept(
    session: &Session,
    caller: &Caller,
    handle: &ResultHandle,
) -> Answer<Option<Arc<Content>>> {
    let found = session
        .row(
            "SELECT bytes FROM results JOIN contents ON contents.id = results.content \
             WHERE handle = $1 AND results.tenant = $2 AND subject = $3 AND results.expires > $4",
            &[&handle.0, &caller.tenant, &caller.subject, &WallTime::now().0],
        )
        .await?;
    let Some(row) = found else { return Ok(None) };
    let content = serde_json::from_slice(row.try_get(0)?);
    content.map(|content| Some(Arc::new(content))).map_err(|_| SessionError::Unreadable("a result"))
}

/// Until when each caller has a result that can be read: one row a caller.
pub(crate) async fn holders(
    session: &Session,
    tenant: Option<&str>,
) -> Answer<Vec<(String, String, WallTime)>> {
    let found = session
        .rows(
            "SELECT tenant, subject, max(expires) FROM results \
             WHERE $1::text IS NULL OR tenant = $1 GROUP BY tenant, subject",
            &[&tenant],
        )
        .await?;
    let read = |row: tokio_postgres::Row| {
        Ok((row.try_get(0)?, row.try_get(1)?, WallTime(row.try_get(2)?)))
    };
    found.into_iter().map(read).collect()
}
