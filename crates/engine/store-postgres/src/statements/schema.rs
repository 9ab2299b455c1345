//! Makes the tables, takes the right to write them, and gives an end to what was left without one.

use std::time::Duration;

use toolcrib_store::clock::WallTime;

use crate::error::SessionError;
use crate::session::{Answer, Session};

/// The forms of the tables, each as the change from the one before.
const STEPS: &[&str] = &[include_str!("../schema/1.sql")];

/// The lock of the one who writes: "crib" in ASCII.
const LOCK: i64 = 0x6372_6962;

/// How long a process that ends may need to let go of the lock.
const PATIENCE: Duration = Duration::from_secs(3);

const BREATH: Duration = Duration::from_millis(20);

/// Takes the right to write for as long as the session is there.
pub(crate) async fn own(session: &Session) -> Answer<()> {
    let until = tokio::time::Instant::now() + PATIENCE;
    loop {
        let row = session.row("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?;
        if row.is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Ok(());
        }
        if tokio::time::Instant::now() >= until {
            return Err(SessionError::Unfit(
                "is in use by another process: end that one, or name another database",
            ));
        }
        tokio::time::sleep(BREATH).await;
    }
}

/// Brings the tables up to the form that this release knows, and writes down who owns them.
pub(crate) async fn migrate(session: &Session, owner: &str) -> Answer<()> {
    session
        .batch(
            "CREATE SCHEMA IF NOT EXISTS toolcrib; CREATE TABLE IF NOT EXISTS toolcrib.store \
             (form integer NOT NULL, owner text NOT NULL)",
        )
        .await?;
    let found = session.row("SELECT form FROM store", &[]).await?;
    let found = found.map_or(Ok(0), |row| row.try_get::<_, i32>(0))?;
    let known = i32::try_from(STEPS.len()).unwrap_or(i32::MAX);
    if found > known {
        return Err(SessionError::Unfit(
            "was written by a newer release: use that release, or name another database",
        ));
    }
    for (number, step) in (1_i32..).zip(STEPS).filter(|(number, _)| *number > found) {
        // A step that is cut off leaves the tables in the form before it.
        session
            .batch(&format!(
                "BEGIN; {step}; DELETE FROM store; INSERT INTO store VALUES ({number}, ''); COMMIT"
            ))
            .await?;
    }
    session.change("UPDATE store SET owner = $1", &[&owner]).await?;
    Ok(())
}

/// Whether no other process has written since this one was the owner.
pub(crate) async fn is_still_of(session: &Session, owner: &str) -> Answer<()> {
    let row = session.row("SELECT owner FROM store", &[]).await?;
    if row.is_some_and(|row| row.try_get(0).is_ok_and(|found: &str| found == owner)) {
        return Ok(());
    }
    Err(SessionError::Unfit("was taken over by another process: start this one anew"))
}

/// Gives an end to what the process before left without one, as the store of a file does. Gives how
/// many calls may have taken effect.
pub(crate) async fn recover(session: &Session) -> Answer<usize> {
    session.batch("BEGIN").await?;
    let now = WallTime::now().0;
    session
        .change(
            "UPDATE calls SET ending = 'not_executed', ended = $1, interrupted = true \
             WHERE ending IS NULL AND NOT dispatched",
            &[&now],
        )
        .await?;
    let interrupted = session
        .change(
            "UPDATE calls SET ending = 'unknown', ended = $1, interrupted = true \
             WHERE ending IS NULL",
            &[&now],
        )
        .await?;
    session
        .batch(
            "UPDATE tickets SET parked = claimed, arguments = claimed_arguments, claimed = NULL, \
             claimed_arguments = NULL WHERE claimed IS NOT NULL; \
             DELETE FROM keys WHERE state = 'running' AND NOT bound; \
             UPDATE keys SET state = 'unknown' WHERE state = 'running'; COMMIT",
        )
        .await?;
    Ok(usize::try_from(interrupted).unwrap_or(usize::MAX))
}
