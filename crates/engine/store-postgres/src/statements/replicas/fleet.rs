//! What there is to see of those that share a record, and of what stands in their way.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_postgres::Row;
use toolcrib_store::clock::WallTime;
use toolcrib_store::{Fleet, FleetReplica, OldTransaction, ReplicaHoldings, ReplicaStage};

use super::GRACE;
use crate::session::{Answer, Session};

/// Replicas that are told: those that are not over come first.
const MOST: i64 = 256;

/// Bytes of what a replica says of itself.
pub(crate) const MOST_SAID: usize = 16 * 1024;

/// Transactions that are told.
const MOST_TRANSACTIONS: i64 = 32;

/// Those that share the record; `older`: for how long a transaction is open before it is told.
pub(crate) async fn fleet(session: &Session, older: Duration) -> Answer<Fleet> {
    let known = session.row("SELECT to_regclass('toolcrib.replicas') IS NOT NULL", &[]).await?;
    let is_there = known.map_or(Ok(false), |row| row.try_get(0))?;
    let replicas = if is_there { replicas(session).await? } else { Vec::new() };
    Ok(Fleet { replicas, transactions: transactions(session, older).await? })
}

async fn replicas(session: &Session) -> Answer<Vec<FleetReplica>> {
    let mut holdings = holdings(session).await?;
    let find = format!(
        "SELECT id, left(name, 128), left(version, 64), left(address, 256), left(secret, 128), \
         state, (extract(epoch FROM started) * 1000)::bigint, \
         (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::bigint, \
         lease_until < clock_timestamp() - {GRACE}, \
         CASE WHEN octet_length(said::text) <= {MOST_SAID} THEN said::text ELSE '{{}}' END \
         FROM replicas WHERE state <> 'over' OR lease_until > clock_timestamp() - \
         interval '1 hour' ORDER BY state = 'over', id DESC LIMIT $1"
    );
    let found = session.rows(&find, &[&MOST]).await?;
    let found = found.iter().map(|row| {
        let id: i64 = row.try_get(0)?;
        read(row, id, holdings.remove(&id).unwrap_or_default())
    });
    let mut replicas = found.collect::<Answer<Vec<_>>>()?;
    replicas.sort_by_key(|one| one.id);
    Ok(replicas)
}

fn read(row: &Row, id: i64, holds: ReplicaHoldings) -> Answer<FleetReplica> {
    let (word, is_late): (&str, bool) = (row.try_get(5)?, row.try_get(8)?);
    let stage = match word {
        "live" if is_late => ReplicaStage::Late,
        "live" => ReplicaStage::Live,
        "dead" => ReplicaStage::Dead,
        "over" => ReplicaStage::Over,
        _ => ReplicaStage::Unclear,
    };
    // Whoever wrote it may be of another release: what is no object says nothing.
    let said = serde_json::from_str(row.try_get(9)?).unwrap_or_default();
    Ok(FleetReplica {
        id,
        name: row.try_get(1)?,
        stage,
        version: row.try_get(2)?,
        address: row.try_get(3)?,
        began: WallTime(row.try_get(6)?).time(),
        lease_left: row.try_get(7)?,
        secret: row.try_get(4)?,
        said: if matches!(said, Value::Object(_)) { said } else { Value::Object(Map::default()) },
        holds,
    })
}

/// What is open, by the number of the replica that has it.
async fn holdings(session: &Session) -> Answer<HashMap<i64, ReplicaHoldings>> {
    const COUNT: &str = "SELECT owner, sum(calls)::bigint, sum(queued)::bigint, \
         sum(keys)::bigint, sum(tickets)::bigint, sum(runs)::bigint FROM ( \
         SELECT owner, count(*) AS calls, count(*) FILTER (WHERE NOT dispatched) AS queued, \
         0 AS keys, 0 AS tickets, 0 AS runs FROM calls WHERE ending IS NULL GROUP BY owner \
         UNION ALL SELECT owner, 0, 0, count(*), 0, 0 FROM keys WHERE state = 'running' \
         GROUP BY owner UNION ALL SELECT claimed_by, 0, 0, 0, count(*), 0 FROM tickets \
         WHERE claimed IS NOT NULL GROUP BY claimed_by UNION ALL \
         SELECT owner, 0, 0, 0, 0, count(*) FROM runs WHERE stage <> 'ended' GROUP BY owner \
         ) AS open GROUP BY owner";
    let found = session.rows(COUNT, &[]).await?;
    let of = |row: &Row| {
        let count = |column: usize| Answer::Ok(row.try_get::<_, i64>(column)?.unsigned_abs());
        let holds = ReplicaHoldings {
            calls: count(1)?,
            queued: count(2)?,
            keys: count(3)?,
            tickets: count(4)?,
            runs: count(5)?,
        };
        Answer::Ok((row.try_get::<_, i64>(0)?, holds))
    };
    found.iter().map(of).collect()
}

/// Transactions of this database that keep what was removed from being tidied up. Of those of other
/// users a server may say nothing, and then they are not told.
async fn transactions(session: &Session, older: Duration) -> Answer<Vec<OldTransaction>> {
    const FIND: &str = "SELECT pid::bigint, coalesce(usename::text, ''), \
         left(coalesce(application_name, ''), 128), left(coalesce(state, ''), 64), \
         (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint AS open_for, \
         greatest(coalesce(age(backend_xmin), 0), coalesce(age(backend_xid), 0))::bigint \
         FROM pg_stat_activity WHERE datname = current_database() \
         AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
         AND xact_start <= clock_timestamp() - make_interval(secs => $1) \
         AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) \
         UNION ALL SELECT NULL, owner::text, left(gid, 128), 'prepared', \
         (extract(epoch FROM clock_timestamp() - prepared) * 1000)::bigint, \
         age(transaction)::bigint FROM pg_prepared_xacts WHERE database = current_database() \
         AND prepared <= clock_timestamp() - make_interval(secs => $1) \
         ORDER BY open_for DESC LIMIT $2";
    let found = session.rows(FIND, &[&older.as_secs_f64(), &MOST_TRANSACTIONS]).await?;
    let of = |row: &Row| {
        Answer::Ok(OldTransaction {
            process: row.try_get(0)?,
            user: row.try_get(1)?,
            application: row.try_get(2)?,
            state: row.try_get(3)?,
            open_for: row.try_get(4)?,
            behind: row.try_get(5)?,
        })
    };
    found.iter().map(of).collect()
}
