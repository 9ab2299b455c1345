//! Runs that are ready by themselves: those of a replica that is gone, and those whose time has
//! come.

use super::{column, lock_lanes, make_ready, waits};
use crate::session::{Answer, Session};

/// Within a transaction that puts the rows of a dead replica in order, before the keys of its
/// tickets are: what it held is ready, and so is what it drove without anybody else knowing when to
/// go on. A process that was alone (0) may have driven what is of a replica that is over.
pub(crate) async fn of_dead(session: &Session, dead: i64) -> Answer<()> {
    let mut runs = waits::wake_of_dead(session, dead).await?;
    let find = "SELECT payload FROM job_leases WHERE owner = $1 UNION \
                SELECT id FROM runs WHERE stage <> 'ended' AND parent IS NULL AND (owner = $1 OR $1 = 0 \
                AND NOT EXISTS (SELECT 1 FROM replicas WHERE replicas.id = owner AND state <> 'over')) \
                AND NOT EXISTS (SELECT 1 FROM job_leases WHERE payload = runs.id) \
                AND NOT EXISTS (SELECT 1 FROM jobs WHERE payload = runs.id) \
                AND (SELECT count(*) FROM run_waits WHERE run = runs.id) \
                < greatest(json_array_length(tickets::json), 1)";
    runs.extend(column::<String>(&session.rows(find, &[&dead]).await?, 0)?);
    if runs.is_empty() {
        return Ok(());
    }
    lock_lanes(session, &runs).await?;
    let give = "WITH given AS (DELETE FROM job_leases WHERE owner = $1 \
                RETURNING tenant, kind, form) UPDATE lanes SET held = held - n.many FROM \
                (SELECT tenant, kind, form, count(*) AS many FROM given \
                GROUP BY tenant, kind, form) AS n WHERE lanes.tenant = n.tenant \
                AND lanes.kind = n.kind AND lanes.form = n.form";
    session.change(give, &[&dead]).await?;
    make_ready(session, &runs).await
}

/// Has those ready whose time has come, in a transaction of its own.
pub(crate) async fn make_due_ready(session: &Session) -> Answer<()> {
    while waits::any_due(session).await? {
        session.batch("BEGIN; SET LOCAL synchronous_commit = off").await?;
        let runs = waits::wake_due(session).await?;
        if !runs.is_empty() {
            lock_lanes(session, &runs).await?;
            make_ready(session, &runs).await?;
        }
        session.batch("COMMIT").await?;
        if runs.is_empty() {
            // Another replica is at them.
            break;
        }
    }
    Ok(())
}

/// A process that is alone takes up its runs by itself.
pub(crate) const FORGET: &str =
    "DELETE FROM jobs; DELETE FROM job_leases; DELETE FROM run_waits; DELETE FROM lanes";
