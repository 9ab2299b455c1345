//! Runs of agents, as they are read.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use toolcrib_core::{Caller, RunStage, RunSummary, StoredRun};
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::runs::count;

use super::json;
use crate::error::SessionError;
use crate::session::{Answer, Session};

/// The columns of a summary, in the order in which they are read.
const SUMMARY: &str = "number, id, caller, thread, previous, agent, profile, stage, tickets, \
     created, changed, parent";

/// A run as it stands at one moment: one statement sees one.
pub(crate) async fn load(session: &Session, run: &str) -> Answer<Option<StoredRun>> {
    let find = format!(
        "SELECT {SUMMARY}, steps, events, request, state, \
         (SELECT coalesce(array_agg(text ORDER BY place), '{{}}') FROM run_items \
         JOIN run_contents ON run_contents.id = content WHERE run = runs.number) \
         FROM runs WHERE id = $1"
    );
    let Some(row) = session.row(&find, &[&run]).await? else { return Ok(None) };
    Ok(Some(StoredRun {
        summary: summary(&row)?,
        steps: row.try_get::<_, i64>(12)?.unsigned_abs(),
        events: row.try_get::<_, i64>(13)?.unsigned_abs(),
        request: row.try_get(14)?,
        state: row.try_get(15)?,
        items: row.try_get(16)?,
    }))
}

/// Events of a run from a number on.
pub(crate) async fn events(
    session: &Session,
    run: &str,
    from: u64,
    limit: usize,
) -> Answer<Vec<String>> {
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let found = session
        .rows(
            "SELECT event FROM run_events WHERE run = (SELECT number FROM runs WHERE id = $1) \
             AND number >= $2 ORDER BY number LIMIT $3",
            &[&run, &from, &count(limit)],
        )
        .await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// The runs of a caller before a number, newest first.
pub(crate) async fn list(
    session: &Session,
    caller: &Caller,
    before: Option<u64>,
    limit: usize,
) -> Answer<Vec<RunSummary>> {
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    let of = "WHERE tenant = $1 AND subject = $2 AND number < $3 ORDER BY number DESC LIMIT $4";
    summaries(session, of, &[&caller.tenant, &caller.subject, &before, &count(limit)]).await
}

/// The runs of a thread, oldest first.
pub(crate) async fn thread(
    session: &Session,
    caller: &Caller,
    thread: &str,
) -> Answer<Vec<RunSummary>> {
    let of = "WHERE tenant = $1 AND subject = $2 AND thread = $3 ORDER BY number";
    summaries(session, of, &[&caller.tenant, &caller.subject, &thread]).await
}

/// The runs of all callers that have not ended and that no replica works on, oldest first.
pub(crate) async fn unfinished(session: &Session) -> Answer<Vec<RunSummary>> {
    let of = "WHERE stage <> 'ended' AND NOT EXISTS (SELECT 1 FROM replicas \
              WHERE replicas.id = runs.owner AND replicas.state = 'live' \
              AND lease_until >= clock_timestamp()) ORDER BY number";
    summaries(session, of, &[]).await
}

async fn summaries(
    session: &Session,
    of: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Answer<Vec<RunSummary>> {
    let found = session.rows(&format!("SELECT {SUMMARY} FROM runs {of}"), values).await?;
    found.iter().map(summary).collect()
}

/// The notes of a run with their names, in the order of these.
pub(crate) async fn notes(session: &Session, run: &str) -> Answer<Vec<(String, String)>> {
    let found = session
        .rows(
            "SELECT name, text FROM run_notes \
             WHERE run = (SELECT number FROM runs WHERE id = $1) ORDER BY name COLLATE \"C\"",
            &[&run],
        )
        .await?;
    found.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Reads the columns of a summary, which come first.
fn summary(row: &Row) -> Answer<RunSummary> {
    Ok(RunSummary {
        number: row.try_get::<_, i64>(0)?.unsigned_abs(),
        id: row.try_get(1)?,
        caller: json(row, 2)?,
        thread: row.try_get(3)?,
        previous: row.try_get(4)?,
        agent: row.try_get(5)?,
        profile: row.try_get(6)?,
        stage: stage(row.try_get(7)?)?,
        tickets: json(row, 8)?,
        created: WallTime(row.try_get(9)?).time(),
        changed: WallTime(row.try_get(10)?).time(),
        parent: row.try_get(11)?,
    })
}

fn stage(word: &str) -> Answer<RunStage> {
    let known = RunStage::ALL.into_iter().find(|stage| stage.as_str() == word);
    known.ok_or(SessionError::Unreadable("a stage"))
}
