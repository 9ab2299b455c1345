//! Work that any replica may take: runs of agents, shared out fairly among their tenants.
//!
//! A run is held from its beginning on by the replica that drives it. It is ready once something
//! happened that it waited for, or once its replica is gone, and that is written in the transaction
//! in which it happens. All that changes what a tenant has ready or held locks its lane before, and
//! lanes are locked in the order of their names.

pub(super) mod changes;
pub(crate) mod left;
mod waits;

use std::time::Duration;

use tokio_postgres::Row;
use toolcrib_store::RunHold;
use toolcrib_store::reads::JobLoad;
use toolcrib_store::writes::run_requests::job_requests::{ClaimRuns, HoldRun, ReleaseRun};

use super::NOW;
use crate::error::SessionError;
use crate::session::{Answer, Session};

/// What a run is among jobs, and the form of what is said of it. A replica takes those up to it.
const KIND: &str = "run";
const FORM: i32 = 1;

/// Locks the lanes of these runs, which are there from then on.
async fn lock_lanes(session: &Session, runs: &[String]) -> Answer<()> {
    let lock = "INSERT INTO lanes (tenant, kind, form) \
                SELECT DISTINCT tenant, $2, $3::integer FROM runs WHERE id = ANY ($1::text[]) \
                ORDER BY tenant ON CONFLICT (tenant, kind, form) DO UPDATE SET ready = lanes.ready";
    session.change(lock, &[&runs, &KIND, &FORM]).await?;
    Ok(())
}

/// Has runs held by this replica that begin now. Their lanes are locked.
async fn begin(session: &Session, runs: &[String]) -> Answer<()> {
    let begin = "WITH begun AS (INSERT INTO job_leases (kind, payload, form, tenant, owner) \
                 SELECT $2, id, $3, tenant, $4 FROM runs WHERE id = ANY ($1::text[]) \
                 AND parent IS NULL AND stage <> 'ended' ON CONFLICT DO NOTHING RETURNING tenant) \
                 UPDATE lanes SET held = held + n.many FROM \
                 (SELECT tenant, count(*) AS many FROM begun GROUP BY tenant) AS n \
                 WHERE lanes.tenant = n.tenant AND kind = $2 AND form = $3";
    session.change(begin, &[&runs, &KIND, &FORM, &session.owner()]).await?;
    Ok(())
}

/// Takes runs out, whoever has them. Their lanes are locked.
async fn take_out(session: &Session, runs: &[String]) -> Answer<()> {
    let take = "WITH held AS (DELETE FROM job_leases WHERE kind = $2 AND payload = ANY ($1::text[]) \
                RETURNING tenant, form), ready AS (DELETE FROM jobs WHERE kind = $2 \
                AND payload = ANY ($1::text[]) RETURNING tenant, form) \
                UPDATE lanes SET held = lanes.held - n.held, ready = lanes.ready - n.ready FROM \
                (SELECT tenant, form, count(*) FILTER (WHERE is_held) AS held, \
                count(*) FILTER (WHERE NOT is_held) AS ready FROM \
                (SELECT tenant, form, true AS is_held FROM held UNION ALL \
                SELECT tenant, form, false FROM ready) AS one GROUP BY tenant, form) AS n \
                WHERE lanes.tenant = n.tenant AND kind = $2 AND lanes.form = n.form";
    session.change(take, &[&runs, &KIND]).await?;
    Ok(())
}

/// Has runs ready; one that a replica has is ready again when that gives it back. Their lanes are
/// locked.
async fn make_ready(session: &Session, runs: &[String]) -> Answer<()> {
    let ready = format!(
        "WITH held AS (UPDATE job_leases SET again = true WHERE kind = $2 \
         AND payload = ANY ($1::text[]) RETURNING payload), \
         ready AS (INSERT INTO jobs (tenant, kind, form, payload, since) \
         SELECT tenant, $2, $3, id, {NOW} FROM runs WHERE id = ANY ($1::text[]) \
         AND parent IS NULL AND stage <> 'ended' AND id NOT IN (SELECT payload FROM held) \
         ORDER BY number ON CONFLICT (kind, payload) DO NOTHING RETURNING tenant) \
         UPDATE lanes SET ready = ready + n.many FROM \
         (SELECT tenant, count(*) AS many FROM ready GROUP BY tenant) AS n \
         WHERE lanes.tenant = n.tenant AND kind = $2 AND form = $3"
    );
    session.change(&ready, &[&runs, &KIND, &FORM]).await?;
    Ok(())
}

/// Takes ready runs for this replica: one of each tenant in turn, of those first that have the
/// fewest held.
pub(super) async fn claim(session: &Session, asked: &ClaimRuns) -> Answer<Vec<String>> {
    // Two statements: what the second sees is what stands behind the locks of the first. A lane that
    // another replica is at is passed over.
    let lock = "SELECT tenant, form FROM lanes WHERE ready > 0 AND kind = $1 AND form <= $2 \
                ORDER BY held, turn LIMIT $3 FOR UPDATE SKIP LOCKED";
    let take = "WITH chosen AS (SELECT job.* FROM unnest($1::text[], $2::integer[]) \
                AS lane (tenant, form), LATERAL (SELECT tenant, form, id FROM jobs \
                WHERE jobs.tenant = lane.tenant AND jobs.kind = $3 AND jobs.form = lane.form \
                ORDER BY id LIMIT 1) AS job), \
                taken AS (DELETE FROM jobs USING chosen WHERE jobs.tenant = chosen.tenant \
                AND jobs.kind = $3 AND jobs.form = chosen.form AND jobs.id = chosen.id \
                RETURNING jobs.tenant, jobs.form, jobs.payload), \
                lane AS (UPDATE lanes SET ready = ready - 1, held = held + 1, \
                turn = nextval('turns') FROM taken WHERE lanes.tenant = taken.tenant \
                AND lanes.kind = $3 AND lanes.form = taken.form) \
                INSERT INTO job_leases (kind, payload, form, tenant, owner) \
                SELECT $3, payload, form, tenant, $4 FROM taken RETURNING payload";
    let mut taken = Vec::new();
    while taken.len() < asked.most {
        let most = i64::try_from(asked.most - taken.len()).unwrap_or(i64::MAX);
        let lanes = session.rows(lock, &[&KIND, &FORM, &most]).await?;
        let tenants: Vec<String> = column(&lanes, 0)?;
        let forms: Vec<i32> = column(&lanes, 1)?;
        let found = session.rows(take, &[&tenants, &forms, &KIND, &session.owner()]).await?;
        if found.is_empty() {
            break;
        }
        taken.extend(column::<String>(&found, 0)?);
    }
    Ok(taken)
}

