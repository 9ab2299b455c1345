//! Makes the tables, takes the right to write them, and gives an end to what was left without one.

use std::time::Duration;

use toolcrib_core::ResultHandle;
use toolcrib_store::clock::WallTime;

use crate::error::SessionError;
use crate::session::{Answer, Session};

/// The forms of the tables, each as the change from the one before.
const STEPS: &[&str] = &[
    include_str!("../schema/1.sql"),
    include_str!("../schema/2.sql"),
    include_str!("../schema/3.sql"),
];

/// The lock of the one who writes: "crib" in ASCII.
const LOCK: i64 = 0x6372_6962;

/// The lock of one replica beside its number.
const OF_REPLICA: i32 = 0x6372_6900;

/// The lock of the one who makes the tables.
const MAKES: i64 = 0x6372_6963;

/// How long a process that ends may need to let go of the lock.
const PATIENCE: Duration = Duration::from_secs(3);

const BREATH: Duration = Duration::from_millis(20);

/// Ends the other sessions with this name.
const END_OURS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()";

/// Takes the right to write for as long as the session is there, and for this process alone.
pub(crate) async fn own(session: &Session, owner: &str) -> Answer<()> {
    let told = "is in use by another process: end that one, or name another database; replicas of \
                one record all need `[cluster]`";
    take(session, owner, &format!("pg_try_advisory_lock({LOCK})"), told).await
}

/// The same for one of several.
pub(crate) async fn share(session: &Session, owner: &str) -> Answer<()> {
    let told = "is in use by another process that has it for itself: end that one, or give it \
                `[cluster]` too";
    take(session, owner, &format!("pg_try_advisory_lock_shared({LOCK})"), told).await
}

/// Takes the right to write as this replica: from here on no session of it that is still open
/// changes anything.
pub(crate) async fn own_replica(session: &Session, owner: &str, id: i64) -> Answer<()> {
    let told = "was not let go by an earlier connection of this replica: it goes on by itself";
    let number =
        i32::try_from(id).map_err(|_| SessionError::Unreadable("a number of a replica"))?;
    take(session, owner, &format!("pg_try_advisory_lock({OF_REPLICA}, {number})"), told).await
}

async fn take(session: &Session, owner: &str, lock: &str, told: &'static str) -> Answer<()> {
    let name = format!("toolcrib {owner}");
    session.batch(&format!("SET application_name = '{name}'")).await?;
    let until = tokio::time::Instant::now() + PATIENCE;
    loop {
        let row = session.row(&format!("SELECT {lock}"), &[]).await?;
        if row.is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Ok(());
        }
        if tokio::time::Instant::now() >= until {
            return Err(SessionError::unfit(told));
        }
        // A session of ours that the server has not missed yet may still be confirming something.
        session.change(END_OURS, &[&name]).await?;
        tokio::time::sleep(BREATH).await;
    }
}

/// Lets nobody else at what this lock is for, until the transaction ends: two replicas would see
/// neither what the other is about to write.
pub(crate) async fn lock_tenant(session: &Session, lock: TenantLock, tenant: &str) -> Answer<()> {
    let take = "SELECT pg_advisory_xact_lock($1, hashtext($2))";
    session.row(take, &[&lock.0, &tenant]).await?;
    Ok(())
}

/// What is counted or shared out within a tenant.
pub(crate) struct TenantLock(i32);

impl TenantLock {
    pub(crate) const TICKETS: Self = Self(0x6372_6901);
    pub(crate) const RESULTS: Self = Self(0x6372_6902);
    pub(crate) const RUNS: Self = Self(0x6372_6903);
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
    // Several may start at once.
    session.row("SELECT pg_advisory_lock($1)", &[&MAKES]).await?;
    make_tables(session).await?;
    session.row("SELECT pg_advisory_unlock($1)", &[&MAKES]).await?;
    Ok(())
}

async fn make_tables(session: &Session) -> Answer<()> {
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
        return Ok(if found.is_some() { Some(state(session, None).await?) } else { None });
    }
    if may_make {
        return Ok(None);
    }
    Err(SessionError::unfit("may not be used by this user: let it make a schema in this database"))
}

/// Of a replica with its own name and the groups that it has written, which may be there no more.
pub(crate) async fn state(session: &Session, of: Option<i64>) -> Answer<RecordState> {
    let row = session.row("SELECT name, owner, groups FROM store", &[]).await?;
    let row = row.ok_or(SessionError::Unreadable("no name"))?;
    let name = row.try_get(0)?;
    let Some(id) = of else {
        return Ok(RecordState { name, owner: row.try_get(1)?, groups: row.try_get(2)? });
    };
    let found = session
        .row(
            "SELECT name, groups FROM replicas JOIN replica_groups ON replica = id WHERE id = $1",
            &[&id],
        )
        .await?;
    let Some(row) = found else {
        return Ok(RecordState { name, owner: String::new(), groups: -1 });
    };
    Ok(RecordState { name, owner: row.try_get(0)?, groups: row.try_get(1)? })
}

/// Whether all that a replica had written is there. One that is so old that it was removed has it.
pub(crate) async fn has_replica(
    session: &Session,
    id: i64,
    name: &str,
    groups: i64,
) -> Answer<bool> {
    let is_there = "SELECT to_regclass('toolcrib.replicas') IS NOT NULL";
    let is_there = session.row(is_there, &[]).await?.map_or(Ok(false), |row| row.try_get(0))?;
    if !is_there {
        return Ok(false);
    }
    let of = state(session, Some(id)).await?;
    if of.groups >= 0 {
        return Ok(of.owner == name && of.groups >= groups);
    }
    let row = session.row("SELECT coalesce(min(id), 0) FROM replicas", &[]).await?;
    let oldest: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    Ok(id < oldest)
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
    let interrupted = recover_rows(session, None).await?;
    session.batch("UPDATE replicas SET state = 'over' WHERE state <> 'over'; COMMIT").await?;
    Ok(interrupted)
}

/// The same within a transaction, of one replica or of all.
pub(crate) async fn recover_rows(session: &Session, of: Option<i64>) -> Answer<usize> {
    let now = WallTime::now().0;
    let of = |column: &str| of.map(|id| format!(" AND {column} = {id}")).unwrap_or_default();
    let (owner, claimed_by) = (of("owner"), of("claimed_by"));
    let unsent = format!(
        "UPDATE calls SET ending = 'not_executed', ended = $1, interrupted = true \
         WHERE ending IS NULL AND NOT dispatched{owner}"
    );
    session.change(&unsent, &[&now]).await?;
    let cut = format!(
        "UPDATE calls SET ending = 'unknown', ended = $1, interrupted = true \
         WHERE ending IS NULL{owner}"
    );
    let interrupted = session.change(&cut, &[&now]).await?;
    session
        .batch(&format!(
            "UPDATE tickets SET parked = claimed, arguments = claimed_arguments, claimed = NULL, \
             claimed_arguments = NULL WHERE claimed IS NOT NULL{claimed_by}; \
             DELETE FROM keys WHERE state = 'running' AND NOT bound{owner}; \
             UPDATE keys SET state = 'unknown' WHERE state = 'running'{owner}"
        ))
        .await?;
    Ok(usize::try_from(interrupted).unwrap_or(usize::MAX))
}
