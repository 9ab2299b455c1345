//! Removes what is too old, a bounded number of rows at a time.

use rusqlite::{Connection, params};

use crate::clock::WallTime;
use crate::options::StoreOptions;
use crate::sqlite::statements::{results, runs, sessions};

/// Rows of one kind that one step looks at.
const A_STEP: i64 = 500;

/// Contents that one step removes: each may be large.
const CONTENTS: i64 = 8;

/// How long a ticket that cannot be redeemed any more can still say why.
const TICKETS_FOR: std::time::Duration = std::time::Duration::from_hours(24);

/// One step; whether there may be more to do.
pub(crate) fn step(connection: &Connection, options: &StoreOptions) -> rusqlite::Result<bool> {
    let now = WallTime::now();
    let calls = calls(connection, options, now)?;
    let tickets = connection
        .prepare_cached(
            "DELETE FROM tickets WHERE seq IN \
             (SELECT seq FROM tickets WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
        )?
        .execute(params![now.before(TICKETS_FOR), A_STEP])?;
    // A running call holds its key; when a process ends, its keys run no more.
    let keys = connection
        .prepare_cached(
            "DELETE FROM keys WHERE seq IN (SELECT seq FROM keys WHERE expires <= ?1 \
             AND state <> 'running' ORDER BY expires LIMIT ?2)",
        )?
        .execute(params![now, A_STEP])?;
    let results = connection
        .prepare_cached(
            "DELETE FROM results WHERE handle IN \
             (SELECT handle FROM results WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
        )?
        .execute(params![now, A_STEP])?;
    let contents = contents(connection, now)?;
    let runs = runs(connection, options, now)?;
    let sessions = sessions::forget(connection, now, A_STEP)?;
    Ok(calls + tickets + keys + results + contents + runs + sessions > 0)
}

fn calls(
    connection: &Connection,
    options: &StoreOptions,
    now: WallTime,
) -> rusqlite::Result<usize> {
    let mut last = connection.prepare_cached("SELECT coalesce(max(seq), 0) FROM calls")?;
    let last: i64 = last.query_row([], |row| row.get(0))?;
    let beyond = last.saturating_sub(i64::try_from(options.most_calls).unwrap_or(i64::MAX));
    // The oldest have the lowest numbers; those among them that still run are passed over.
    let mut delete = connection.prepare_cached(
        "DELETE FROM calls WHERE seq IN (SELECT seq FROM \
         (SELECT seq, planned, ending FROM calls ORDER BY seq LIMIT ?1) \
         WHERE ending IS NOT NULL AND (planned <= ?2 OR seq <= ?3))",
    )?;
    delete.execute(params![A_STEP, now.before(options.calls_for), beyond])
}

/// Each goes whole, so that a step is one at the least, and more only while they have few rows.
fn runs(connection: &Connection, options: &StoreOptions, now: WallTime) -> rusqlite::Result<usize> {
    let mut last = connection.prepare_cached("SELECT coalesce(max(number), 0) FROM runs")?;
    let last: i64 = last.query_row([], |row| row.get(0))?;
    let beyond = last.saturating_sub(i64::try_from(options.most_calls).unwrap_or(i64::MAX));
    let by_age = "SELECT number, items + events FROM runs INDEXED BY runs_ended \
         WHERE stage = 'ended' AND changed <= ?1 ORDER BY changed LIMIT ?2";
    let by_number = "SELECT number, items + events FROM runs INDEXED BY runs_ended_begun \
         WHERE stage = 'ended' AND number <= ?1 ORDER BY number LIMIT ?2";
    let (mut removed, mut room) = (0, A_STEP);
    for (sql, bound) in [(by_age, now.before(options.calls_for).0), (by_number, beyond)] {
        let mut find = connection.prepare_cached(sql)?;
        let found = find.query_map([bound, A_STEP], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: rusqlite::Result<Vec<(i64, i64)>> = found.collect();
        for (number, rows) in found? {
            room = room.saturating_sub(rows.saturating_add(1));
            if room < 0 && removed > 0 {
                return Ok(removed);
            }
            runs::remove(connection, number)?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn contents(connection: &Connection, now: WallTime) -> rusqlite::Result<usize> {
    let mut find = connection
        .prepare_cached("SELECT id FROM contents WHERE expires <= ?1 ORDER BY expires LIMIT ?2")?;
    let found: rusqlite::Result<Vec<i64>> =
        find.query_map(params![now, CONTENTS], |row| row.get(0))?.collect();
    let found = found?;
    for content in &found {
        results::forget(connection, *content)?;
    }
    Ok(found.len())
}