fn column<'a, T: tokio_postgres::types::FromSql<'a>>(
    rows: &'a [Row],
    column: usize,
) -> Answer<Vec<T>> {
    rows.iter().map(|row| Ok(row.try_get(column)?)).collect()
}

/// Takes one run for this replica, whether it is ready or not; whether it has it from now on. One
/// that is held is looked at again by whoever has it, unless it is taken from them.
pub(super) async fn hold(session: &Session, asked: &HoldRun) -> Answer<bool> {
    let HoldRun { run, hold } = asked;
    let find = "SELECT owner FROM job_leases WHERE kind = $1 AND payload = $2";
    let Some(row) = session.row(find, &[&KIND, run]).await? else {
        let runs = std::slice::from_ref(run);
        take_out(session, runs).await?;
        begin(session, runs).await?;
        return Ok(session.row(find, &[&KIND, run]).await?.is_some());
    };
    let is_ours = row.try_get::<_, i64>(0)? == session.owner();
    if *hold == RunHold::Any && !is_ours {
        let take = "UPDATE job_leases SET owner = $3 WHERE kind = $1 AND payload = $2";
        session.change(take, &[&KIND, run, &session.owner()]).await?;
        return Ok(true);
    }
    let again = "UPDATE job_leases SET again = true WHERE kind = $1 AND payload = $2";
    session.change(again, &[&KIND, run]).await?;
    Ok(false)
}

/// Gives a run back that this replica has. One that is not done is ready after a pause, or at once
/// if something happened meanwhile; one that waits for a person is not before that.
pub(super) async fn release(session: &Session, asked: &ReleaseRun) -> Answer<()> {
    let ReleaseRun { run, pause } = asked;
    let give = "WITH given AS (DELETE FROM job_leases WHERE kind = $1 AND payload = $2 \
                AND owner = ANY ($3::bigint[]) RETURNING tenant, form, again) \
                UPDATE lanes SET held = held - 1 FROM given WHERE lanes.tenant = given.tenant \
                AND kind = $1 AND lanes.form = given.form RETURNING again";
    let Some(row) = session.row(give, &[&KIND, run, session.owners()]).await? else {
        return Ok(());
    };
    let is_again: bool = row.try_get(0)?;
    let find = "SELECT stage = 'running' OR tickets = '[]' FROM runs \
                WHERE id = $1 AND stage <> 'ended'";
    let Some(row) = session.row(find, &[run]).await? else { return Ok(()) };
    let (runs, is_due) = (std::slice::from_ref(run), row.try_get(0)?);
    match (is_again, is_due) {
        (true, _) => make_ready(session, runs).await,
        (false, true) if pause.is_zero() => make_ready(session, runs).await,
        (false, true) => waits::put_moment(session, run, *pause).await,
        (false, false) => waits::put(session, runs).await,
    }
}

/// Whether a replica could take a run.
pub(crate) async fn any_ready(session: &Session) -> Answer<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM lanes WHERE ready > 0 AND kind = $1 AND form <= $2)";
    let row = session.row(any, &[&KIND, &FORM]).await?;
    row.map_or(Ok(false), |row| Ok(row.try_get(0)?))
}

/// What there is to do: of a tenant, and how long what waits longest has waited.
pub(crate) async fn load(session: &Session, tenant: &str) -> Answer<JobLoad> {
    let count = format!(
        "SELECT (SELECT coalesce(sum(ready), 0)::bigint FROM lanes WHERE tenant = $1), \
         (SELECT coalesce(sum(held), 0)::bigint FROM lanes WHERE tenant = $1), \
         (SELECT {NOW} - min(since) FROM jobs)"
    );
    let row = session.row(&count, &[&tenant]).await?;
    let row = row.ok_or(SessionError::Unreadable("no count"))?;
    let number = |column| Answer::Ok(row.try_get::<_, i64>(column)?.max(0).unsigned_abs());
    let oldest: Option<i64> = row.try_get(2)?;
    Ok(JobLoad {
        ready: number(0)?,
        held: number(1)?,
        oldest: oldest.map(|age| Duration::from_millis(age.max(0).unsigned_abs())),
    })
}

/// Removes lanes in which nothing is left.
pub(super) async fn prune(session: &Session) -> Answer<u64> {
    let prune = "DELETE FROM lanes WHERE (tenant, kind, form) IN (SELECT tenant, kind, form \
                 FROM lanes WHERE ready = 0 AND held = 0 LIMIT 500 FOR UPDATE SKIP LOCKED)";
    session.change(prune, &[]).await
}
