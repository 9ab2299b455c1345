//! Runs that any replica may take: ready with what they waited for, shared out fairly, and taken by
//! one of all who ask.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use toolcrib_core::{
    Caller, IdempotencyKey, KeyResult, NewRun, ParkedCall, RunLedger as _, RunStage, RunStep,
    TicketId, TicketLedger as _,
};
use toolcrib_store::{JobLoad, RunHold, Store, StoreOptions};
use toolcrib_store_postgres::Database;

use crate::cluster::Cluster;
use crate::cut::parked;
use crate::replicas::{settings, until};
use crate::runs::{last_step, new_run, run_step};

fn share(url: &str) -> Store {
    Database::at(url).unwrap().shared(settings()).open(StoreOptions::default()).unwrap()
}

/// A run of a tenant that begins at a replica.
async fn begin(store: &Store, tenant: &str, run: &str) {
    let new = NewRun { caller: Caller::new(tenant, "ann"), ..new_run(run, run) };
    store.create(new, run_step(0)).await.unwrap();
}

/// Many of them at once.
async fn begin_all(store: &Store, tenant: &str, count: usize) {
    let runs = (0..count).map(|number| {
        let run = format!("{tenant} {number}");
        async move { begin(store, tenant, &run).await }
    });
    futures_util::future::join_all(runs).await;
}

/// A run that waits for a ticket, and that nobody has any more.
async fn wait(store: &Store, run: &str, lifetime: Duration) {
    begin(store, "acme", run).await;
    let ticket = format!("ticket of {run}");
    store.park(ParkedCall { lifetime, ..parked(&ticket) }).await.unwrap();
    let tickets = vec![TicketId::claimed(&ticket)];
    let step = RunStep { stage: RunStage::Waiting, tickets, ..run_step(1) };
    store.advance(run, step).await.unwrap();
    store.release_run(run, Duration::ZERO).await.unwrap();
}

async fn decide(store: &Store, run: &str) {
    let ticket = TicketId::claimed(format!("ticket of {run}"));
    store.claim(&ticket, &Caller::local()).await.unwrap();
    let key = IdempotencyKey::of_ticket(&Caller::local(), &ticket);
    let done = KeyResult::Answered(json!("done"));
    toolcrib_core::KeyLedger::settle(store, &key, done).await.unwrap();
    store.flush().await.unwrap();
}

async fn claimed(store: &Store) -> Vec<String> {
    store.claim_runs(9).await.unwrap()
}

/// The same once there are any: a tenant that another replica is at is passed over, and one that was
/// taken for dead is refused until it knows.
async fn taken(store: &Store) -> Vec<String> {
    let mut taken = Vec::new();
    until("some are ready", async || {
        taken = store.claim_runs(9).await.unwrap_or_default();
        !taken.is_empty()
    })
    .await;
    taken.sort();
    taken
}

