//! Several processes share one database: each has its own rows, and what a dead one left is put in
//! order by the others.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_core::{
    Arguments, CallKey, CallLedger as _, Caller, Effect, Ending, Fingerprint, IdempotencyKey,
    KeyLedger as _, KeyResult, KeyState, PlannedCall, Secret, TicketBounds, TicketError, TicketId,
    TicketLedger as _, ToolName,
};
use toolcrib_store::{CallFilter, CallRecord, CallState, Store, StoreError, StoreOptions};
use toolcrib_store_postgres::{Database, ReplicaSettings};
use toolcrib_testkit::spec;

use crate::cluster::Cluster;
use crate::cut::parked;
use crate::proxy::{Proxy, Way};

const LEASE: Duration = Duration::from_secs(6);
const SECRET: &str = "a secret of a test, which has thirty-two bytes and more";

pub(crate) fn settings() -> ReplicaSettings {
    ReplicaSettings {
        secret: Secret::new(SECRET),
        address: Some("https://10.0.3.7:7411".to_owned()),
        lease: LEASE,
        version: "1.2.3".to_owned(),
        said: json!({ "configuration": "x" }),
    }
}

fn share_within(url: &str, options: StoreOptions) -> Result<Store, StoreError> {
    Database::at(url).unwrap().shared(settings()).open(options)
}

fn share(url: &str) -> Store {
    share_within(url, StoreOptions::default()).unwrap()
}

fn key(name: &str) -> IdempotencyKey {
    let tool = ToolName::new("pay").unwrap();
    IdempotencyKey { caller: Caller::local(), tool, source: None, key: name.to_owned() }
}

fn arguments() -> Fingerprint {
    Fingerprint::of(&json!({}))
}

/// Begins a key that is free again if the process ends before it is bound.
async fn begin(store: &Store, name: &str) -> KeyState {
    toolcrib_core::KeyLedger::begin(store, &key(name), arguments()).await.unwrap()
}

async fn recorded(store: &Store, name: &str) -> KeyState {
    store.recorded(&key(name)).await.unwrap()
}

/// Waits until something holds, which it does sooner or later.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !holds().await {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A call that is about to be made.
struct MadeCall {
    key: CallKey,
    caller: Arc<Caller>,
    tool: Arc<toolcrib_core::ToolSpec>,
    arguments: Arguments,
    keys: Vec<IdempotencyKey>,
}

impl MadeCall {
    fn of(number: u32, keys: &[&str]) -> Self {
        Self {
            key: CallKey::parse(&format!("{number:032}-0")).unwrap(),
            caller: Arc::new(Caller::local()),
            tool: Arc::new(spec("pay", Effect::Write)),
            arguments: Arguments::new(serde_json::Map::new()),
            keys: keys.iter().map(|name| key(name)).collect(),
        }
    }

    fn planned(&self) -> PlannedCall<'_> {
        PlannedCall {
            key: self.key,
            call_id: "1",
            caller: &self.caller,
            tool: &self.tool,
            fingerprint: Fingerprint::of(&json!("pay")),
            arguments: &self.arguments,
            keys: &self.keys,
            decider: None,
        }
    }

    async fn row(&self, store: &Store) -> CallRecord {
        store.call_of_any(&self.key.to_string()).await.unwrap().unwrap()
    }
}

