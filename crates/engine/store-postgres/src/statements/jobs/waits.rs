//! What runs wait for: that a ticket is decided, or a moment.

use std::time::Duration;

use super::column;
use crate::session::{Answer, Session};
use crate::statements::NOW;

/// How soon a run is looked at whose ticket is over already, in milliseconds.
const SOON: i64 = 5_000;

/// Keeps tickets as they are until the end of the transaction: whoever decides about one of them
/// either sees what waits for it, or is seen by whoever begins to wait.
pub(super) async fn lock_tickets(
    session: &Session,
    settled: &[String],
    waiting: &[String],
) -> Answer<()> {
    let lock = "SELECT 1 FROM tickets WHERE ticket = ANY ($1::text[]) OR ticket IN \
                (SELECT json_array_elements_text(tickets::json) FROM runs \
                WHERE id = ANY ($2::text[])) ORDER BY ticket FOR UPDATE";
    session.rows(lock, &[&settled, &waiting]).await?;
    Ok(())
}

/// Notes what runs wait for. A ticket that is in the memory of a replica is not among it: that
/// replica knows when it is decided.
pub(super) async fn put(session: &Session, runs: &[String]) -> Answer<()> {
    let put = format!(
        "INSERT INTO run_waits (run, ticket, at) \
         SELECT runs.id, tickets.ticket, greatest(tickets.expires, {NOW} + $2) FROM runs \
         CROSS JOIN LATERAL json_array_elements_text(runs.tickets::json) AS named (ticket) \
         JOIN tickets ON tickets.ticket = named.ticket WHERE runs.id = ANY ($1::text[]) \
         AND stage = 'waiting' AND parent IS NULL ON CONFLICT DO NOTHING"
    );
    session.change(&put, &[&runs, &SOON]).await?;
    Ok(())
}

/// Has a run wait for a moment alone.
pub(super) async fn put_moment(session: &Session, run: &str, pause: Duration) -> Answer<()> {
    let put = format!(
        "INSERT INTO run_waits (run, ticket, at) VALUES ($1, '', {NOW} + $2) \
         ON CONFLICT (run, ticket) DO UPDATE SET at = excluded.at"
    );
    let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX / 2);
    session.change(&put, &[&run, &pause]).await?;
    Ok(())
}

/// They wait for nothing any more.
pub(super) async fn clear(session: &Session, runs: &[String]) -> Answer<()> {
    session.change("DELETE FROM run_waits WHERE run = ANY ($1::text[])", &[&runs]).await?;
    Ok(())
}

/// The runs that waited for one of these tickets.
pub(super) async fn wake(session: &Session, tickets: &[String]) -> Answer<Vec<String>> {
    let wake = "DELETE FROM run_waits WHERE ticket = ANY ($1::text[]) AND ticket <> '' \
                RETURNING run";
    column(&session.rows(wake, &[&tickets]).await?, 0)
}

/// The runs that waited for a ticket whose call a dead replica had begun.
pub(super) async fn wake_of_dead(session: &Session, dead: i64) -> Answer<Vec<String>> {
    let wake = "DELETE FROM run_waits WHERE ticket IN (SELECT key FROM keys \
                WHERE state = 'running' AND owner = $1) RETURNING run";
    column(&session.rows(wake, &[&dead]).await?, 0)
}

/// The runs whose time has come, some at a time.
pub(super) async fn wake_due(session: &Session) -> Answer<Vec<String>> {
    let wake = format!(
        "DELETE FROM run_waits WHERE (run, ticket) IN (SELECT run, ticket FROM run_waits \
         WHERE at <= {NOW} ORDER BY at LIMIT 256 FOR UPDATE SKIP LOCKED) RETURNING run"
    );
    column(&session.rows(&wake, &[]).await?, 0)
}

/// Whether there are any.
pub(super) async fn any_due(session: &Session) -> Answer<bool> {
    let any = format!("SELECT EXISTS (SELECT 1 FROM run_waits WHERE at <= {NOW})");
    session.row(&any, &[]).await?.map_or(Ok(false), |row| Ok(row.try_get(0)?))
}