/// How many of a tenant are ready, and how many held.
async fn counts(store: &Store, tenant: &str) -> [u64; 2] {
    let JobLoad { ready, held, .. } = store.job_load(tenant).await.unwrap();
    [ready, held]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_ready_with_the_very_commit_that_decides_its_ticket() {
    let cluster = Cluster::start("jobs");
    let url = cluster.database("record");
    let (one, other) = (share(&url), share(&url));
    wait(&one, "run", Duration::from_hours(1)).await;
    assert_eq!(counts(&other, "acme").await, [0, 0]);
    assert_eq!(claimed(&other).await, Vec::<String>::new());
    decide(&other, "run").await;
    let told = cluster.sql(
        "record",
        "SELECT (SELECT xmin::text FROM jobs) = (SELECT xmin::text FROM keys), \
         (SELECT count(*) FROM run_waits)",
    );
    assert_eq!(told.unwrap(), "t|0\n");
    assert_eq!(counts(&other, "acme").await, [1, 0]);
    // Of all who ask, one has it.
    let (mine, theirs) = tokio::join!(claimed(&one), claimed(&other));
    assert_eq!([mine, theirs].concat(), ["run"]);
    assert_eq!(counts(&one, "acme").await, [0, 1]);
    one.advance("run", last_step(2)).await.unwrap();
    assert_eq!(counts(&one, "acme").await, [0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_while_a_replica_has_a_run_is_seen_when_it_gives_that_back() {
    let cluster = Cluster::start("again");
    let url = cluster.database("record");
    let (one, other) = (share(&url), share(&url));
    begin(&one, "acme", "run").await;
    assert!(!other.hold_run("run", RunHold::Free).await.unwrap());
    assert_eq!(claimed(&other).await, Vec::<String>::new());
    one.release_run("run", Duration::from_hours(1)).await.unwrap();
    assert_eq!(taken(&other).await, ["run"]);
    // It goes on, and nobody takes it for a while.
    other.release_run("run", Duration::from_hours(1)).await.unwrap();
    assert_eq!(claimed(&one).await, Vec::<String>::new());
    assert!(one.hold_run("run", RunHold::Free).await.unwrap());
    // Whoever ends a run takes it from others; what those give back is not theirs any more.
    assert!(other.hold_run("run", RunHold::Any).await.unwrap());
    one.release_run("run", Duration::ZERO).await.unwrap();
    assert_eq!((counts(&one, "acme").await, claimed(&one).await), ([0, 1], Vec::new()));
    other.advance("run", last_step(1)).await.unwrap();
    assert!(!other.hold_run("run", RunHold::Free).await.unwrap());
    assert_eq!(counts(&one, "acme").await, [0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_ready_when_their_time_has_come_and_when_their_replica_is_gone() {
    let cluster = Cluster::start("left");
    let url = cluster.database("record");
    let (one, other) = (share(&url), share(&url));
    wait(&one, "lapses", Duration::from_millis(1)).await;
    wait(&one, "waits", Duration::from_hours(1)).await;
    begin(&one, "acme", "runs").await;
    until("its time comes", async || counts(&other, "acme").await == [1, 1]).await;
    assert_eq!(taken(&other).await, ["lapses"]);
    cluster.sql("record", "UPDATE replicas SET state = 'dead' WHERE id = 1").unwrap();
    until("it is put in order", async || counts(&other, "acme").await == [1, 1]).await;
    assert_eq!(taken(&other).await, ["runs"]);
    // A replica that stops gives back what it has.
    drop(other);
    until("it goes on", async || one.works().is_ok()).await;
    let left = taken(&one).await;
    assert_eq!((left, counts(&one, "acme").await), (texts(["lapses", "runs"]), [0, 2]));
    // One that is alone takes up its runs by itself.
    drop(one);
    let alone = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    assert_eq!((counts(&alone, "acme").await, claimed(&alone).await), ([0, 0], Vec::new()));
    assert!(alone.hold_run("waits", RunHold::Free).await.unwrap());
    drop(alone);
    // And what it leaves is ready for whoever comes, those that wait as well.
    let one = share(&url);
    assert_eq!(counts(&one, "acme").await, [3, 0]);
    assert_eq!(taken(&one).await, ["lapses", "runs", "waits"]);
    one.release_run("waits", Duration::ZERO).await.unwrap();
    decide(&one, "waits").await;
    assert_eq!(taken(&one).await, ["waits"]);
}

fn texts<const COUNT: usize>(texts: [&str; COUNT]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_with_many_runs_keeps_no_other_waiting() {
    const FEW: usize = 12;
    let cluster = Cluster::start("fair");
    let url = cluster.database("record");
    let (one, other) = (share(&url), share(&url));
    begin_all(&one, "many", 200).await;
    for tenant in 0..FEW {
        begin_all(&one, &format!("few {tenant}"), 3).await;
    }
    drop(one);
    let mut taken = HashMap::<String, usize>::new();
    for round in 1..=3 {
        for run in other.claim_runs(FEW + 1).await.unwrap() {
            let (tenant, _) = run.rsplit_once(' ').unwrap();
            *taken.entry(tenant.to_owned()).or_default() += 1;
        }
        assert_eq!((taken.len(), taken.values().all(|count| *count == round)), (FEW + 1, true));
    }
    // Where nobody else waits, it has all.
    assert_eq!(other.claim_runs(1_000).await.unwrap().len(), 197);
    // What a newer release has written is left for that.
    let newer = "INSERT INTO lanes VALUES ('few 0', 'run', 2, 1, 0, 0); \
                 INSERT INTO jobs (tenant, kind, form, payload, since) \
                 VALUES ('few 0', 'run', 2, 'newer', 0)";
    cluster.sql("record", newer).unwrap();
    assert_eq!(claimed(&other).await, Vec::<String>::new());
    let load = other.job_load("few 0").await.unwrap();
    assert_eq!((load.ready, load.held, load.oldest.is_some()), (1, 3, true));
    assert!(!other.any_ready().await.unwrap());
}
