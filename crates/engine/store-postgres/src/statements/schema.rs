//! Makes the tables, takes the right to write them, and gives an end to what was left without one.

use std::time::Duration;

use toolcrib_core::ResultHandle;
use toolcrib_store::clock::WallTime;

use crate::error::SessionError;
use crate::session::{Answer, Session};

/// The forms of the tables, each as the change from the one before.
const STEPS: &[&str] = &[include_str!("../schema/1.sql"), include_str!("../schema/3.sql")];

/// The lock of the one who writes: "crib" in ASCII.
const LOCK: i64 = 0x6372_6962;

/// How long a process that ends may need to let go of the lock.
const PATIENCE: Duration = Duration::from_secs(3);

const BREATH: Duration = Duration::from_millis(20);

/// Ends the other sessions with this name.
const END_OURS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()";

/// Takes the right to write for as long as the session is there.
pub(crate) async fn own(session: &Session, owner: &str) -> Answer<()> {
    let name = format!("toolcrib {owner}");
    session.batch(&format!("SET application_name = '{name}'")).await?;
    let until = tokio::time::Instant::now() + PATIENCE;
    loop {
        let row = session.row("SELECT pg_try_advisory_lock($1)", &[&LOCK]).await?;
        if row.is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Ok(());
        }
        if tokio::time::Instant::now() >= until {
            return Err(SessionError::unfit(
                "is in use by another process: end that one, or name another database",
            ));
        }
        // A session of ours that the server has not missed yet may still be confirming something.
        session.change(END_OURS, &[&name]).await?;
        tokio::time::sleep(BREATH).await;
    }
}

/// What the database says of itself.
pub(crate) struct RecordState {
    /// Given when its tables were made: another one is another record.
    pub(crate) name: String,
    pub(crate) owner: String,
    /// The number of groups that were written.
    pub(crate) groups: i64,
}

/// Brings the tables up to the form that this release knows.
pub(crate) async fn migrate(session: &Session) -> Answer<()> {
    make_missing(session).await?;
    let found = form(session).await?;
    if found.is_none() {
        let name = ResultHandle::unguessable().0;
        session.change("INSERT INTO store VALUES (0, $1, '', 0)", &[&name]).await?;
    }
    let found = found.unwrap_or_default();
    for (number, step) in (1_i32..).zip(STEPS).filter(|(number, _)| *number > found) {
        // A step that is cut off leaves the tables in the form before it.
        session.batch(&format!("BEGIN; {step}; UPDATE store SET form = {number}; COMMIT")).await?;
    }
    Ok(())
}

/// Makes the schema and the table that says the form, each if it is not there. `IF NOT EXISTS` asks
/// for the right to make one before it looks, and a user may have no more than the tables.
async fn make_missing(session: &Session) -> Answer<()> {
    let row = session
        .row(
            "SELECT to_regnamespace('toolcrib') IS NULL, to_regclass('toolcrib.store') IS NULL",
            &[],
        )
        .await?;
    let row = row.ok_or(SessionError::Unreadable("no schema"))?;
    if row.try_get(0)? {
        session.batch("CREATE SCHEMA IF NOT EXISTS toolcrib").await?;
    }
    if row.try_get(1)? {
        session
            .batch(
                "CREATE TABLE IF NOT EXISTS toolcrib.store (form integer NOT NULL, \
                 name text NOT NULL, owner text NOT NULL, groups bigint NOT NULL)",
            )
            .await?;
    }
    Ok(())
}

/// The form of the tables that are there; `None`: there are none yet.
async fn form(session: &Session) -> Answer<Option<i32>> {
    let found = session.row("SELECT form FROM store", &[]).await?;
    let found = found.map(|row| row.try_get::<_, i32>(0)).transpose()?;
    let known = i32::try_from(STEPS.len()).unwrap_or(i32::MAX);
    if found.is_some_and(|found| found > known) {
        return Err(SessionError::unfit(
            "was written by a newer release: use that release, or name another database",
        ));
    }
    Ok(found)
}

/// The same of a database that may have no tables, in which nothing is changed. `None`: they can be
/// made.
pub(crate) async fn look(session: &Session) -> Answer<Option<RecordState>> {
    let row = session
        .row(
            "SELECT to_regclass('toolcrib.store') IS NOT NULL, \
             has_database_privilege(current_database(), 'CREATE') \
             OR coalesce(has_schema_privilege(to_regnamespace('toolcrib'), 'CREATE'), false)",
            &[],
        )
        .await?;
    let (is_there, may_make) =
        row.map_or(Ok((false, false)), |row| Answer::Ok((row.try_get(0)?, row.try_get(1)?)))?;
    if is_there {
        let found = form(session).await?;
        return Ok(if found.is_some() { Some(state(session).await?) } else { None });
    }
    if may_make {
        return Ok(None);
    }
    Err(SessionError::unfit("may not be used by this user: let it make a schema in this database"))
}

pub(crate) async fn state(session: &Session) -> Answer<RecordState> {
    let row = session.row("SELECT name, owner, groups FROM store", &[]).await?;
    let row = row.ok_or(SessionError::Unreadable("no name"))?;
    Ok(RecordState { name: row.try_get(0)?, owner: row.try_get(1)?, groups: row.try_get(2)? })
}

/// Waits until all that is there is on the disk of the server, and on that of a standby that must
/// have it: a session that was ended may have left that open.
pub(crate) async fn sync(session: &Session) -> Answer<()> {
    session.unhurried("UPDATE store SET groups = groups").await
}

/// Writes down who writes from now on.
pub(crate) async fn hand_to(session: &Session, owner: &str) -> Answer<()> {
    session.change("UPDATE store SET owner = $1, groups = groups + 1", &[&owner]).await?;
    Ok(())
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
