//! The replicas that share a record: that they live, and what is left of those that do not.

use std::time::Duration;

use super::schema;
use crate::error::SessionError;
use crate::session::{Answer, Session};

/// How long after the end of its lease a replica is taken for dead: its own clock ends the lease
/// before that of the database does.
const GRACE: &str = "interval '1 second'";

/// Replicas that are over and stay for notes of how far a record had come.
const KEPT: i64 = 10_000;

/// What a replica says of itself.
pub(crate) struct NewReplica<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) address: Option<&'a str>,
    /// The digest of the secret.
    pub(crate) secret: &'a str,
    /// JSON.
    pub(crate) said: &'a str,
    pub(crate) lease: Duration,
}

/// Makes one of them, whose number nobody has had.
pub(crate) async fn register(session: &Session, new: &NewReplica<'_>) -> Answer<i64> {
    // One at a time, so that each sees those before it.
    session.batch("BEGIN; UPDATE store SET owner = '', groups = groups + 1").await?;
    let stranger = session
        .row(
            &format!(
                "SELECT id, coalesce(' at ' || address, '') FROM replicas WHERE state = 'live' \
                 AND lease_until >= clock_timestamp() - {GRACE} AND secret <> $1 \
                 ORDER BY id LIMIT 1"
            ),
            &[&new.secret],
        )
        .await?;
    if let Some(row) = stranger {
        let (id, place): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
        session.batch("ROLLBACK").await?;
        return Err(SessionError::unfit(format!(
            "is shared by replica {id}{place}, which has another secret: give this one the \
             `secret` that the others have"
        )));
    }
    let row = session
        .row(
            "INSERT INTO replicas (name, version, address, secret, lease_until, said) VALUES \
             ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5), $6::text::jsonb) \
             RETURNING id",
            &[
                &new.name,
                &new.version,
                &new.address,
                &new.secret,
                &new.lease.as_secs_f64(),
                &new.said,
            ],
        )
        .await?;
    let id = row.ok_or(SessionError::Unreadable("no number"))?.try_get(0)?;
    session.change("INSERT INTO replica_groups (replica, groups) VALUES ($1, 0)", &[&id]).await?;
    // Those of a process that was alone: none is there, or this one could not be.
    schema::recover_rows(session, Some(0)).await?;
    session.batch("COMMIT").await?;
    Ok(id)
}

/// What came of a renewal.
pub(crate) enum Renewal {
    /// How often it was renewed.
    Beat(i64),
    /// It was taken for dead.
    Dead,
    /// There is no such replica.
    Missing,
}

pub(crate) async fn renew(
    session: &Session,
    id: i64,
    lease: Duration,
    said: &str,
) -> Answer<Renewal> {
    let renew = "UPDATE replicas SET beat = beat + 1, said = $3::text::jsonb, \
                 lease_until = clock_timestamp() + make_interval(secs => $2) \
                 WHERE id = $1 AND state = 'live' RETURNING beat";
    if let Some(row) = session.row(renew, &[&id, &lease.as_secs_f64(), &said]).await? {
        return Ok(Renewal::Beat(row.try_get(0)?));
    }
    let known = session.row("SELECT 1 FROM replicas WHERE id = $1", &[&id]).await?;
    Ok(if known.is_some() { Renewal::Dead } else { Renewal::Missing })
}

/// Takes those for dead whose leases are over. The lock is waited for by a group of theirs that
/// begins, and one that is open is not cut through.
pub(crate) async fn declare_dead(session: &Session) -> Answer<()> {
    let declare = format!(
        "UPDATE replicas SET state = 'dead' WHERE id IN (SELECT id FROM replicas \
         WHERE state = 'live' AND lease_until < clock_timestamp() - {GRACE} \
         FOR UPDATE SKIP LOCKED)"
    );
    session.change(&declare, &[]).await?;
    Ok(())
}

/// Those whose rows are to be put in order.
pub(crate) async fn dead(session: &Session) -> Answer<Vec<i64>> {
    let found = session
        // In no order: one whose rows cannot be put in order does not keep the others waiting.
        .rows("SELECT id FROM replicas WHERE state = 'dead' ORDER BY random() LIMIT 100", &[])
        .await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Gives an end to what a dead replica left without one; whoever is cut off in it leaves it to the
/// next. Gives how many calls may have taken effect.
pub(crate) async fn recover(session: &Session, dead: i64) -> Answer<usize> {
    session.batch("BEGIN").await?;
    let mine = "SELECT 1 FROM replicas WHERE id = $1 AND state = 'dead' FOR UPDATE SKIP LOCKED";
    if session.row(mine, &[&dead]).await?.is_none() {
        session.batch("ROLLBACK").await?;
        return Ok(0);
    }
    let interrupted = schema::recover_rows(session, Some(dead)).await?;
    session.change("UPDATE replicas SET state = 'over' WHERE id = $1", &[&dead]).await?;
    session.batch("COMMIT").await?;
    Ok(interrupted)
}

/// Ends a replica that ends by itself, and puts its rows in order.
pub(crate) async fn end(session: &Session, id: i64) -> Answer<()> {
    session
        .change("UPDATE replicas SET state = 'dead' WHERE id = $1 AND state = 'live'", &[&id])
        .await?;
    recover(session, id).await?;
    Ok(())
}

/// Fails while one of them may live: its connections may be cut, and its calls go on.
pub(crate) async fn all_over(session: &Session) -> Answer<()> {
    let find = format!(
        "SELECT EXISTS (SELECT 1 FROM replicas WHERE state = 'live' \
         AND lease_until >= clock_timestamp() - {GRACE})"
    );
    if !session.row(&find, &[]).await?.map_or(Ok(true), |row| row.try_get(0))? {
        return Ok(());
    }
    Err(SessionError::unfit(
        "was shared by replicas a moment ago, and one of them may go on: end them, wait for a \
         minute, or write `[cluster]` here as well",
    ))
}

/// Removes those that have long been over.
pub(super) async fn prune(session: &Session) -> Answer<u64> {
    let old = "WITH old AS (DELETE FROM replicas WHERE id IN (SELECT id FROM replicas \
               WHERE state = 'over' ORDER BY id DESC OFFSET $1 LIMIT 500) RETURNING id) \
               DELETE FROM replica_groups USING old WHERE replica = old.id";
    session.change(old, &[&KEPT]).await
}

/// Whether nothing of the replica with that name goes on any more. One that is dead is over once its
/// rows are in order.
pub(crate) async fn is_over(session: &Session, name: &str) -> Answer<bool> {
    let find = "SELECT 1 FROM replicas WHERE name = $1 AND state <> 'over'";
    Ok(session.row(find, &[&name]).await?.is_none())
}