/// The error that is beneath that of a ledger.
fn cause(error: &toolcrib_core::LedgerError) -> String {
    std::error::Error::source(error).unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_see_what_each_of_them_has_begun_and_strangers_are_refused() {
    let cluster = Cluster::start("replicas");
    let url = cluster.database("record");
    let (one, other) = (share(&url), share(&url));
    assert_eq!(begin(&one, "a").await, KeyState::New);
    assert_eq!(begin(&other, "a").await, KeyState::Running);
    assert_eq!(recorded(&other, "a").await, KeyState::Running);
    one.settle(&key("a"), &json!("done")).await.unwrap();
    assert_eq!(begin(&other, "a").await, KeyState::Ended(json!("done")));
    // What is not one's own is not given back.
    assert_eq!(begin(&one, "b").await, KeyState::New);
    other.release(&key("b")).await.unwrap();
    assert_eq!(recorded(&other, "b").await, KeyState::Running);
    one.release(&key("b")).await.unwrap();
    assert_eq!(begin(&other, "b").await, KeyState::New);

    let strange = ReplicaSettings { secret: Secret::new("another secret"), ..settings() };
    let stranger = Database::at(&url).unwrap().shared(strange);
    let refused = stranger.open(StoreOptions::default()).err().unwrap().to_string();
    let told = "is shared by replica 1 at https://10.0.3.7:7411, which has another secret: give \
                this one the `secret` that the others have";
    assert!(refused.ends_with(told), "{refused}");
    let alone = || toolcrib_store_postgres::open(&url, StoreOptions::default()).map(drop);
    let refused = alone().unwrap_err().to_string();
    assert!(refused.contains("is in use by another process"), "{refused}");
    // A replica that ends by itself is not waited for.
    drop((one, other));
    let states = || cluster.sql("record", "SELECT DISTINCT state FROM replicas").unwrap();
    assert_eq!(states(), "over\n");
    alone().unwrap();
    let alone = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    let refused = share_within(&url, StoreOptions::default()).err().unwrap().to_string();
    assert!(
        refused.contains("has it for itself: end that one, or give it `[cluster]`"),
        "{refused}"
    );
    drop(alone);
    share(&url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_replica_that_fell_silent_had_begun_is_ended_and_it_goes_on_as_another() {
    let cluster = Cluster::start("silent");
    let url = cluster.database("record");
    let proxy = Proxy::start(cluster.folder());
    let (silent, other) = (share(&proxy.url("record")), share(&url));
    for name in ["bound", "loose", "sent"] {
        assert_eq!(begin(&silent, name).await, KeyState::New);
    }
    let (sent, queued) = (MadeCall::of(1, &["bound"]), MadeCall::of(2, &["loose"]));
    let unsent = MadeCall::of(3, &["sent"]);
    silent.queued(queued.planned()).await.unwrap();
    for call in [&sent, &unsent] {
        silent.planned(call.planned()).await.unwrap();
    }
    let ticket = TicketId::claimed("ticket");
    other.park(parked("ticket")).await.unwrap();
    silent.claim(&ticket, &Caller::local()).await.unwrap();
    silent.flush().await.unwrap();
    let taken = other.claim(&ticket, &Caller::local()).await;
    assert!(matches!(taken, Err(TicketError::Used)), "{taken:?}");
    assert_eq!(begin(&other, "bound").await, KeyState::Running);
    // What the other one does meanwhile goes on.
    assert_eq!(begin(&other, "others").await, KeyState::New);
    let others = MadeCall::of(7, &["others"]);
    other.planned(others.planned()).await.unwrap();

    proxy.set(Way::Shut);
    until("its lease is over", async || silent.works().is_err()).await;
    silent.planned(MadeCall::of(4, &[]).planned()).await.unwrap_err();
    until("the others say what became of it", async || {
        recorded(&other, "bound").await == KeyState::Unknown
    })
    .await;
    assert_eq!(sent.row(&other).await.state(), CallState::Interrupted);
    assert_eq!(queued.row(&other).await.state(), CallState::NotExecuted);
    assert_eq!(others.row(&other).await.state(), CallState::Running);
    assert_eq!(recorded(&other, "others").await, KeyState::Running);
    // Nothing was sent under these, and they are free.
    assert_eq!(begin(&other, "loose").await, KeyState::New);
    other.claim(&ticket, &Caller::local()).await.unwrap();

    proxy.set(Way::Open);
    until("it goes on", async || silent.works().is_ok()).await;
    // Nothing of what it had begun is sent any more.
    let late = silent.planned(queued.planned()).await.unwrap_err();
    assert!(cause(&late).contains("took this one for dead"), "{}", cause(&late));
    let late = silent.planned(MadeCall::of(5, &["loose"]).planned()).await.unwrap_err();
    assert!(cause(&late).contains("took this one for dead"), "{}", cause(&late));
    toolcrib_core::KeyLedger::settle(&silent, &key("loose"), KeyResult::Free).await.unwrap();
    assert_eq!(recorded(&other, "loose").await, KeyState::Running);
    // Ends that come late are the truth.
    silent.finished(sent.key, Ending::Succeeded).await.unwrap();
    let of = &key("bound");
    toolcrib_core::KeyLedger::settle(&silent, of, KeyResult::Answered(json!(1))).await.unwrap();
    silent.finished(unsent.key, Ending::NotExecuted).await.unwrap();
    toolcrib_core::KeyLedger::settle(&silent, &key("sent"), KeyResult::Free).await.unwrap();
    silent.flush().await.unwrap();
    let row = sent.row(&other).await;
    assert_eq!((row.state(), row.resolved.is_some()), (CallState::Succeeded, true));
    assert_eq!(unsent.row(&other).await.state(), CallState::NotExecuted);
    assert_eq!(recorded(&other, "bound").await, KeyState::Ended(json!(1)));
    assert_eq!(begin(&other, "sent").await, KeyState::New);
    // And it begins as any other.
    assert_eq!(begin(&silent, "next").await, KeyState::New);
    silent.planned(MadeCall::of(6, &["next"]).planned()).await.unwrap();
    let open = "SELECT count(*) FROM calls JOIN replicas ON id = owner \
                WHERE ending IS NULL AND state <> 'live'";
    assert_eq!(cluster.sql("record", open).unwrap(), "0\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_nobody_knows_holds_the_same_call_back_at_every_replica() {
    let cluster = Cluster::start("guard");
    let url = cluster.database("record");
    let (one, other) = (share(&url), share(&url));
    let window = Duration::from_mins(10);
    let (first, second, third) = (MadeCall::of(1, &[]), MadeCall::of(2, &[]), MadeCall::of(3, &[]));
    one.planned(first.planned()).await.unwrap();
    assert_eq!(other.unknown_like(second.planned(), window).await.unwrap(), None);
    // In between, an end comes to light that nobody knows.
    one.finished(first.key, Ending::Unknown).await.unwrap();
    let refused = other.planned(second.planned()).await.unwrap_err();
    assert!(cause(&refused).contains("nobody knows how"), "{}", cause(&refused));
    assert!(other.call_of_any(&second.key.to_string()).await.unwrap().is_none());
    let like = other.unknown_like(third.planned(), window).await.unwrap().unwrap();
    assert_eq!(like.call, first.key.to_string());
    // Whoever was told of it may let it run.
    other.planned(third.planned()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_all_who_ask_at_three_replicas_one_has_the_key_or_the_ticket() {
    let cluster = Cluster::start("race");
    let url = cluster.database("record");
    let tickets = TicketBounds { of_tenant: 30, ..TicketBounds::default() };
    let options = StoreOptions { tickets, ..StoreOptions::default() };
    let stores: Vec<_> = (0..3).map(|_| share_within(&url, options.clone()).unwrap()).collect();
    let asks = (0..300).map(|n| {
        let store = stores[n % 3].clone();
        tokio::spawn(async move { begin(&store, &format!("k{}", (n / 3 * 7) % 100)).await })
    });
    let begun = futures_util::future::join_all(asks).await;
    let begun: Vec<_> = begun.into_iter().map(Result::unwrap).collect();
    assert_eq!(begun.iter().filter(|begun| **begun == KeyState::New).count(), 100);
    assert_eq!(begun.iter().filter(|begun| **begun == KeyState::Running).count(), 200);
    // The bound of a tenant is that of all of them.
    let parks = (0..60).map(|n| {
        let store = stores[n % 3].clone();
        tokio::spawn(async move { store.park(parked(&format!("t{n}"))).await.is_ok() })
    });
    let waits: Vec<_> = futures_util::future::join_all(parks).await;
    assert_eq!(waits.iter().filter(|waits| *waits.as_ref().unwrap()).count(), 30);
    let open = stores[0].parked(&Caller::local()).await.unwrap();
    let claims = open.iter().flat_map(|one| stores.iter().map(move |store| (store, one))).map(
        |(store, one)| {
            let (store, ticket) = (store.clone(), one.ticket.clone());
            tokio::spawn(async move { store.claim(&ticket, &Caller::local()).await })
        },
    );
    let claims = futures_util::future::join_all(claims).await;
    let claims: Vec<_> = claims.into_iter().map(Result::unwrap).collect();
    assert_eq!(claims.iter().filter(|claim| claim.is_ok()).count(), 30);
    let used = claims.iter().filter(|claim| matches!(claim, Err(TicketError::Used))).count();
    assert_eq!(used, 60, "{claims:?}");
    for store in &stores {
        store.prune().await.unwrap();
        let calls = store.calls(&Caller::local(), CallFilter::default(), None, 10).await.unwrap();
        assert_eq!(calls.calls, []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_is_not_taken_for_dead_through_a_group_that_it_has_open() {
    let cluster = Cluster::start("open");
    let url = cluster.database("record");
    let proxy = Proxy::start(cluster.folder());
    let (held, gone) = (share(&proxy.url("record")), share(&proxy.url("record")));
    let _alive = share(&url);
    // What a group of the first one begins with.
    let mut group = cluster.program("psql");
    group.args(["-U", "crib", "-qXAt", "-d", "record", "-h"]).arg(cluster.folder());
    let mut group = group.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut says = group.stdin.take().unwrap();
    says.write_all(
        b"BEGIN; SELECT id FROM toolcrib.replicas WHERE id = 1 AND state = 'live' FOR KEY SHARE;\n",
    )
    .unwrap();
    let state = |id: u8| {
        let state = format!("SELECT state FROM replicas WHERE id = {id}");
        cluster.sql("record", &state).unwrap().trim().to_owned()
    };
    let is_begun = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' \
                    AND query LIKE '%FOR KEY SHARE%'";
    until("the group is begun", async || cluster.sql("record", is_begun).unwrap() == "1\n").await;
    proxy.set(Way::Shut);
    // The second one's lease ends after that of the first.
    until("the second is over", async || state(2) == "over").await;
    assert_eq!(state(1), "live");
    drop(says);
    group.wait().unwrap();
    until("the first is over", async || state(1) == "over").await;
    proxy.set(Way::Open);
    for store in [held, gone] {
        until("it goes on", async || store.works().is_ok()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_under_a_number_that_was_taken_for_dead() {
    let cluster = Cluster::start("fence");
    let url = cluster.database("record");
    let store = share(&url);
    for round in 0..2 {
        let id = cluster.sql("record", "SELECT max(id) FROM replicas").unwrap();
        let dead = format!("UPDATE replicas SET state = 'dead' WHERE id = {id}");
        cluster.sql("record", &dead).unwrap();
        let name = format!("k{round}");
        until("it goes on", async || {
            toolcrib_core::KeyLedger::begin(&store, &key(&name), arguments()).await.is_ok()
        })
        .await;
        let under = format!("SELECT count(*) FROM keys WHERE key = '{name}' AND owner <> {id}");
        assert_eq!(cluster.sql("record", &under).unwrap(), "1\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_takes_a_replica_for_dead_sees_all_that_it_wrote() {
    let cluster = Cluster::start("behind");
    let url = cluster.database("record");
    let store = share(&url);
    cluster
        .sql(
            "record",
            "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN PERFORM pg_sleep(2); RETURN NEW; END'; CREATE TRIGGER slow BEFORE INSERT ON \
             keys FOR EACH ROW EXECUTE FUNCTION slowly()",
        )
        .unwrap();
    let of = store.clone();
    let begun = tokio::spawn(async move { begin(&of, "slow").await });
    let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    until("a group is open", async || cluster.sql("record", sleeps).unwrap() == "1\n").await;
    let seen = cluster
        .sql(
            "record",
            "UPDATE replicas SET state = 'dead' WHERE id IN \
             (SELECT id FROM replicas WHERE id = 1 FOR UPDATE); \
             SELECT count(*) FROM keys WHERE key = 'slow'",
        )
        .unwrap();
    assert_eq!(seen, "1\n");
    assert_eq!(begun.await.unwrap(), KeyState::New);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_forgot_a_renewal_is_not_written_any_more() {
    let cluster = Cluster::start("beats");
    let url = cluster.database("record");
    let store = share(&url);
    let beats = "SELECT beat >= 2 FROM replicas";
    until("its lease is renewed", async || cluster.sql("record", beats).unwrap() == "t\n").await;
    cluster.sql("record", "UPDATE replicas SET beat = 0").unwrap();
    until("it notices", async || {
        store.works().is_err_and(|error| error.to_string().contains(" lacks a part of what was"))
    })
    .await;
    let refused = store.planned(MadeCall::of(1, &[]).planned()).await.unwrap_err();
    assert!(cause(&refused).contains("start all replicas anew"), "{}", cause(&refused));
}

#[tokio::test]
async fn tables_of_the_release_before_are_shared_once_they_are_brought_up() {
    let cluster = Cluster::start("before");
    let url = cluster.database("record");
    let tables = include_str!("../../src/schema/1.sql");
    cluster.sql("record", "CREATE SCHEMA toolcrib").unwrap();
    let made = format!(
        "{tables}; CREATE TABLE store (form integer NOT NULL, name text NOT NULL, owner text NOT \
         NULL, groups bigint NOT NULL); INSERT INTO store VALUES (1, 'r', 'gone', 7); \
         INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, fingerprint, \
         arguments, planned) VALUES ('{key}', 'c', '', 'local', 'pay', 's', 'write', \
         repeat('0', 64), repeat('0', 64), 9000000000000); \
         INSERT INTO keys (tenant, subject, tool, key, arguments, state, expires, bound) \
         VALUES ('', 'local', 'pay', 'k', 'a', 'running', 9000000000000, true)",
        key = MadeCall::of(1, &[]).key
    );
    cluster.sql("record", &made).unwrap();
    let stores = [share(&url), share(&url)];
    let ended = "SELECT form, ending, interrupted, state FROM store, calls, keys";
    assert_eq!(cluster.sql("record", ended).unwrap(), "3|unknown|t|unknown\n");
    assert_eq!(begin(&stores[0], "next").await, KeyState::New);
    assert_eq!(begin(&stores[1], "next").await, KeyState::Running);
}
