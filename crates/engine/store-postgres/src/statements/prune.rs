//! Removes what is too old, a bounded number of rows at a time.

use std::time::Duration;

use toolcrib_store::StoreOptions;
use toolcrib_store::clock::WallTime;

use super::schema::{self, TenantLock};
use super::{NOW, replicas, results, runs_written};
use crate::session::{Answer, Session};

/// Rows of one kind that one step looks at.
const A_STEP: i64 = 500;

/// Contents that one step removes: each may be large.
const CONTENTS: i64 = 8;

/// The lock of the one who removes old rows.
const PRUNES: i64 = 0x6372_6964;

/// How long a ticket that cannot be redeemed any more can still say why.
const TICKETS_FOR: Duration = Duration::from_hours(24);

/// One step; whether there may be more to do.
pub(crate) async fn step(session: &Session, options: &StoreOptions) -> Answer<bool> {
    let is_first = session.row("SELECT pg_try_advisory_xact_lock($1)", &[&PRUNES]).await?;
    if !is_first.is_some_and(|row| row.try_get(0).unwrap_or(false)) {
        // Another replica is at it.
        return Ok(false);
    }
    let now = WallTime::now();
    let mut removed = calls(session, options, now).await? + replicas::prune(session).await?;
    for (sql, age) in [
        (
            format!(
                "DELETE FROM tickets WHERE seq IN (SELECT seq FROM tickets \
                 WHERE expires <= {NOW} - $1::bigint ORDER BY expires LIMIT $2)"
            ),
            TICKETS_FOR,
        ),
        // A running call holds its key; when a process ends, its keys run no more.
        (
            format!(
                "DELETE FROM keys WHERE seq IN (SELECT seq FROM keys \
                 WHERE expires <= {NOW} - $1::bigint AND state <> 'running' \
                 ORDER BY expires LIMIT $2) \
                 AND expires <= {NOW} - $1::bigint AND state <> 'running'"
            ),
            Duration::ZERO,
        ),
        (
            format!(
                "DELETE FROM client_sessions WHERE name IN (SELECT name FROM client_sessions \
                 WHERE expires <= {NOW} - $1::bigint ORDER BY expires LIMIT $2) \
                 AND expires <= {NOW} - $1::bigint"
            ),
            Duration::ZERO,
        ),
        (
            format!(
                "DELETE FROM results WHERE handle IN (SELECT handle FROM results \
                 WHERE expires <= {NOW} - $1::bigint ORDER BY expires LIMIT $2)"
            ),
            Duration::ZERO,
        ),
    ] {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        removed += session.change(&sql, &[&age, &A_STEP]).await?;
    }
    let old = "SELECT id, tenant FROM contents WHERE expires <= $1 ORDER BY expires LIMIT $2";
    for row in session.rows(old, &[&now.0, &CONTENTS]).await? {
        schema::lock_tenant(session, TenantLock::RESULTS, row.try_get(1)?).await?;
        let id: i64 = row.try_get(0)?;
        // Whoever held the lock may have kept it anew.
        let is_old = "SELECT 1 FROM contents WHERE id = $1 AND expires <= $2";
        if session.row(is_old, &[&id, &now.0]).await?.is_some() {
            results::forget(session, id).await?;
        }
        removed += 1;
    }
    removed += runs(session, options, now).await?;
    Ok(removed > 0)
}

/// The number of which all up to it are too many.
async fn beyond(session: &Session, last: &str, options: &StoreOptions) -> Answer<i64> {
    let last = session.row(last, &[]).await?.map_or(Ok(0), |row| row.try_get::<_, i64>(0))?;
    Ok(last.saturating_sub(i64::try_from(options.most_calls).unwrap_or(i64::MAX)))
}

async fn calls(session: &Session, options: &StoreOptions, now: WallTime) -> Answer<u64> {
    let beyond = beyond(session, "SELECT coalesce(max(seq), 0) FROM calls", options).await?;
    // The oldest have the lowest numbers; those among them that still run are passed over.
    let delete = "DELETE FROM calls WHERE seq IN (SELECT seq FROM \
                  (SELECT seq, planned, ending FROM calls ORDER BY seq LIMIT $1) AS oldest \
                  WHERE ending IS NOT NULL AND (planned <= $2 OR seq <= $3))";
    session.change(delete, &[&A_STEP, &now.before(options.calls_for).0, &beyond]).await
}

/// Each goes whole, so that a step is one at the least, and more only while they have few rows.
async fn runs(session: &Session, options: &StoreOptions, now: WallTime) -> Answer<u64> {
    let beyond = beyond(session, "SELECT coalesce(max(number), 0) FROM runs", options).await?;
    let by_age = "SELECT number, items + events FROM runs \
                  WHERE stage = 'ended' AND changed <= $1 ORDER BY changed LIMIT $2";
    let by_number = "SELECT number, items + events FROM runs \
                     WHERE stage = 'ended' AND number <= $1 ORDER BY number LIMIT $2";
    let (mut removed, mut room) = (0, A_STEP);
    for (sql, bound) in [(by_age, now.before(options.calls_for).0), (by_number, beyond)] {
        for row in session.rows(sql, &[&bound, &A_STEP]).await? {
            let rows: i64 = row.try_get(1)?;
            room = room.saturating_sub(rows.saturating_add(1));
            if room < 0 && removed > 0 {
                return Ok(removed);
            }
            runs_written::remove(session, row.try_get(0)?).await?;
            removed += 1;
        }
    }
    Ok(removed)
}
