//! Runs that a replica claims a second, several at once and fairly, against one at a time, beside a
//! hundred thousand runs that wait.
//!
//! `cargo bench -p toolcrib-store-postgres` prints the figures, with a server of Postgres that
//! `cargo xtask peers` names; the disk and its other load change them, so that both are measured in
//! turns.

#![expect(clippy::unwrap_used, reason = "the server of the tests says so where it does not start")]

use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_core::Secret;
use toolcrib_store::{Store, StoreOptions};
use toolcrib_store_postgres::{Database, ReplicaSettings};

#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../tests/it/cluster.rs"]
mod cluster;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const TURNS: u32 = 10;

/// How long each side claims in one turn.
const TURN: Duration = Duration::from_millis(200);

/// Runs that a server or a worker claims at once.
const AT_ONCE: usize = 16;

/// Runs that wait for people, and runs that are ready: most of them of one tenant.
const ROWS: &str = "INSERT INTO runs (id, tenant, subject, thread, agent, stage, created, changed, \
     steps, items, events, caller, tickets, request, state) \
     SELECT 'run ' || n, CASE WHEN n > 150000 THEN 'tenant ' || n % 1000 ELSE 'many' END, 'ann', \
     'thread ' || n, 'helper', CASE WHEN n > 100000 THEN 'running' ELSE 'waiting' END, 0, 0, 1, 0, \
     0, '{}', '[\"ticket\"]', '{}', '{}' FROM generate_series(1, 200000) AS n; \
     INSERT INTO run_waits (run, ticket, at) SELECT id, 'ticket', 9000000000000 FROM runs \
     WHERE stage = 'waiting'; \
     INSERT INTO jobs (tenant, kind, form, payload, since) SELECT tenant, 'run', 1, id, 0 \
     FROM runs WHERE stage = 'running' ORDER BY number; \
     INSERT INTO lanes (tenant, kind, form, ready) SELECT tenant, kind, form, count(*) FROM jobs \
     GROUP BY tenant, kind, form; ANALYZE";

#[tokio::main]
async fn main() -> Outcome<()> {
    let cluster = cluster::Cluster::start("claims");
    let url = cluster.database("record");
    let replica = ReplicaSettings {
        secret: Secret::new("a secret of a benchmark, which has enough bytes"),
        address: None,
        lease: Duration::from_mins(1),
        version: "0".to_owned(),
        said: json!({}),
    };
    let store = Database::at(&url)?.shared(replica).open(StoreOptions::default())?;
    cluster.sql("record", ROWS).ok_or("the rows were refused")?;
    let (mut fair, mut single) = (0.0, 0.0);
    for _ in 0..TURNS {
        single += claims(&store, 1).await?;
        fair += claims(&store, AT_ONCE).await?;
    }
    let (fair, single) = (fair / f64::from(TURNS), single / f64::from(TURNS));
    let held = "SELECT max(held) FROM lanes";
    let most = cluster.sql("record", held).ok_or("the count was refused")?;
    writeln!(
        std::io::stdout(),
        "{AT_ONCE} at once: {fair:.0} runs/s; one at a time: {single:.0}/s; ratio {:.2}; \
         at most {} of one of 1,001 tenants",
        fair / single,
        most.trim()
    )?;
    Ok(())
}

/// Runs claimed a second, some at once.
async fn claims(store: &Store, at_once: usize) -> Outcome<f64> {
    let (begun, mut taken) = (Instant::now(), 0_u32);
    while begun.elapsed() < TURN {
        let runs = store.claim_runs(at_once).await?;
        taken += u32::try_from(runs.len())?;
    }
    Ok(f64::from(taken) / begun.elapsed().as_secs_f64())
}
